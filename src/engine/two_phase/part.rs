//! What a rank tells its group about its part of a collective access, and what the group tells all
//! others. How much a rank hears grows with the groups, not with the ranks.

use std::ops::Range;

use super::nodes::Nodes;
use crate::engine::individual::Access;
use crate::engine::ranks::{Ranks, share_in_groups};
use crate::error::Result;
use crate::view::typemap::Monotony;

/// The facts about one rank's part that all ranks choose by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// First byte of the file that the rank accesses.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Bytes it accesses between them.
    pub size: u64,
    /// Average length of a contiguous piece of them.
    pub piece: u64,
    /// Pieces start and end at multiples of `1 << grain`.
    pub grain: u32,
    /// Its bytes lie in the file in the order of the access, none twice.
    pub orderly: bool,
    /// It has been accessed before anybody was told of it, and is empty therefore.
    pub done: bool,
}

/// Pages and more are no finer to tell apart.
const COARSEST: u32 = 12;

impl Part {
    /// Of a rank that accesses nothing.
    const NOTHING: Part =
        Part { start: 0, end: 0, size: 0, piece: 0, grain: COARSEST, orderly: true, done: false };

    /// Of a rank that has already accessed what it had to.
    pub const DONE: Part = Part { done: true, ..Part::NOTHING };

    /// The part of one access, which does not reach beyond the largest offset.
    pub fn of(access: &Access<'_>) -> Part {
        let (view, position, size) = (access.view, access.position, access.memory.size());
        if size == 0 {
            return Part::NOTHING;
        }
        let start = view.offset_of(position);
        let end = view.offset_of(position + size - 1) + 1;
        let (piece, grain) = match view.is_contiguous(position, size) {
            true => (size, (start | size).trailing_zeros()),
            false => {
                let places = (position | size | view.displacement).trailing_zeros();
                (view.granularity().0, view.filetype.grain().min(places))
            }
        };
        let orderly = view.filetype.monotony() == Monotony::Increasing;
        Part { start, end, size, piece, grain: grain.min(COARSEST), orderly, done: false }
    }

    /// From the first byte to the last.
    pub fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// How many numbers a part is sent as.
    pub const NUMBERS: usize = 5;

    /// As numbers for an exchange.
    pub fn encode(&self) -> [i64; Part::NUMBERS] {
        let rest = flags(self.grain, self.done, self.orderly);
        [self.start as i64, self.end as i64, self.size as i64, self.piece as i64, rest]
    }

    /// Back from numbers.
    pub fn decode(numbers: &[i64]) -> Part {
        Part {
            start: numbers[0] as u64,
            end: numbers[1] as u64,
            size: numbers[2] as u64,
            piece: numbers[3] as u64,
            grain: (numbers[4] >> 2) as u32,
            done: numbers[4] & 2 != 0,
            orderly: numbers[4] & 1 != 0,
        }
    }
}

/// What is told of in less than a byte, as one number.
fn flags(grain: u32, done: bool, orderly: bool) -> i64 {
    i64::from(grain) << 2 | i64::from(done) << 1 | i64::from(orderly)
}

/// Most stretches of the file that a group tells of.
const STRETCHES: usize = 4;

/// The facts about the parts of a group's ranks that all others choose by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Bytes that they access.
    pub size: u64,
    /// Contiguous pieces of them.
    pub pieces: u64,
    /// Of all that access anything, the finest.
    pub grain: u32,
    /// Whether all are.
    pub orderly: bool,
    /// Whether all are.
    pub done: bool,
    /// Where they access the file: in order, apart from each other, and with nothing outside. What
    /// is between two parts may count too if it is little.
    pub stretches: Vec<Range<u64>>,
}

impl Digest {
    /// Of these parts.
    pub fn of(parts: &[Part]) -> Digest {
        let some = || parts.iter().filter(|part| part.size > 0);
        let mut stretches = stretches(parts);
        make_few(&mut stretches);
        Digest {
            size: parts.iter().map(|part| part.size).sum(),
            pieces: parts.iter().map(|part| part.size / part.piece.max(1)).sum(),
            grain: some().map(|part| part.grain).min().unwrap_or(COARSEST),
            orderly: parts.iter().all(|part| part.orderly),
            done: parts.iter().all(|part| part.done),
            stretches,
        }
    }

    /// From the first byte of all to the last, if there is any.
    pub fn span(digests: &[Digest]) -> Option<Range<u64>> {
        let stretches = || digests.iter().flat_map(|digest| &digest.stretches);
        let start = stretches().map(|stretch| stretch.start).min()?;
        Some(start..stretches().map(|stretch| stretch.end).max()?)
    }

    /// How many numbers a digest is sent as.
    pub const NUMBERS: usize = 3 + 2 * STRETCHES;

