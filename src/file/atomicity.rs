//! Atomic mode: locks on the ranges of an access, all held until it is done.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::File;
use crate::driver::detect::ClusterLocks;
use crate::driver::{Driver, LockKind};
use crate::engine::ranks::Ranks;
use crate::error::{Class, Error, Result};
use crate::operation::Direction;
use crate::run::block_on;
use crate::view::layout::View;
use crate::view::typemap::Monotony;

/// An access with more pieces locks everything between its first and its last byte: a lock for
/// each would cost more than the waiting it avoids.
const MOST_LOCKS: usize = 64;

/// A byte far behind any data, for trying out locks.
const PROBE: u64 = i64::MAX as u64 - 3;

impl File {
    /// Whether accesses are atomic.
    pub fn atomicity(&self) -> bool {
        self.atomic.load(Ordering::Relaxed)
    }

    /// Turns atomic mode on or off. Collective.
    pub fn set_atomicity(&self, atomic: bool) -> Result<()> {
        self.settle();
        self.agree_on("atomicities", i64::from(atomic), self.driver().map(drop))?;
        if atomic {
            // Nodes that access the file for others do so in any order.
            self.agree(self.driver().and_then(|driver| driver.stop_together()))?;
            self.locks_work()?;
        }
        self.atomic.store(atomic, Ordering::Relaxed);
        Ok(())
    }

    /// Tries whether a lock taken by rank 0 is seen from everywhere else. Collective.
    pub(super) fn locks_work(&self) -> Result<()> {
        let driver = self.agree(self.driver())?;
        let kind = if self.amode.write { LockKind::Exclusive } else { LockKind::Shared };
        let first = self.ranks.rank() == 0;
        let taken = match first {
            // Another opening may be trying: with its lock in place ours would not be tried.
            true => driver.lock(PROBE, 1, kind),
            false => Ok(()),
        };
        self.agree(taken)?;
        // A shared lock keeps nobody out who only reads, and then nothing needs keeping out.
        let seen = match kind {
            LockKind::Exclusive if !first => driver.try_lock(PROBE, 1, kind),
            _ => Ok(false),
        };
        let verdict = seen.and_then(|got| {
            if got {
                driver.unlock(PROBE, 1);
                let reach = match self.filesystem.cluster_locks {
                    ClusterLocks::LocalOnly => "reach only the processes of one machine",
                    _ => "do not reach from rank to rank",
                };
                let text = format!("locks on {} {reach}, so there is no atomic mode", self.name);
                return Err(Error::new(Class::UnsupportedOperation, text));
            }
            Ok(())
        });
        let verdict = self.agree(verdict);
        if first {
            driver.unlock(PROBE, 1);
        }
        // Nobody goes on and tries again while the lock is still held.
        block_on(&self.ranks, self.ranks.max(Box::new([0])))?;
        verdict
    }

    /// Runs `access` with the ranges that `size` bytes of the view from `position` on lie in
    /// locked, if the file is in atomic mode.
    pub(super) fn atomically<T>(
        &self,
        driver: &dyn Driver,
        direction: Direction,
        view: &View,
        (position, size): (u64, u64),
        access: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if !self.atomicity() || size == 0 {
            return access();
        }
        let kind = match direction {
            Direction::Read => LockKind::Shared,
            Direction::Write => LockKind::Exclusive,
        };
        // Threads of one process share its locks, and the first of two readers would give back
        // what the second still reads under: they are kept apart here.
        let _alone = self.atomic_gate.lock();
        let ranges = ranges(view, position, size);
        let mut held = 0;
        let mut verdict = Ok(());
        for range in &ranges {
            // In ascending order everywhere, so no two accesses wait for each other.
            verdict = driver.lock(range.start, range.end - range.start, kind);
            if verdict.is_err() {
                break;
            }
            held += 1;
        }
        let mut result = verdict.and_then(|()| access());
        if let (Direction::Write, [first, ..]) = (direction, &ranges[..held]) {
            let published = driver.publish(first.start, ranges[held - 1].end - first.start);
            result = result.and_then(|done| published.map(|()| done));
        }
        for range in &ranges[..held] {
            driver.unlock(range.start, range.end - range.start);
        }
        result
    }
}

/// The stretches of the file that an access touches; one range over all if there are too many.
fn ranges(view: &View, position: u64, size: u64) -> Vec<Range<u64>> {
    let mut cursor = view.cursor(position);
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut left = size;
    while left > 0 {
        let start = view.displacement.saturating_add_signed(cursor.displacement());
        let length = cursor.next(cursor.left_in_run().min(left)).length;
        match ranges.last_mut() {
            // Pieces may overlap, and who has a range does not wait for a part of it.
            Some(last) if (last.start..=last.end).contains(&start) => {
                last.end = last.end.max(start + length);
            }
            _ => ranges.push(start..start + length),
        }
        left -= length;
        if ranges.len() > MOST_LOCKS {
            ranges.truncate(1);
            ranges[0].end = end_of(view, position + size - 1);
            return ranges;
        }
    }
    ranges
}

/// One past all bytes of an access whose last is the one at `position`. Where pieces overlap, an
/// earlier one may reach further than the last.
fn end_of(view: &View, position: u64) -> u64 {
    let filetype = &view.filetype;
    if filetype.monotony() == Monotony::Increasing {
        return view.offset_of(position) + 1;
    }
    let tile = i64::try_from(position / filetype.size()).unwrap_or(i64::MAX);
    let end = tile.saturating_mul(filetype.extent()).saturating_add(filetype.span().1);
    view.displacement.saturating_add_signed(end)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::view::typemap::Typemap;

    #[test]
    fn few_pieces_are_locked_exactly_and_many_as_one() {
        let filetype = Arc::new(Typemap::bytes(4).resized(0, 10));
        let view = View { displacement: 100, etype_size: 1, filetype };
        assert_eq!(ranges(&view, 2, 8), [102..104, 110..114, 120..122]);
        assert_eq!(ranges(&view, 0, 4000), [100..100 + 9994]);
        assert_eq!(ranges(&View::of_bytes(), 7, 9), [7..16]);
    }

    #[test]
    fn all_of_many_overlapping_pieces_is_locked() {
        let blocks: Vec<(i64, u64)> =
            (0..100).map(|i| (2 * i, if i == 80 { 1000 } else { 1 })).collect();
        let within = Typemap::bytes(1).hindexed(&blocks);
        let view = |filetype| View { displacement: 7, etype_size: 1, filetype: Arc::new(filetype) };
        assert_eq!(ranges(&view(within.clone()), 0, 1099), [7..7 + 1160]);
        // Here those of the next tile begin within those of the one before.
        let short = Typemap::bytes(100).hindexed(&[(0, 1), (200, 1)]).resized(0, 250);
        assert_eq!(ranges(&view(short.clone()), 0, 400), [7..107, 207..357, 457..557]);
        assert_eq!(ranges(&view(short), 0, 20_000), [7..7 + 99 * 250 + 300]);
        assert_eq!(ranges(&view(within.resized(0, 1160)), 1099, 1099), [7 + 1160..7 + 2320]);
    }
}
