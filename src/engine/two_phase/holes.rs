//! Writing a window in which nobody has filled some places.
//!
//! What was filled is written run by run. Only where runs are so near to each other that a call for
//! each costs more than moving the holes between them, and where writes may be sieved at all, the
//! holes of that neighbourhood are read first and the whole is written at once.

use std::ops::Range;
use std::sync::Arc;

use crate::driver::Driver;
use crate::engine::individual::Plan;
use crate::engine::sieve::{Gate, Tally};
use crate::error::Result;
use crate::memory::{Marks, Piece, Scratch, copy_between};
use crate::operation::Direction;

/// Fewer runs than these are written one by one: a lock and a read cost as much as a few calls.
const FEWEST: usize = 4;

/// A window's bytes that somebody has filled, and where in the file they belong.
pub struct Filled {
    /// The bytes of the slot.
    pub bytes: Piece,
    /// Which of them were filled.
    pub marks: Marks,
    /// Where in the file the first of them lies.
    pub start: u64,
    /// The window within the slot.
    pub inside: Range<usize>,
    /// Counts what was read back.
    pub tally: Arc<Tally>,
}

impl Filled {
    /// Writes what was filled.
    pub fn write(&self, driver: &dyn Driver, plan: &Plan, gate: &Gate) -> Result<()> {
        if plan.write.stride == 0 {
            return self.write_beside(driver, plan, gate, self.inside.clone());
        }
        let mut runs = self.marks.runs(self.inside.clone()).peekable();
        while let Some(first) = runs.next() {
            let (mut whole, mut count) = (first, 1);
            while let Some(next) = runs.next_if(|next| {
                let step = next.end - whole.end;
                step as u64 <= plan.write.stride
            }) {
                (whole.end, count) = (next.end, count + 1);
            }
            match count < FEWEST {
                true => self.write_beside(driver, plan, gate, whole)?,
                false => self.write_with_holes(driver, gate, whole)?,
            }
        }
        Ok(())
    }

    /// Writes the runs within `range`, none of its holes.
    fn write_beside(
        &self,
        driver: &dyn Driver,
        plan: &Plan,
        gate: &Gate,
        range: Range<usize>,
    ) -> Result<()> {
        let write = || {
            self.marks.runs(range.clone()).try_for_each(|run| {
                let piece = self.bytes.skip(run.start).take(run.len());
                driver.write_at(self.start + run.start as u64, &[piece])
            })
        };
        // One lock for all: where another host is asked, it costs more than a write.
        match plan.locked_writes.then(|| self.marks.extent(range.clone())).flatten() {
            Some(extent) => {
                let range = self.start + extent.start as u64..self.start + extent.end as u64;
                gate.beside(driver, Direction::Write, range, write)
            }
            None => write(),
        }
    }

    /// Puts what the file has into the holes of `range`, and writes all of it.
    fn write_with_holes(
        &self,
        driver: &dyn Driver,
        gate: &Gate,
        range: Range<usize>,
    ) -> Result<()> {
        let mut scratch = Scratch::new(range.len())?;
        let there = scratch.piece(range.len());
        let offset = self.start + range.start as u64;
        gate.alone(driver, offset, range.len() as u64, || {
            let found = driver.read_at(offset, &[there])? as usize;
            there.skip(found).zero();
            let (mut hole, mut extra) = (range.start, 0);
            for run in self.marks.runs(range.clone()) {
                extra += run.start - hole;
                let place =
                    |piece: Piece, base: usize| piece.skip(hole - base).take(run.start - hole);
                copy_between(place(self.bytes, 0), place(there, range.start));
                hole = run.end;
            }
            self.tally.add(extra);
            driver.write_at(offset, &[self.bytes.skip(range.start).take(range.len())])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::sieve::Sieving;
    use crate::sim::disk::Disk;

    /// What the file holds after runs of 8 bytes were written, by how many calls, and what of that
    /// had to be read.
    fn written(runs: &[usize], stride: u64) -> (Vec<u8>, usize, (u64, u64)) {
        let disk = Disk::with(vec![7; 200]);
        let (mut bytes, mut marks) = (vec![1; 1024], vec![0; 128]);
        let bytes = Piece::of_mut(&mut bytes);
        let marks = Marks::new(Piece::of_mut(&mut marks), 3);
        for &run in runs {
            marks.set_range(run..run + 8);
        }
        let tally = Arc::new(Tally::default());
        let filled = Filled { bytes, marks, start: 0, inside: 0..1024, tally: tally.clone() };
        let plan = Plan { write: Sieving { stride, buffer_size: 0 }, ..Plan::default() };
        filled.write(&disk, &plan, &Gate::default()).unwrap();
        assert_eq!(disk.locks_left(), 0);
        let (windows, extra, _) = tally.total();
        (disk.bytes.lock().clone(), disk.calls(), (windows, extra))
    }

    #[test]
    fn holes_keep_what_they_hold_and_near_runs_are_one_write() {
        let runs = [0, 16, 32, 48, 160, 600, 640, 648];
        let (by_runs, calls, sieved) = written(&runs, 0);
        assert_eq!((calls, sieved), (7, (0, 0)), "two runs that touch are one");
        assert_eq!(by_runs.len(), 656);
        assert_eq!(
            written(&runs, 16),
            (by_runs.clone(), 5, (1, 24)),
            "a read and a write for the first four"
        );
        assert_eq!(written(&runs, 512), (by_runs, 2, (1, 656 - 64)));
    }
}
