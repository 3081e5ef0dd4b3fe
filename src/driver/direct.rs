//! Transfers past the page cache, where the user asks for them.
//!
//! A second opening of the file moves whole units between memory and the device. Only the aligned
//! middle of an access can go that way; its ends go through the page cache, so a unit is never
//! less than a page or a block: what one way has in a page, the other never writes. Whatever the
//! file system does not want goes through the page cache as well, and the report tells why.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use super::advice::Intent;
use super::open::page_size;
use super::posix::{descriptor, size};
use super::transfer::{LONGEST_CALL, Stopped, retry, total_length, transfer};
use crate::memory::{Piece, Scratch, copy_between};

/// What is to go past the page cache; comes from the hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Bypass {
    pub reads: bool,
    pub writes: bool,
}

impl Bypass {
    /// Whether anything is.
    pub fn any(self) -> bool {
        self.reads || self.writes
    }
}

/// Memory that lies badly is copied through a buffer of this size.
const BUFFER: usize = 4 << 20;

/// Alignment where the file system does not tell its own.
const USUAL: u64 = 4096;

/// No file system that has blocks in the page cache has larger ones.
const LARGEST_BLOCK: u64 = 64 << 10;

/// Scratch memory lies so.
const ALIGNED_MEMORY: u64 = 4096;

/// A file that should be accessed past the page cache.
pub(super) struct Direct {
    wanted: Bypass,
    /// None where it cannot be.
    opening: Option<Opening>,
    reason: Mutex<Option<String>>,
    moved: AtomicU64,
}

struct Opening {
    descriptor: OwnedFd,
    /// Offsets and lengths are multiples of it.
    unit: u64,
    /// Addresses are.
    memory: u64,
}

/// The part of an access that can go past the page cache: bytes before it, and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Middle {
    before: u64,
    length: u64,
}

impl Direct {
    /// Opens `file` a second time; `flags` say for reading or writing. None where nobody wants it.
    pub(super) fn prepare(
        file: BorrowedFd,
        flags: libc::c_int,
        wanted: Bypass,
        refused: Option<&str>,
    ) -> Option<Direct> {
        if !wanted.any() {
            return None;
        }
        let opening = match refused {
            Some(why) => Err(why.to_string()),
            None => Opening::of(file, flags),
        };
        let (opening, reason) = match opening {
            Ok(opening) => (Some(opening), None),
            Err(why) => (None, Some(why)),
        };
        Some(Direct { wanted, opening, reason: Mutex::new(reason), moved: AtomicU64::new(0) })
    }

    /// Moves what can go past the page cache by `call`, and the rest by `cached`; as `transfer`.
    pub(super) fn transfer(
        &self,
        intent: Intent,
        (offset, pieces): (u64, &[Piece]),
        mut call: impl FnMut(BorrowedFd, u64, &[Piece]) -> io::Result<usize>,
        mut cached: impl FnMut(u64, &[Piece]) -> io::Result<usize>,
    ) -> Result<u64, Stopped> {
        let Some((opening, middle)) = self.middle(intent, offset, total_length(pieces)) else {
            return transfer(offset, pieces, cached);
        };
        let before = transfer(offset, &part(pieces, 0, middle.before), &mut cached)?;
        if before < middle.before {
            return Ok(before);
        }
        let inside = part(pieces, middle.before, middle.length);
        let mut guarded = |offset: u64, batch: &[Piece]| {
            // After a short count the rest is not whole units any more.
            if !offset.is_multiple_of(opening.unit)
                || !total_length(batch).is_multiple_of(opening.unit)
            {
                return Ok(0);
            }
            match call(opening.descriptor.as_fd(), offset, batch) {
                Err(cause) if is_refusal(&cause) => {
                    self.give_reason(format!("the file system refused it: {cause}"));
                    Ok(0)
                }
                outcome => outcome,
            }
        };
        let start = offset + before;
        let direct = match opening.takes(&inside) {
            true => in_whole_units(opening.unit, start, &inside, &mut guarded),
            false => bounced(intent, start, &inside, &mut guarded),
        };
        let direct = direct.map_err(|stopped| after(before, stopped))?;
        self.moved.fetch_add(direct, Relaxed);
        let done = before + direct;
        let rest = part(pieces, done, total_length(pieces) - done);
        let rest =
            transfer(offset + done, &rest, cached).map_err(|stopped| after(done, stopped))?;
        Ok(done + rest)
    }

    /// Bytes that went past the page cache.
    pub(super) fn moved(&self) -> u64 {
        self.moved.load(Relaxed)
    }

    /// Why they do not.
    pub(super) fn reason(&self) -> Option<String> {
        self.reason.lock().clone()
    }

    fn give_reason(&self, text: String) {
        self.reason.lock().get_or_insert(text);
    }

    fn middle(&self, intent: Intent, offset: u64, length: u64) -> Option<(&Opening, Middle)> {
        let wanted = match intent {
            Intent::Read => self.wanted.reads,
            Intent::Write => self.wanted.writes,
        };
        let opening = self.opening.as_ref().filter(|_| wanted && self.reason().is_none())?;
        let start = offset.checked_next_multiple_of(opening.unit)?;
        // A device fills the memory of a whole block, also behind the end of the file.
        let most = match intent {
            Intent::Read => size(opening.descriptor.as_fd()).ok()?,
            Intent::Write => u64::MAX,
        };
        let end = (offset + length).min(most) / opening.unit * opening.unit;
        let middle = Middle { before: start - offset, length: end.checked_sub(start)? };
        (middle.length > 0).then_some((opening, middle))
    }
}

