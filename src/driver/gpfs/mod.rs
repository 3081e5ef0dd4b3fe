//! GPFS: what its library is told about a file. There is no interface without that library.

pub mod abi;

mod list;
mod prefetch;

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use self::abi::{AccessRange, ClearFileCache, DataShipMap, DataShipStart, DataShipStop};
use self::abi::{FineGrainWriteSharing, FreeRange};
use self::list::List;
use self::prefetch::Prefetch;
use super::advice::{Advised, Advisor, Ahead, BlockTuning, Intent, Shipping};
use crate::memory::without_signals;

/// One opening of a file.
pub(super) struct Blocks {
    tuning: BlockTuning,
    block_size: u64,
    prefetch: Option<Mutex<Prefetch>>,
    shipping: AtomicBool,
    /// Writes are told to the other nodes later.
    defers: bool,
    reason: Mutex<Option<String>>,
    told: AtomicU64,
    refused: AtomicU64,
}

impl Blocks {
    /// Prepares an opening; none where nothing of this is wanted.
    pub(super) fn prepare(
        file: BorrowedFd,
        tuning: &BlockTuning,
        prefetch: bool,
        block_size: u64,
        writable: bool,
    ) -> Option<Blocks> {
        if *tuning == BlockTuning::default() && !prefetch {
            return None;
        }
        let mut blocks = Blocks {
            tuning: tuning.clone(),
            block_size,
            prefetch: prefetch.then(Mutex::default),
            shipping: AtomicBool::new(false),
            defers: false,
            reason: Mutex::new(None),
            told: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        };
        if tuning.clear_cache {
            blocks.tell(file, List::of(&ClearFileCache::new()));
        }
        if tuning.fine_grain_writes && writable {
            let list = List::of(&FineGrainWriteSharing::new(1, -1, -1, -1));
            blocks.defers = blocks.tell(file, list).is_some();
        }
        Some(blocks)
    }

    /// Advice may be refused.
    fn tell(&self, file: BorrowedFd, mut list: List) -> Option<List> {
        self.told.fetch_add(1, Relaxed);
        match list.send(file) {
            Ok(()) => Some(list),
            Err(cause) => {
                self.refused.fetch_add(1, Relaxed);
                // Of data that are shipped all the same it would tell something else.
                if self.tuning.shipping.is_none() {
                    self.give_reason(format!("GPFS refused a hint: {cause}"));
                }
                None
            }
        }
    }

    fn give_reason(&self, text: String) {
        self.reason.lock().get_or_insert(text);
    }

    fn start(&self, shipping: &Shipping, openings: usize) -> List {
        let mut list = List::of(&DataShipStart::new(openings as i32, 0));
        if !shipping.agents.is_empty() {
            let blocks = shipping.partition_size.div_ceil(self.block_size).max(1);
            let size = i32::try_from(blocks * self.block_size).unwrap_or(i32::MAX);
            let map = DataShipMap::new(size, shipping.agents.len() as i32);
            list.push_with_numbers(&map, &shipping.agents);
        }
        list
    }

    fn told_of_reads(&self, file: BorrowedFd, act: impl FnOnce(&mut Prefetch) -> Option<List>) {
        let Some(prefetch) = &self.prefetch else { return };
        let mut prefetch = prefetch.lock();
        if let Some(list) = act(&mut prefetch) {
            let answer = self.tell(file, list);
            prefetch.heard(answer.as_ref());
        }
    }
}

impl Advisor for Blocks {
    fn listens(&self, ahead: Ahead, intent: Intent) -> bool {
        match ahead {
            Ahead::Domain => self.tuning.declare,
            Ahead::Elements => self.prefetch.is_some() && intent == Intent::Read,
            Ahead::Window | Ahead::View => false,
        }
    }

    fn will_access(&self, file: BorrowedFd, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) {
        if !self.listens(ahead, intent) {
            return;
        }
        match ahead {
            // One range replaces the one before.
            Ahead::Domain => {
                if let Some(range) = hull(ranges) {
                    let is_write = i32::from(intent == Intent::Write);
                    let length = (range.end - range.start) as i64;
                    let told = AccessRange::new(range.start as i64, length, is_write, 0);
                    self.tell(file, List::of(&told));
                }
            }
            _ => self.told_of_reads(file, |prefetch| prefetch.ahead(ranges, self.block_size)),
        }
    }

    fn has_accessed(&self, file: BorrowedFd, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) {
        if !self.listens(ahead, intent) {
            return;
        }
        match ahead {
            Ahead::Domain => {
                if let Some(range) = hull(ranges) {
                    let length = (range.end - range.start) as i64;
                    self.tell(file, List::of(&FreeRange::new(range.start as i64, length)));
                }
            }
            _ => self.told_of_reads(file, |prefetch| prefetch.behind(ranges, self.block_size)),
        }
    }

    fn can_start_together(&self) -> bool {
        self.tuning.shipping.is_some() && list::is_there()
    }

    fn stay_apart(&self) {
        let why = match list::is_there() {
            true => "not every rank has libgpfs.so",
            false => list::MISSING,
        };
        self.give_reason(format!("data are not shipped: {why}"));
    }

    fn start_together(&self, file: BorrowedFd, openings: usize) -> Option<io::Result<()>> {
        let shipping = self.tuning.shipping.as_ref()?;
        // A signal to one who waits would end the waiting of all.
        let started = without_signals(|| self.start(shipping, openings).send(file));
        match &started {
            Ok(()) => {
                self.shipping.store(true, Relaxed);
                *self.reason.lock() = None; // an attempt before this may have failed
            }
            Err(cause) => self.give_reason(format!("data are not shipped: {cause}")),
        }
        Some(started)
    }

    fn stop_together(&self, file: BorrowedFd) -> io::Result<()> {
        if !self.shipping.swap(false, Relaxed) {
            return Ok(());
        }
        without_signals(|| List::of(&DataShipStop::new()).send(file))
    }

    fn defers_writes(&self) -> bool {
        self.defers
    }

    fn reason(&self) -> Option<String> {
        self.reason.lock().clone()
    }

    fn advised(&self) -> Advised {
        Advised { told: self.told.load(Relaxed), refused: self.refused.load(Relaxed) }
    }
}

fn hull(ranges: &[Range<u64>]) -> Option<Range<u64>> {
    let start = ranges.iter().map(|range| range.start).min()?;
    let end = ranges.iter().map(|range| range.end).max()?;
    (start < end).then_some(start..end)
}
