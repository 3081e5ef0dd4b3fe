//! What a rank tells its group about its part of a collective access, and what the group tells all
//! others.
//!
//! All ranks hear sums and bounds of all groups, whose size does not depend on how many there are.
//! Where each group is they hear only if that matters: not if the ranks go each for itself, and not
//! if every group is nearly everywhere.

use std::ops::Range;

use super::nodes::Nodes;
use super::windows::Territory;
use crate::engine::individual::Access;
use crate::engine::ranks::{Ranks, row, settle, split};
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
        let flags = i64::from(self.done) << 1 | i64::from(self.orderly);
        let rest = i64::from(self.grain) << 2 | flags;
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

/// Most stretches of the file that a group tells of.
const STRETCHES: usize = 4;

/// The facts about the parts of some ranks that all choose by: those of a group, or of all groups.
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
    /// From their first byte to the last; empty if there is none.
    pub span: Range<u64>,
    /// How much of the file a group reaches, or the one that reaches the least.
    pub reach: u64,
}

/// A group that reaches all but this part of the span is taken to be everywhere. Where it is not it
/// says so window by window, which is little beside what it sends elsewhere.
const MISSED: u64 = 16;

impl Digest {
    /// Of parts that have all been accessed.
    const ALL_DONE: Digest = Digest {
        size: 0,
        pieces: 0,
        grain: COARSEST,
        orderly: true,
        done: true,
        span: 0..0,
        reach: 0,
    };

    /// Of these parts.
    pub fn of(parts: &[Part]) -> Digest {
        let some = || parts.iter().filter(|part| part.size > 0);
        let stretches = few_stretches(parts);
        let start = stretches.first().map_or(0, |first| first.start);
        Digest {
            size: parts.iter().map(|part| part.size).sum(),
            pieces: parts.iter().map(|part| part.size / part.piece.max(1)).sum(),
            grain: some().map(|part| part.grain).min().unwrap_or(COARSEST),
            orderly: parts.iter().all(|part| part.orderly),
            done: parts.iter().all(|part| part.done),
            span: start..stretches.last().map_or(start, |last| last.end),
            reach: stretches.iter().map(|stretch| stretch.end - stretch.start).sum(),
        }
    }

    /// Whether every group has told of nearly all that any has.
    fn is_everywhere(&self) -> bool {
        let span = self.span.end - self.span.start;
        self.reach >= span - span / MISSED
    }

    /// What is summed over the groups.
    fn sums(&self) -> Box<[i64]> {
        Box::new([self.size as i64, self.pieces as i64])
    }

    /// That of which the largest counts.
    fn bounds(&self) -> [i64; 6] {
        let (start, end) = match self.span.is_empty() {
            true => (i64::MIN, i64::MIN),
            false => (-(self.span.start as i64), self.span.end as i64),
        };
        let (grain, reach) = (-i64::from(self.grain), -(self.reach as i64));
        let flags = [i64::from(!self.orderly), i64::from(!self.done)];
        [start, end, grain, reach, flags[0], flags[1]]
    }

    /// Of all groups, from those.
    fn combined(sums: &[i64], bounds: &[i64]) -> Digest {
        let span = match bounds[0] {
            i64::MIN => 0..0,
            start => -start as u64..bounds[1] as u64,
        };
        Digest {
            size: sums[0] as u64,
            pieces: sums[1] as u64,
            grain: -bounds[2] as u32,
            orderly: bounds[4] == 0,
            done: bounds[5] == 0,
            span,
            reach: -bounds[3] as u64,
        }
    }
}

/// Tells this rank's part if it has one: gives those of its group, and the facts about all. Where all
/// ranks are one group and done there are no parts left.
pub async fn share_parts<R: Ranks, T>(
    ranks: &R,
    groups: &Nodes,
    verdict: Result<T>,
    part: impl Fn(&T) -> Part,
) -> Result<(T, Vec<Part>, Digest)> {
    let row = row(ranks, &verdict, |value| part(value).encode());
    let own = ranks.gather_in_group(groups, row).await?;
    if groups.count() == 1 && are_done(&own) {
        // Tiny accesses, of which there are many.
        return verdict.map(|value| (value, Vec::new(), Digest::ALL_DONE));
    }
    let (mut failed, own) = split::<{ Part::NUMBERS }>(&own);
    let parts: Vec<Part> = own.iter().map(|numbers| Part::decode(numbers)).collect();
    let mut digest = Digest::of(&parts);
    if groups.count() > 1 {
        let most = [failed].into_iter().chain(digest.bounds()).collect();
        let (sums, most) = ranks.combine(groups, digest.sums(), most).await?;
        (failed, digest) = (most[0], Digest::combined(&sums, &most[1..]));
    }
    settle(ranks, failed, verdict).await.map(|value| (value, parts, digest))
}

/// Whether these rows say that nobody has failed and all are done.
fn are_done(rows: &[i64]) -> bool {
    let done = Part::DONE.encode();
    rows.chunks_exact(1 + Part::NUMBERS).all(|row| row[0] == 0 && row[1..] == done)
}