impl Opening {
    fn of(file: BorrowedFd, flags: libc::c_int) -> Result<Opening, String> {
        let (memory, unit) = alignment(file)?;
        if memory > ALIGNED_MEMORY {
            return Err(format!("the file system wants memory aligned to {memory} bytes"));
        }
        let name = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .expect("a number has no zero byte");
        let flags = flags | libc::O_DIRECT | libc::O_CLOEXEC;
        // SAFETY: the name ends with a zero byte.
        let opened = retry(|| descriptor(unsafe { libc::open(name.as_ptr(), flags) }));
        let descriptor = opened.map_err(|cause| format!("opening for it failed: {cause}"))?;
        Ok(Opening { descriptor, unit, memory })
    }

    /// Whether all of it lies as the device wants it.
    fn takes(&self, pieces: &[Piece]) -> bool {
        pieces.iter().all(|piece| {
            (piece.address() as u64).is_multiple_of(self.memory)
                && (piece.len() as u64).is_multiple_of(self.unit)
        })
    }
}

/// How memory and offsets must lie, or why no alignment is enough.
fn alignment(file: BorrowedFd) -> Result<(u64, u64), String> {
    // SAFETY: all zeros is a valid `struct statx`, and the call fills it.
    let mut status: libc::statx = unsafe { std::mem::zeroed() };
    let (raw, how, what) = (file.as_raw_fd(), libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN);
    // SAFETY: the name ends with a zero byte, and `status` is a local.
    let answer = unsafe { libc::statx(raw, c"".as_ptr(), how, what, &mut status) };
    if answer < 0 || status.stx_mask & libc::STATX_DIOALIGN == 0 {
        return Ok((USUAL, cached_at_once(file)));
    }
    match (u64::from(status.stx_dio_mem_align), u64::from(status.stx_dio_offset_align)) {
        (0, _) | (_, 0) => Err("the file system has no access past the page cache".to_string()),
        (memory, unit) => Ok((memory, unit.max(cached_at_once(file)).next_multiple_of(unit))),
    }
}

/// Bytes that the page cache reads and writes as one: a page, or a block where that is larger.
fn cached_at_once(file: BorrowedFd) -> u64 {
    // SAFETY: all zeros is a valid `struct statfs`, and the call fills it.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and `status` is a local.
    let answer = unsafe { libc::fstatfs(file.as_raw_fd(), &mut status) };
    let block = if answer == 0 { status.f_bsize as u64 } else { 0 };
    let block = if block <= LARGEST_BLOCK { block } else { 0 };
    USUAL.max(page_size()).max(block)
}

/// Moves `pieces` in calls that the system does not cut: it would do so at any page.
fn in_whole_units(
    unit: u64,
    offset: u64,
    pieces: &[Piece],
    mut call: impl FnMut(u64, &[Piece]) -> io::Result<usize>,
) -> Result<u64, Stopped> {
    let most = (LONGEST_CALL as u64 / unit).max(1) * unit;
    in_steps(total_length(pieces), most, |moved, size| {
        transfer(offset + moved, &part(pieces, moved, size), &mut call)
    })
}

/// Moves `length` bytes, at most `most` at a time, until a step moves less than it should.
fn in_steps(
    length: u64,
    most: u64,
    mut step: impl FnMut(u64, u64) -> Result<u64, Stopped>,
) -> Result<u64, Stopped> {
    let mut moved = 0;
    while moved < length {
        let size = (length - moved).min(most);
        let count = step(moved, size).map_err(|stopped| after(moved, stopped))?;
        moved += count;
        if count < size {
            break;
        }
    }
    Ok(moved)
}

/// Moves `pieces` through a buffer that lies well.
fn bounced(
    intent: Intent,
    offset: u64,
    pieces: &[Piece],
    mut call: impl FnMut(u64, &[Piece]) -> io::Result<usize>,
) -> Result<u64, Stopped> {
    let length = total_length(pieces);
    // Without memory for it everything goes the other way.
    let Ok(mut scratch) = Scratch::new(BUFFER.min(length as usize)) else { return Ok(0) };
    in_steps(length, scratch.len() as u64, |moved, size| {
        let there = scratch.piece(size as usize);
        if intent == Intent::Write {
            copy(there, &part(pieces, moved, size), intent);
        }
        let count = transfer(offset + moved, &[there], &mut call)?;
        if intent == Intent::Read {
            copy(there, &part(pieces, moved, count), intent);
        }
        Ok(count)
    })
}

/// Copies between a buffer and pieces, from its start on.
fn copy(buffer: Piece, pieces: &[Piece], intent: Intent) {
    let mut at = 0;
    for &piece in pieces {
        let beside = buffer.skip(at).take(piece.len());
        match intent {
            Intent::Read => copy_between(piece, beside),
            Intent::Write => copy_between(beside, piece),
        }
        at += piece.len();
    }
}

/// `length` bytes of what the pieces name, from `start` on.
fn part(pieces: &[Piece], start: u64, length: u64) -> Vec<Piece> {
    let (mut skipped, mut left) = (start as usize, length as usize);
    let mut parts = Vec::new();
    for piece in pieces {
        let skip = skipped.min(piece.len());
        skipped -= skip;
        let take = (piece.len() - skip).min(left);
        left -= take;
        if take > 0 {
            parts.push(piece.skip(skip).take(take));
        }
    }
    parts
}

fn after(moved: u64, stopped: Stopped) -> Stopped {
    Stopped { moved: moved + stopped.moved, ..stopped }
}

/// Whether the file system does not take it that way, rather than not at all.
fn is_refusal(cause: &io::Error) -> bool {
    matches!(cause.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
