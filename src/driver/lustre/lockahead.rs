//! Locks that are asked for before they are needed.
//!
//! A Lustre server gives the first writer a lock on all of its part of a file. The second takes it
//! away again, and so on: writers of one server wait for each other although none needs what the
//! other writes. Here every opening asks for no more than it needs, and before it needs it.

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use super::abi::{self, Ladvise, MOST_ADVICES};
use super::{Stripes, calls};
use crate::driver::advice::{
    Advised, Advisor, Ahead, CollectiveScheme, IndividualScheme, Intent, LockAhead,
};

/// Locks end with pages at the least.
const PAGE: u64 = 4096;

/// Where support is tried out: far behind any data, where a lock disturbs nobody.
const PROBE: u64 = 1 << 43;

/// Locks ahead on one opening of a file.
pub(in crate::driver) struct Lockahead {
    wanted: LockAhead,
    stripe_size: u64,
    active: AtomicBool,
    reason: Mutex<Option<String>>,
    told: AtomicU64,
    refused: AtomicU64,
}

impl Lockahead {
    /// Prepares an opening, if locks ahead are wanted at all. `first` clears locks that were left
    /// behind before anybody else comes.
    pub(in crate::driver) fn prepare(
        file: BorrowedFd,
        wanted: LockAhead,
        stripes: Option<Stripes>,
        first: bool,
    ) -> Option<Lockahead> {
        if wanted.collective.is_none() && wanted.individual.is_none() {
            return None;
        }
        let prepared = match stripes {
            None => Err("the stripes of the file are not known".to_string()),
            // Every access to that part would fail.
            Some(stripes) if stripes.on_metadata_server => {
                Err("a part of the file lies on the metadata server".to_string())
            }
            Some(_) => start(file, first).map_err(|cause| cause.to_string()),
        };
        let stripe_size = stripes.map_or(PAGE, |stripes| stripes.layout.stripe_size);
        Some(Lockahead {
            wanted,
            stripe_size,
            active: AtomicBool::new(prepared.is_ok()),
            reason: Mutex::new(prepared.err()),
            told: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        })
    }

    fn advices(&self, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) -> Vec<Ladvise> {
        let unit = if ahead == Ahead::Domain { self.stripe_size.max(PAGE) } else { PAGE };
        let asynchronous = self.wanted.asynchronous.unwrap_or(match ahead {
            // Once for much: then it is worth knowing that the lock is there.
            Ahead::Domain | Ahead::View => false,
            Ahead::Window | Ahead::Elements => true,
        });
        let each_stripe =
            ahead == Ahead::Domain && self.wanted.collective == Some(CollectiveScheme::Stripe);
        let advice = |start: u64, end: u64| Ladvise {
            advice: abi::LU_LADVISE_LOCKAHEAD,
            mode: match intent {
                Intent::Read => abi::MODE_READ_USER,
                Intent::Write => abi::MODE_WRITE_USER,
            },
            flags: if asynchronous { abi::LF_ASYNC } else { 0 },
            start,
            end: end - 1,
            ..Ladvise::default()
        };
        let mut advices = Vec::new();
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            let start = range.start / unit * unit;
            let end = range.end.div_ceil(unit).saturating_mul(unit).min(i64::MAX as u64);
            let step = if each_stripe { unit } else { end - start };
            let mut at = start;
            while at < end && advices.len() < self.wanted.most {
                advices.push(advice(at, (at + step).min(end)));
                at += step;
            }
        }
        advices
    }

    /// Sends a list that one call takes.
    fn send(&self, file: BorrowedFd, advices: &mut [Ladvise]) {
        self.told.fetch_add(advices.len() as u64, Relaxed);
        let Err(cause) = calls::advise(file, advices) else { return };
        // Where it ended is not told; what was done before stays done.
        self.refused.fetch_add(advices.len() as u64, Relaxed);
        if matches!(cause.raw_os_error(), Some(libc::EAGAIN | libc::EINTR | libc::ENOMEM)) {
            return; // the next may be heard
        }
        if self.active.swap(false, Relaxed) {
            let _ = expand(file, true);
            *self.reason.lock() = Some(cause.to_string());
        }
    }
}

impl Advisor for Lockahead {
    fn listens(&self, ahead: Ahead, intent: Intent) -> bool {
        let wanted = match (ahead, self.wanted.collective, self.wanted.individual) {
            (Ahead::Domain | Ahead::Window, ..) if intent == Intent::Read && !self.wanted.reads => {
                false
            }
            (Ahead::Domain, Some(scheme), _) => scheme != CollectiveScheme::Cycle,
            (Ahead::Window, Some(scheme), _) => scheme == CollectiveScheme::Cycle,
            // Readers of one stretch do not disturb each other.
            (Ahead::Elements, _, Some(scheme)) => {
                scheme == IndividualScheme::Element && intent == Intent::Write
            }
            (Ahead::View, _, Some(scheme)) => {
                scheme == IndividualScheme::View && intent == Intent::Write
            }
            _ => false,
        };
        wanted && self.active.load(Relaxed)
    }

    fn will_access(&self, file: BorrowedFd, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) {
        if self.listens(ahead, intent) {
            let mut advices = self.advices(ahead, intent, ranges);
            advices.chunks_mut(MOST_ADVICES).for_each(|some| self.send(file, some));
        }
    }

    fn shares_servers(&self) -> bool {
        self.active.load(Relaxed) && self.wanted.collective.is_some()
    }

    fn reason(&self) -> Option<String> {
        let reason = self.reason.lock().clone();
        reason.map(|reason| format!("locks are not asked for ahead: {reason}"))
    }

    fn advised(&self) -> Advised {
        Advised { told: self.told.load(Relaxed), refused: self.refused.load(Relaxed) }
    }
}

/// Clears old locks, tries whether the server knows locks ahead, and only then lets locks be no
/// larger than asked for: with a server that does not, every access would fail.
fn start(file: BorrowedFd, first: bool) -> io::Result<()> {
    if first {
        // Nobody else uses this group: it is given back at once.
        let group = libc::c_ulong::from(std::process::id().max(1));
        calls::clear_locks(file, group)?;
    }
    let mut probe = [Ladvise {
        advice: abi::LU_LADVISE_LOCKAHEAD,
        mode: abi::MODE_READ_USER,
        flags: abi::LF_ASYNC,
        start: PROBE,
        end: PROBE + PAGE - 1,
        ..Ladvise::default()
    }];
    match calls::advise(file, &mut probe) {
        Err(cause) if cause.raw_os_error() != Some(libc::EAGAIN) => return Err(cause),
        _ => {}
    }
    expand(file, false)
}

/// Lets locks of this opening be larger than asked for, or not. It must be sent alone.
fn expand(file: BorrowedFd, larger: bool) -> io::Result<()> {
    let flags = if larger { abi::LF_UNSET } else { 0 };
    let advice = abi::LU_LADVISE_LOCKNOEXPAND;
    calls::advise(file, &mut [Ladvise { advice, flags, ..Ladvise::default() }])
}