/// Finds out where all groups are, as far as it matters. All ranks call it.
pub async fn explore<R: Ranks>(
    ranks: &R,
    groups: &Nodes,
    parts: &[Part],
    all: &Digest,
) -> Result<Territory> {
    let stretches = if groups.count() == 1 {
        // Nobody else has to know them, so there may be many.
        vec![stretches(parts)]
    } else if all.is_everywhere() {
        vec![vec![all.span.clone()]]
    } else {
        let told = ranks.gather_of_groups(groups, encode(&few_stretches(parts))).await?;
        told.chunks_exact(2 * STRETCHES).map(decode).collect()
    };
    Ok(Territory { parts: parts.iter().map(Part::range).collect(), stretches })
}

/// Stretches as numbers for an exchange.
fn encode(stretches: &[Range<u64>]) -> Box<[i64]> {
    let mut numbers = vec![0; 2 * STRETCHES];
    for (pair, stretch) in numbers.chunks_exact_mut(2).zip(stretches) {
        pair.copy_from_slice(&[stretch.start as i64, stretch.end as i64]);
    }
    numbers.into()
}

/// Back from numbers.
fn decode(numbers: &[i64]) -> Vec<Range<u64>> {
    let stretches = numbers.chunks_exact(2).map(|pair| pair[0] as u64..pair[1] as u64);
    stretches.filter(|stretch| !stretch.is_empty()).collect()
}

/// Where a group tells that its ranks are: in order, apart from each other, and with nothing
/// outside. What is between two parts may count too if it is little.
fn few_stretches(parts: &[Part]) -> Vec<Range<u64>> {
    let mut stretches = stretches(parts);
    make_few(&mut stretches);
    stretches
}

/// Where the ranks of these parts are: in order, and apart from each other.
fn stretches(parts: &[Part]) -> Vec<Range<u64>> {
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

    fn parts(ranges: &[Range<u64>]) -> Vec<Part> {
        ranges.iter().cloned().map(part).collect()
    }

    #[test]
    fn a_group_tells_of_every_part_and_the_widest_gaps() {
        let told = |ranges: &[Range<u64>]| {
            let few = few_stretches(&parts(ranges));
            assert_eq!(decode(&encode(&few)), few);
            few
        };
        assert_eq!(told(&[]), []);
        assert_eq!(told(&[5..9, 0..3, 3..4]), [0..4, 5..9]);
        assert_eq!(told(&[0..9, 2..3, 4..12]), [0..12]);
        let far = [0..1, 10..11, 12..13, 30..31, 32..33, 50..51];
        assert_eq!(told(&far), [0..1, 10..13, 30..33, 50..51]);
        let even: Vec<Range<u64>> = (0..9).map(|n| 2 * n..2 * n + 1).collect();
        assert_eq!(told(&even), [0..1, 2..3, 4..5, 6..17]);
    }

    /// What all ranks hear of groups with these parts.
    fn combined(groups: &[&[Part]]) -> Digest {
        let digests: Vec<Digest> = groups.iter().map(|parts| Digest::of(parts)).collect();
        let sums: Vec<i64> =
            (0..2).map(|place| digests.iter().map(|digest| digest.sums()[place]).sum()).collect();
        let most = |place: usize| digests.iter().map(|digest| digest.bounds()[place]).max();
        let bounds: Vec<i64> = (0..6).filter_map(most).collect();
        Digest::combined(&sums, &bounds)
    }

    #[test]
    fn groups_combine_to_what_all_their_parts_are() {
        let nothing = [Part { grain: 2, ..Part::NOTHING }];
        let (near, far) = (parts(&[0..20, 30..40]), parts(&[90..100]));
        let both = combined(&[&near, &nothing, &far]);
        assert_eq!((both.size, both.pieces, both.grain), (3, 3, 3));
        assert_eq!((both.span, both.reach), (0..100, 0));
        assert_eq!(combined(&[&near, &far]).reach, 10);
        assert_eq!(Digest::of(&[Part::DONE; 3]), Digest::ALL_DONE);
        for own in [&near[..], &nothing, &[Part::DONE], &[Part::DONE, part(0..1)]] {
            assert_eq!(combined(&[own]), Digest::of(own));
            let all = combined(&[own, &[Part::DONE]]);
            assert_eq!(all.done, own.iter().all(|part| part.done));
        }
        assert!(!combined(&[&[Part { orderly: false, ..part(0..1) }], &far]).orderly);
    }

    #[test]
    fn groups_are_everywhere_if_each_is() {
        let everywhere = |groups: &[&[Range<u64>]]| {
            let groups: Vec<Vec<Part>> = groups.iter().map(|group| parts(group)).collect();
            let groups: Vec<&[Part]> = groups.iter().map(|group| &group[..]).collect();
            combined(&groups).is_everywhere()
        };
        assert!(everywhere(&[&[0..1600], &[100..1600], &[0..700, 720..1600]]));
        assert!(!everywhere(&[&[0..1600], &[101..1600]]));
        assert!(!everywhere(&[&[0..1600], &[]]));
        assert!(!everywhere(&[&[0..800], &[800..1600]]));
        assert!(!everywhere(&[&[0..100, 1500..1600], &[0..1600]]));
        assert!(everywhere(&[&[], &[]]));
    }
}