    /// As numbers for an exchange.
    pub fn encode(&self) -> [i64; Digest::NUMBERS] {
        let mut numbers = [0; Digest::NUMBERS];
        let rest = flags(self.grain, self.done, self.orderly);
        numbers[..3].copy_from_slice(&[self.size as i64, self.pieces as i64, rest]);
        for (pair, stretch) in numbers[3..].chunks_exact_mut(2).zip(&self.stretches) {
            pair.copy_from_slice(&[stretch.start as i64, stretch.end as i64]);
        }
        numbers
    }

    /// Back from numbers.
    pub fn decode(numbers: &[i64]) -> Digest {
        let stretches = numbers[3..].chunks_exact(2).map(|pair| pair[0] as u64..pair[1] as u64);
        Digest {
            size: numbers[0] as u64,
            pieces: numbers[1] as u64,
            grain: (numbers[2] >> 2) as u32,
            done: numbers[2] & 2 != 0,
            orderly: numbers[2] & 1 != 0,
            stretches: stretches.filter(|stretch| !stretch.is_empty()).collect(),
        }
    }
}

/// Tells this rank's part if it has one: gives those of its group, and what all groups told.
pub async fn share_parts<R: Ranks, T>(
    ranks: &R,
    groups: &Nodes,
    verdict: Result<T>,
    part: impl Fn(&T) -> Part,
) -> Result<(T, Vec<Part>, Vec<Digest>)> {
    let decode = |rows: &[[i64; Part::NUMBERS]]| -> Vec<Part> {
        rows.iter().map(|numbers| Part::decode(numbers)).collect()
    };
    let digest = |rows: &[[i64; Part::NUMBERS]]| Digest::of(&decode(rows)).encode();
    let part = |value: &T| part(value).encode();
    let (value, own, all) = share_in_groups(ranks, groups, verdict, part, digest).await?;
    Ok((value, decode(&own), all.iter().map(|numbers| Digest::decode(numbers)).collect()))
}

/// Where the ranks of these parts are: in order, and apart from each other.
pub fn stretches(parts: &[Part]) -> Vec<Range<u64>> {
    let some = parts.iter().filter(|part| part.size > 0);
    let mut ranges: Vec<Range<u64>> = some.map(Part::range).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, before| {
        let meet = next.start <= before.end;
        if meet {
            before.end = before.end.max(next.end);
        }
        meet
    });
    ranges
}

/// Joins the stretches that are nearest to each other until there are few.
fn make_few(ranges: &mut Vec<Range<u64>>) {
    if ranges.len() <= STRETCHES {
        return;
    }
    let mut gaps: Vec<u64> = ranges.windows(2).map(|pair| pair[1].start - pair[0].end).collect();
    gaps.sort_unstable_by(|one, other| other.cmp(one));
    // So many gaps stay; of several equally wide ones the first.
    let narrowest = gaps[STRETCHES - 2];
    let mut left = gaps[..STRETCHES - 1].iter().filter(|&&gap| gap == narrowest).count();
    ranges.dedup_by(|next, before| {
        let gap = next.start - before.end;
        let stays = gap > narrowest || gap == narrowest && left > 0;
        left -= usize::from(gap == narrowest && stays);
        if !stays {
            before.end = next.end;
        }
        !stays
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(range: Range<u64>) -> Part {
        let (start, end) = (range.start, range.end);
        Part { start, end, size: 1, piece: 1, grain: 3, ..Part::NOTHING }
    }

    #[test]
    fn a_digest_holds_every_part_and_the_widest_gaps() {
        let stretches = |ranges: &[Range<u64>]| {
            let parts: Vec<Part> = ranges.iter().cloned().map(part).collect();
            let digest = Digest::of(&parts);
            assert_eq!(Digest::decode(&digest.encode()), digest);
            digest.stretches
        };
        assert_eq!(stretches(&[]), []);
        assert_eq!(stretches(&[5..9, 0..3, 3..4]), [0..4, 5..9]);
        assert_eq!(stretches(&[0..9, 2..3, 4..12]), [0..12]);
        let far = [0..1, 10..11, 12..13, 30..31, 32..33, 50..51];
        assert_eq!(stretches(&far), [0..1, 10..13, 30..33, 50..51]);
        let even: Vec<Range<u64>> = (0..9).map(|n| 2 * n..2 * n + 1).collect();
        assert_eq!(stretches(&even), [0..1, 2..3, 4..5, 6..17]);
        assert_eq!(Digest::span(&[Digest::of(&[part(4..9)]), Digest::of(&[])]), Some(4..9));
        let nothing = Digest::of(&[Part { grain: 2, ..Part::NOTHING }]);
        assert_eq!((nothing.grain, nothing.orderly), (COARSEST, true));
        let some = Digest::of(&[Part::DONE, part(0..1)]);
        let all = Digest::decode(&Digest::of(&[Part::DONE, Part::DONE]).encode());
        assert_eq!((some.done, all.done, all.orderly), (false, true, true));
    }
}
