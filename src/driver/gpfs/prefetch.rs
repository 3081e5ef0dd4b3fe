//! Blocks that are asked for ahead of scattered reads, and given back as they are used.

use std::collections::VecDeque;
use std::ops::Range;

use super::abi::{BlockRange, MOST_RANGES, MultipleAccessRange};
use super::list::List;

/// What GPFS has been told of one opening.
#[derive(Default)]
pub(super) struct Prefetch {
    /// Blocks that were accepted and not given back yet; GPFS reads no further ahead while it
    /// waits for one.
    held: VecDeque<BlockRange>,
    /// What stands in the request under way.
    asked: Vec<BlockRange>,
    released: usize,
}

impl Prefetch {
    /// The request for as many of these bytes as there is room for.
    pub(super) fn ahead(&mut self, ranges: &[Range<u64>], block_size: u64) -> Option<List> {
        let room = MOST_RANGES - self.held.len().min(MOST_RANGES);
        let asked = ranges.iter().flat_map(|range| blocks(range.clone(), block_size));
        let held = &self.held;
        self.asked = asked.filter(|block| !held.contains(block)).take(room).collect();
        self.request(Vec::new())
    }

    /// The request that gives back what of these bytes is held.
    pub(super) fn behind(&mut self, ranges: &[Range<u64>], block_size: u64) -> Option<List> {
        let end = ranges.iter().map(|range| range.end).max()?;
        self.asked.clear();
        let used = |block: &BlockRange| {
            let start = block.block_number as u64 * block_size + block.start as u64;
            start + block.length as u64 <= end
        };
        let release: Vec<BlockRange> = self.held.iter().copied().filter(used).collect();
        self.held.retain(|block| !release.contains(block));
        self.request(release)
    }

    fn request(&mut self, release: Vec<BlockRange>) -> Option<List> {
        self.released = release.len();
        if self.asked.is_empty() && release.is_empty() {
            return None;
        }
        let array = |some: &[BlockRange]| {
            let mut array = [BlockRange::default(); MOST_RANGES];
            array[..some.len()].copy_from_slice(some);
            array
        };
        Some(List::of(&MultipleAccessRange::new(
            self.asked.len() as i32,
            release.len() as i32,
            array(&self.asked),
            array(&release),
        )))
    }

    /// What became of a request.
    pub(super) fn heard(&mut self, answer: Option<&List>) {
        let accepted = answer.and_then(List::first::<MultipleAccessRange>);
        let count = accepted.map_or(0, |entry| entry.access_count.max(0) as usize);
        self.held.extend(self.asked.drain(..).take(count));
        self.asked.clear();
    }
}

/// A range, block by block.
fn blocks(range: Range<u64>, size: u64) -> impl Iterator<Item = BlockRange> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let inside = at % size;
        let length = (size - inside).min(range.end.checked_sub(at).filter(|left| *left > 0)?);
        let block = BlockRange {
            block_number: (at / size) as i64,
            start: inside as i32,
            length: length as i32,
            is_write: 0,
            padding: 0,
        };
        at += length;
        Some(block)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(list: Option<List>) -> Option<(Vec<i64>, Vec<i64>)> {
        let entry: MultipleAccessRange = list?.first()?;
        let numbers = |some: &[BlockRange], count: i32| {
            some[..count as usize].iter().map(|block| block.block_number).collect()
        };
        let access = numbers(&entry.access, entry.access_count);
        Some((access, numbers(&entry.release, entry.release_count)))
    }

    #[test]
    fn a_range_is_cut_at_blocks() {
        let cut: Vec<_> = blocks(5..25, 10).map(|b| (b.block_number, b.start, b.length)).collect();
        assert_eq!(cut, [(0, 5, 5), (1, 0, 10), (2, 0, 5)]);
        assert_eq!(blocks(7..7, 10).count(), 0);
    }

    #[test]
    fn what_is_held_is_given_back_once_and_makes_room() {
        let pieces: Vec<Range<u64>> = (0..12).map(|n| n * 30..n * 30 + 10).collect();
        let mut prefetch = Prefetch::default();
        let list = prefetch.ahead(&pieces, 10).unwrap();
        prefetch.heard(Some(&list));
        assert_eq!(sent(Some(list)).unwrap().0, [0, 3, 6, 9, 12, 15, 18, 21]);
        assert!(prefetch.ahead(&pieces[2..], 10).is_none(), "no room for more");
        let list = prefetch.behind(&pieces[..2], 10);
        assert_eq!(sent(list).unwrap(), (vec![], vec![0, 3]));
        prefetch.heard(None);
        let list = prefetch.ahead(&pieces[2..], 10);
        assert_eq!(sent(list).unwrap().0, [24, 27]);
        prefetch.heard(None); // refused: nothing is held, and nothing to be given back
        assert_eq!(prefetch.held.len(), 6);
        assert!(prefetch.behind(&pieces[..2], 10).is_none());
    }
}
