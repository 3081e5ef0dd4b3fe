//! A notice board in memory that all ranks see, for small exchanges that take no message.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use crate::memory::{Bell, Shared};

/// Most values that a rank can pin at a time.
pub const ROOM: usize = 24;

/// Bytes of a notice.
const NOTICE_SIZE: usize = ROOM * 8;

/// Where the bell is; the memory before it is for others.
const BELL: usize = 64;

/// Where it is counted how many notices have been pinned.
const PINNED: usize = BELL + Bell::SIZE;

/// Where the first notice is.
const START: usize = PINNED + 64;

/// The board, as one rank sees it.
///
/// Each rank has two notices and uses them in turn. It takes its next step only when all have
/// pinned theirs, so nobody is ever two steps behind, and a notice stays until all have read it.
pub struct Board {
    memory: Shared,
    bell: Bell,
    rank: usize,
    size: usize,
    /// Exchanges so far.
    step: AtomicU64,
}

impl Board {
    /// Bytes of memory, all zero at the start, for `size` ranks.
    pub fn memory_size(size: usize) -> usize {
        START + 2 * size * NOTICE_SIZE
    }

    /// A board in such memory.
    pub fn new(memory: Shared, rank: usize, size: usize) -> Board {
        let bell = Bell::new(memory.clone(), BELL);
        Board { memory, bell, rank, size, step: AtomicU64::new(0) }
    }

    /// Rings when an exchange is complete.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// The memory, whose first 64 bytes the board does not use.
    pub fn memory(&self) -> &Shared {
        &self.memory
    }

    /// Shows `values` to the others, and answers which exchange this is.
    pub fn pin(&self, values: &[i64]) -> u64 {
        let step = self.step.fetch_add(1, Relaxed) + 1;
        for (word, &value) in self.notice(step, self.rank, values.len()).iter().zip(values) {
            word.store(value as u64, Relaxed);
        }
        // What all have pinned is seen by whoever sees the count.
        let pinned = self.memory.word(PINNED).fetch_add(1, AcqRel) + 1;
        if pinned == step * self.size as u64 {
            self.bell.ring();
        }
        step
    }

    /// Whether all have shown their values for this exchange.
    pub fn complete(&self, step: u64) -> bool {
        self.memory.word(PINNED).load(Acquire) >= step * self.size as u64
    }

    /// The first `count` values that a rank has shown, once all have.
    pub fn values(&self, step: u64, rank: usize, count: usize) -> impl Iterator<Item = i64> {
        self.notice(step, rank, count).iter().map(|word| word.load(Relaxed) as i64)
    }

    fn notice(&self, step: u64, rank: usize, count: usize) -> &[AtomicU64] {
        let notice = (step % 2) as usize * self.size + rank;
        self.memory.words(START + notice * NOTICE_SIZE, count)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn everybody_reads_what_everybody_pinned() {
        let size = 5;
        let memory = Shared::of_process(Board::memory_size(size)).unwrap();
        std::thread::scope(|scope| {
            for rank in 0..size {
                let memory = memory.clone();
                scope.spawn(move || {
                    let board = Board::new(memory, rank, size);
                    for round in 0..2000 {
                        let step = board.pin(&[round, round * rank as i64]);
                        while !board.complete(step) {
                            let count = board.bell().count();
                            if !board.complete(step) {
                                board.bell().sleep(count, Duration::from_millis(999));
                            }
                        }
                        for other in 0..size {
                            let values: Vec<i64> = board.values(step, other, 2).collect();
                            assert_eq!(values, [round, round * other as i64]);
                        }
                    }
                });
            }
        });
    }
}
