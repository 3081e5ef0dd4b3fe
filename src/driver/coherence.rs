//! Who in this process uses which bytes of one opening, and which of them are locked.
//!
//! A driver that takes a lock around each transfer shares the opening's locks with its caller,
//! and with other threads: giving back the range of one transfer would give back what the caller
//! or another transfer holds of it. So the driver takes and gives back only what the caller does
//! not hold, and transfers that overlap go one after the other.

use std::ops::Range;

use parking_lot::{Condvar, Mutex};

use super::ranges::without;

/// The ranges of one opening.
#[derive(Default)]
pub(super) struct Coherence {
    ranges: Mutex<Ranges>,
    changed: Condvar,
}

#[derive(Default)]
struct Ranges {
    /// Locked by the caller, until it unlocks them; no two overlap.
    held: Vec<Range<u64>>,
    /// Being locked, transferred or unlocked just now.
    busy: Vec<Range<u64>>,
}

/// A range that nobody else in this process locks or transfers; ends when dropped.
pub(super) struct Busy<'a> {
    coherence: &'a Coherence,
    range: Range<u64>,
}

impl Coherence {
    /// Waits until nothing in this process is under way in `range`, and keeps it so.
    pub(super) fn enter(&self, range: &Range<u64>) -> Busy<'_> {
        let mut ranges = self.ranges.lock();
        while ranges.is_busy(range) {
            self.changed.wait(&mut ranges);
        }
        self.occupy(&mut ranges, range)
    }

    /// As `enter`, or `None` where it would have to wait.
    pub(super) fn try_enter(&self, range: &Range<u64>) -> Option<Busy<'_>> {
        let mut ranges = self.ranges.lock();
        if ranges.is_busy(range) { None } else { Some(self.occupy(&mut ranges, range)) }
    }

    /// What is locked of `range`.
    pub(super) fn held(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let ranges = self.ranges.lock();
        let inside = |held: &Range<u64>| held.start.max(range.start)..held.end.min(range.end);
        ranges.held.iter().map(inside).filter(|part| !part.is_empty()).collect()
    }

    fn occupy(&self, ranges: &mut Ranges, range: &Range<u64>) -> Busy<'_> {
        ranges.busy.push(range.clone());
        Busy { coherence: self, range: range.clone() }
    }
}

impl Ranges {
    fn is_busy(&self, range: &Range<u64>) -> bool {
        self.busy.iter().any(|busy| busy.start < range.end && range.start < busy.end)
    }
}

impl Busy<'_> {
    /// The caller holds a lock on the range from now on.
    pub(super) fn hold(&self) {
        let mut ranges = self.coherence.ranges.lock();
        ranges.held = without(std::mem::take(&mut ranges.held), &self.range);
        ranges.held.push(self.range.clone());
    }

    /// The caller holds nothing of the range any more.
    pub(super) fn give_back(&self) {
        let mut ranges = self.coherence.ranges.lock();
        ranges.held = without(std::mem::take(&mut ranges.held), &self.range);
    }

    /// What the caller does not hold of the range, in order.
    pub(super) fn gaps(&self) -> Vec<Range<u64>> {
        let ranges = self.coherence.ranges.lock();
        let whole = vec![self.range.clone()];
        let mut gaps = ranges.held.iter().fold(whole, without);
        gaps.retain(|gap| !gap.is_empty());
        gaps
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut ranges = self.coherence.ranges.lock();
        if let Some(index) = ranges.busy.iter().position(|busy| *busy == self.range) {
            ranges.busy.swap_remove(index);
        }
        self.coherence.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_caller_does_not_hold_is_a_gap() {
        let coherence = Coherence::default();
        coherence.enter(&(10..20)).hold();
        coherence.enter(&(30..40)).hold();
        assert_eq!(coherence.enter(&(0..50)).gaps(), [0..10, 20..30, 40..50]);
        assert_eq!(coherence.enter(&(12..18)).gaps(), []);
        assert_eq!(coherence.held(&(15..35)), [15..20, 30..35]);
        assert_eq!(coherence.held(&(20..30)), []);
        coherence.enter(&(15..35)).give_back();
        assert_eq!(coherence.enter(&(0..50)).gaps(), [0..10, 15..35, 40..50]);
        assert_eq!(coherence.enter(&(5..5)).gaps(), []);
    }

    #[test]
    fn overlapping_work_waits() {
        let coherence = Coherence::default();
        let first = coherence.enter(&(0..10));
        assert!(coherence.try_enter(&(9..12)).is_none());
        assert!(coherence.try_enter(&(10..12)).is_some());
        std::thread::scope(|scope| {
            let second = scope.spawn(|| drop(coherence.enter(&(5..15))));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!second.is_finished());
            drop(first);
            second.join().unwrap();
        });
        assert!(coherence.try_enter(&(0..15)).is_some());
    }
}
