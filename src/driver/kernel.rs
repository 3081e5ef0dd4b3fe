//! What any Linux file system makes of advice: it reads ahead of scattered reads and of declared
//! parts of the file, and begins to write declared parts to the device.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::advice::{Advised, Advisor, Ahead, Intent, Tuning};

/// Tells the kernel of pieces that will be read or have been written.
#[derive(Default)]
pub(super) struct Kernel {
    /// Of scattered reads.
    prefetch: bool,
    /// Of what an aggregator accesses.
    declare: bool,
    told: AtomicU64,
    refused: AtomicU64,
}

impl Kernel {
    /// Only where the user asks: a file that is cached, or that is soon removed, only loses by it.
    pub(super) fn prepare(tuning: &Tuning) -> Option<Box<dyn Advisor>> {
        let (prefetch, declare) = (tuning.prefetch == Some(true), tuning.blocks.declare);
        let kernel = Kernel { prefetch, declare, ..Kernel::default() };
        (prefetch || declare).then(|| Box::new(kernel) as Box<dyn Advisor>)
    }

    fn tell(&self, ranges: &[Range<u64>], call: impl Fn(i64, i64) -> i32) {
        for range in ranges {
            let refused = call(range.start as i64, (range.end - range.start) as i64);
            self.told.fetch_add(1, Relaxed);
            self.refused.fetch_add(u64::from(refused != 0), Relaxed);
        }
    }
}

impl Advisor for Kernel {
    fn listens(&self, ahead: Ahead, intent: Intent) -> bool {
        match ahead {
            Ahead::Elements => self.prefetch && intent == Intent::Read,
            Ahead::Domain => self.declare,
            Ahead::Window | Ahead::View => false,
        }
    }

    fn will_access(&self, file: BorrowedFd, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) {
        // The kernel sees for itself that one stretch of a rank's own follows another.
        let alone = ahead == Ahead::Elements && ranges.len() < 2;
        if !self.listens(ahead, intent) || intent == Intent::Write || alone {
            return;
        }
        self.tell(ranges, |start, length| {
            // SAFETY: plain numbers, and the descriptor is open.
            unsafe {
                libc::posix_fadvise(file.as_raw_fd(), start, length, libc::POSIX_FADV_WILLNEED)
            }
        });
    }

    fn has_accessed(&self, file: BorrowedFd, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) {
        if ahead != Ahead::Domain || !self.listens(ahead, intent) || intent == Intent::Read {
            return;
        }
        self.tell(ranges, |start, length| {
            // SAFETY: plain numbers, and the descriptor is open.
            unsafe {
                libc::sync_file_range(file.as_raw_fd(), start, length, libc::SYNC_FILE_RANGE_WRITE)
            }
        });
    }

    fn advised(&self) -> Advised {
        Advised { told: self.told.load(Relaxed), refused: self.refused.load(Relaxed) }
    }
}
