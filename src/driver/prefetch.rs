//! What any Linux file system makes of advice: it reads ahead of scattered reads.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::advice::{Advised, Advisor, Ahead, Intent};

/// Tells the kernel of pieces that will be read.
#[derive(Default)]
pub(super) struct Readahead {
    told: AtomicU64,
    refused: AtomicU64,
}

impl Readahead {
    /// Only where the user asks: a file that is cached would only lose by it.
    pub(super) fn prepare(wanted: Option<bool>) -> Option<Box<dyn Advisor>> {
        (wanted == Some(true)).then(|| Box::new(Readahead::default()) as Box<dyn Advisor>)
    }
}

impl Advisor for Readahead {
    fn listens(&self, ahead: Ahead, intent: Intent) -> bool {
        ahead == Ahead::Elements && intent == Intent::Read
    }

    fn will_access(&self, file: BorrowedFd, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) {
        // The kernel sees for itself that one stretch follows another.
        if !self.listens(ahead, intent) || ranges.len() < 2 {
            return;
        }
        for range in ranges {
            let (start, length) = (range.start as i64, (range.end - range.start) as i64);
            // SAFETY: plain numbers, and the descriptor is open.
            let refused = unsafe {
                libc::posix_fadvise(file.as_raw_fd(), start, length, libc::POSIX_FADV_WILLNEED)
            };
            self.told.fetch_add(1, Relaxed);
            self.refused.fetch_add(u64::from(refused != 0), Relaxed);
        }
    }

    fn advised(&self) -> Advised {
        Advised { told: self.told.load(Relaxed), refused: self.refused.load(Relaxed) }
    }
}
