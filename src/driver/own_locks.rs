//! Bytes that the program itself has locked.
//!
//! A lock that this process has taken with F_SETLK keeps out the library's locks too. To wait for
//! it could be to wait for the caller. But where it is exclusive nobody else can have a lock, so
//! there none of the library's is needed to keep others out, for as long as the program keeps its
//! own. What is left is that openings of this process keep out each other.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::{Condvar, Mutex};

use super::LockKind;
use super::in_use::Identity;
use super::ranges::without;

/// What an opening uses below a lock of the program; what is left goes when it is dropped.
pub(super) struct OwnLocks {
    file: Identity,
    number: u64,
    /// How often it has begun to use something; mostly never.
    entries: AtomicU64,
}

/// What all openings use so.
struct Table {
    all: Mutex<Vec<Used>>,
    changed: Condvar,
}

struct Used {
    file: Identity,
    opening: u64,
    range: Range<u64>,
    kind: LockKind,
}

static TABLE: Table = Table { all: Mutex::new(Vec::new()), changed: Condvar::new() };
static OPENINGS: AtomicU64 = AtomicU64::new(0);

impl OwnLocks {
    pub(super) fn new(file: Identity) -> OwnLocks {
        let number = OPENINGS.fetch_add(1, Relaxed);
        OwnLocks { file, number, entries: AtomicU64::new(0) }
    }

    /// Begins to use a range, once no other opening uses some of it in a way that does not go with
    /// this.
    pub(super) fn enter(&self, range: &Range<u64>, kind: LockKind) {
        let mut all = TABLE.all.lock();
        let disturbs = |used: &Used| {
            let overlaps = used.range.start < range.end && range.start < used.range.end;
            let both = (used.kind, kind) != (LockKind::Shared, LockKind::Shared);
            used.file == self.file && used.opening != self.number && overlaps && both
        };
        while all.iter().any(disturbs) {
            TABLE.changed.wait(&mut all);
        }
        // As with locks of the system, the last kind holds.
        self.cut(&mut all, range);
        all.push(Used { file: self.file, opening: self.number, range: range.clone(), kind });
        self.entries.fetch_add(1, Relaxed);
    }

    /// Uses nothing of the range any more.
    pub(super) fn leave(&self, range: &Range<u64>) {
        if self.entries.load(Relaxed) > 0 {
            self.cut(&mut TABLE.all.lock(), range);
            TABLE.changed.notify_all();
        }
    }

    fn cut(&self, all: &mut Vec<Used>, range: &Range<u64>) {
        let mine = |used: &mut Used| used.file == self.file && used.opening == self.number;
        for used in all.extract_if(.., mine).collect::<Vec<_>>() {
            let Used { file, opening, kind, .. } = used;
            let rest = without(vec![used.range], range);
            all.extend(rest.into_iter().map(|range| Used { file, opening, range, kind }));
        }
    }
}

impl Drop for OwnLocks {
    fn drop(&mut self) {
        self.leave(&(0..u64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::LockKind::{Exclusive, Shared};
    use super::*;

    #[test]
    fn openings_of_one_file_wait_for_each_other() {
        let file = (u64::MAX, 3);
        let (one, two) = (OwnLocks::new(file), OwnLocks::new(file));
        let other = OwnLocks::new((u64::MAX, 4));
        one.enter(&(0..10), Exclusive);
        one.enter(&(5..15), Shared); // its own are no obstacle
        two.enter(&(5..20), Shared);
        other.enter(&(0..100), Exclusive);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| two.enter(&(4..12), Exclusive));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            one.leave(&(5..15));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            one.leave(&(4..5));
            waiting.join().unwrap();
        });
        drop(two);
        one.enter(&(0..100), Exclusive);
    }
}
