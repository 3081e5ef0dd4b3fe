//! Typemaps: a description is built twice, as a tree of ours and as a plain list of members in
//! numbers that cannot overflow, and a walk must meet the same bytes.

use std::sync::Arc;

use mpiio_rs::view::array::{Darray, Distribution, Order};
use mpiio_rs::view::cursor::Cursor;
use mpiio_rs::view::typemap::{Element, Kind, Monotony, Typemap};

use super::Numbers;

/// Nothing an MPI makes has more data.
const LARGEST: i128 = i64::MAX as i128;

/// Types up to this size are looked at byte by byte.
const SMALL: i128 = 600;

/// Copies of other things at places, or bytes in a row where there are none.
#[derive(Clone)]
pub struct Plain {
    members: Arc<[Member]>,
    pub size: i128,
    pub lb: i128,
    pub extent: i128,
    /// No sum of displacements within is larger, whatever its order.
    reach: i128,
    /// Some displacement or distance of the description is negative.
    negative: bool,
}

/// `count` children, `step` bytes from one to the next.
struct Member {
    displacement: i128,
    count: i128,
    step: i128,
    child: Plain,
}

impl Plain {
    fn bytes(size: i128) -> Plain {
        Plain { members: [].into(), size, lb: 0, extent: size, reach: size, negative: false }
    }

    /// `None` where there is more than any MPI can count.
    fn of(members: impl IntoIterator<Item = Member>) -> Option<Plain> {
        let members: Arc<[Member]> = members.into_iter().filter(|m| m.count > 0).collect();
        let mut plain = Plain { members: [].into(), ..Plain::bytes(0) };
        let mut bounds: Option<(i128, i128)> = None;
        for Member { displacement, count, step, child } in members.iter() {
            plain.size += child.size.checked_mul(*count).filter(|size| *size <= LARGEST)?;
            let last = displacement.checked_add(step.checked_mul(count - 1)?)?;
            let low = displacement.min(&last).checked_add(child.lb)?;
            let high = displacement.max(&last).checked_add(child.lb)?.checked_add(child.extent)?;
            let (lb, ub) = bounds.unwrap_or((low, high));
            bounds = Some((lb.min(low), ub.max(high)));
            let far = displacement.abs().checked_add(step.abs().checked_mul(*count)?)?;
            plain.reach = plain.reach.max(far.checked_add(child.reach)?);
            plain.negative |= *displacement < 0 || *step < 0 || child.negative;
        }
        let (lb, ub) = bounds.unwrap_or((0, 0));
        let fits = plain.size <= LARGEST && plain.reach < 1 << 64;
        fits.then_some(Plain { members, lb, extent: ub - lb, ..plain })
    }

    /// Copies at (displacement, count), those of one block an extent apart.
    fn blocks(&self, blocks: &[(i128, i128)]) -> Option<Plain> {
        let member = |&(displacement, count): &(i128, i128)| Member {
            displacement,
            count,
            step: self.extent,
            child: self.clone(),
        };
        Plain::of(blocks.iter().map(member))
    }

    fn vector(&self, count: i128, blocklength: i128, stride: i128) -> Option<Plain> {
        let child = self.blocks(&[(0, blocklength)])?;
        if child.members.is_empty() {
            return Some(child);
        }
        Plain::of([Member { displacement: 0, count, step: stride, child }])
    }

    /// Displacement of data byte `position` of one of them.
    fn at(&self, mut position: i128) -> i128 {
        for member in self.members.iter() {
            let size = member.count * member.child.size;
            if position < size {
                let index = position / member.child.size;
                let inside = member.child.at(position % member.child.size);
                return member.displacement + index * member.step + inside;
            }
            position -= size;
        }
        position
    }

    /// The same where they follow each other without end.
    pub fn tiled_at(&self, position: i128) -> i128 {
        position / self.size * self.extent + self.at(position % self.size)
    }
}

/// A description, built twice.
pub struct Built {
    pub typemap: Typemap,
    pub plain: Plain,
}

impl Built {
    /// `None` where the description is of no type that an MPI would make.
    pub fn read(numbers: &mut Numbers<'_>) -> Option<Built> {
        let mut built = Built::element(numbers);
        for _ in 0..numbers.below(5) {
            built = built.grow(numbers).filter(|built| built.plain.extent.abs() <= LARGEST)?;
        }
        Some(built)
    }

    fn element(numbers: &mut Numbers<'_>) -> Built {
        let (kind, size) = [
            (Kind::Byte, 1),
            (Kind::Signed, 4),
            (Kind::Float, 8),
            (Kind::Long, 8),
            (Kind::LongDouble, 16),
            (Kind::Byte, 12),
        ][numbers.below(6) as usize];
        let typemap = Typemap::element(Element { kind, size });
        Built { typemap, plain: Plain::bytes(size.into()) }
    }

    fn grow(&self, numbers: &mut Numbers<'_>) -> Option<Built> {
        match numbers.below(7) {
            0 => {
                let count = numbers.count();
                let plain = self.plain.blocks(&[(0, count.into())])?;
                Some(Built { typemap: self.typemap.contiguous(count), plain })
            }
            1 => {
                let (count, length, stride) = (numbers.count(), numbers.count(), numbers.number());
                let plain = self.plain.vector(count.into(), length.into(), stride.into())?;
                Some(Built { typemap: self.typemap.hvector(count, length, stride), plain })
            }
            2 => {
                let blocks = block_list(numbers);
                let wide = blocks.iter().map(|&(place, count)| (place.into(), count.into()));
                let plain = self.plain.blocks(&wide.collect::<Vec<_>>())?;
                Some(Built { typemap: self.typemap.hindexed(&blocks), plain })
            }
            3 => self.structure(numbers),
            4 => self.subarray(numbers),
            5 => self.darray(numbers),
            _ => {
                let (lb, extent) = (numbers.number(), numbers.number());
                let plain = Plain { lb: lb.into(), extent: extent.into(), ..self.plain.clone() };
                Some(Built { typemap: self.typemap.resized(lb, extent), plain })
            }
        }
    }

    /// Blocks of this type and of an element in turn.
    fn structure(&self, numbers: &mut Numbers<'_>) -> Option<Built> {
        let other = Built::element(numbers);
        let (mut members, mut plain) = (Vec::new(), Vec::new());
        for (index, (displacement, count)) in block_list(numbers).into_iter().enumerate() {
            let built = if index % 2 == 0 { self } else { &other };
            members.push((displacement, count, built.typemap.clone()));
            plain.push(Member {
                displacement: displacement.into(),
                count: count.into(),
                step: built.plain.extent,
                child: built.plain.clone(),
            });
        }
        Some(Built { typemap: Typemap::structure(&members), plain: Plain::of(plain)? })
    }

    fn subarray(&self, numbers: &mut Numbers<'_>) -> Option<Built> {
        let dimensions = 1 + numbers.below(3) as usize;
        let (mut sizes, mut subsizes, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..dimensions {
            let size = 1 + numbers.below(5);
            let subsize = 1 + numbers.below(size);
            sizes.push(size);
            subsizes.push(subsize);
            starts.push(numbers.below(size - subsize + 1));
        }
        let order = order(numbers);
        let typemap = self.typemap.subarray(&sizes, &subsizes, &starts, order);
        let inside = |dimension: usize, index: u64| {
            (starts[dimension]..starts[dimension] + subsizes[dimension]).contains(&index)
        };
        Some(Built { typemap, plain: self.array(&sizes, order, inside)? })
    }

    fn darray(&self, numbers: &mut Numbers<'_>) -> Option<Built> {
        let dimensions = 1 + numbers.below(2) as usize;
        let (mut gsizes, mut psizes) = (Vec::new(), Vec::new());
        let (mut distribs, mut place) = (Vec::new(), Vec::new());
        for _ in 0..dimensions {
            let (size, processes) = (1 + numbers.below(7), 1 + numbers.below(3));
            gsizes.push(size);
            place.push(numbers.below(processes));
            psizes.push(processes);
            distribs.push(match numbers.below(4) {
                0 if processes == 1 => Distribution::None,
                0 | 1 => Distribution::Block(None),
                2 => Distribution::Block(Some(
                    size.div_ceil(processes).saturating_add(numbers.count()),
                )),
                _ => Distribution::Cyclic(Some(numbers.count().max(1))),
            });
        }
        let order = order(numbers);
        let size = psizes.iter().product();
        let rank = place.iter().zip(&psizes).fold(0, |rank, (place, size)| rank * size + place);
        let inside = |dimension: usize, index: u64| match distribs[dimension] {
            Distribution::None => true,
            Distribution::Block(block) => {
                let even = gsizes[dimension].div_ceil(psizes[dimension]);
                index / block.unwrap_or(even) == place[dimension]
            }
            Distribution::Cyclic(block) => {
                index / block.unwrap_or(1) % psizes[dimension] == place[dimension]
            }
        };
        let plain = self.array(&gsizes, order, inside)?;
        let distribs = distribs.clone();
        let darray = Darray { size, rank, gsizes: gsizes.clone(), distribs, psizes, order };
        Some(Built { typemap: self.typemap.darray(&darray), plain })
    }

    /// The elements of an array that lie `inside` in every dimension, in the order of memory.
    fn array(
        &self,
        sizes: &[u64],
        order: Order,
        inside: impl Fn(usize, u64) -> bool,
    ) -> Option<Plain> {
        let dimensions = 0..sizes.len();
        let fastest_first: Vec<usize> = match order {
            Order::C => dimensions.rev().collect(),
            Order::Fortran => dimensions.collect(),
        };
        let total: u64 = sizes.iter().product();
        let mut places = Vec::new();
        for number in 0..total {
            let mut rest = number;
            let all = fastest_first.iter().all(|&dimension| {
                let index = rest % sizes[dimension];
                rest /= sizes[dimension];
                inside(dimension, index)
            });
            if all {
                places.push((self.plain.extent.checked_mul(number.into())?, 1));
            }
        }
        let extent = self.plain.extent.checked_mul(total.into())?;
        Some(Plain { lb: self.plain.lb, extent, ..self.plain.blocks(&places)? })
    }
}

fn order(numbers: &mut Numbers<'_>) -> Order {
    if numbers.below(2) == 0 { Order::C } else { Order::Fortran }
}

/// Displacements and lengths; every other one only steps a little from the one before.
fn block_list(numbers: &mut Numbers<'_>) -> Vec<(i64, u64)> {
    let mut place: i64 = 0;
    let mut blocks = Vec::new();
    for _ in 0..numbers.below(7) {
        place = match numbers.below(2) {
            0 => place.saturating_add(numbers.number()),
            _ => numbers.number(),
        };
        blocks.push((place, numbers.count()));
    }
    blocks
}

pub fn check(data: &[u8]) {
    let numbers = &mut Numbers::new(data);
    let Some(built) = Built::read(numbers) else { return };
    let Built { typemap, plain } = &built;
    assert_eq!(i128::from(typemap.size()), plain.size, "size of {typemap:?}");
    let limit = numbers.number();
    if is_view(&built) {
        assert!(typemap.size_before(limit) <= typemap.size_before(limit.saturating_add(1)));
    }
    if plain.size == 0 {
        return;
    }
    if plain.reach.max(plain.extent.abs()).max(plain.lb.abs()) < LARGEST / 4 {
        bounds(&built);
    }
    walk(&built, numbers.number().unsigned_abs(), numbers);
    if plain.size <= SMALL {
        bytes(&built);
    }
}

fn is_view(Built { typemap, plain }: &Built) -> bool {
    let forward = typemap.monotony().min(typemap.inner_monotony()) > Monotony::None;
    forward && !plain.negative && plain.extent >= 0
}

fn bounds(Built { typemap, plain }: &Built) {
    assert_eq!((i128::from(typemap.lb()), i128::from(typemap.extent())), (plain.lb, plain.extent));
    let weight = |element: Element| u64::from(element.size);
    assert_eq!(i128::from(typemap.weigh(&weight)), plain.size);
}

/// From any position on in steps of any size. A view's place that is no offset is told as the
/// largest one, which is refused; types that go back and forth over more than all memory are none.
fn walk(built: &Built, from: u64, numbers: &mut Numbers<'_>) {
    let Built { typemap, plain } = built;
    let view = is_view(built);
    let mut cursor = Cursor::new(typemap, from);
    let mut position = i128::from(from);
    let end = position + SMALL;
    let tile = |position: i128| position / plain.size * plain.extent;
    while position < end && position < LARGEST {
        // Distances between members may be twice as long as the way to each.
        let exact = 4 * plain.reach + tile(position).abs() < LARGEST;
        let limit = 1 + numbers.below(50) * numbers.below(8);
        let step = cursor.next(limit);
        assert!(step.count > 0 && step.length > 0 && step.size() <= limit, "{step:?}");
        for piece in 0..step.count {
            for byte in [0, step.length - 1] {
                let offset = piece as i128 * i128::from(step.stride) + i128::from(byte);
                let place = i128::from(step.displacement) + offset;
                let expected = plain.tiled_at(position + i128::from(piece * step.length + byte));
                if exact || view && expected <= LARGEST {
                    assert_eq!(place, expected, "byte {position} of {typemap:?}");
                } else if view {
                    assert!(place >= LARGEST, "byte {position} of {typemap:?} at {place}");
                }
            }
        }
        position += i128::from(step.size());
        assert_eq!(i128::from(cursor.position()), position);
    }
}

/// Everything that can be said of two tiles when each byte is known.
fn bytes(Built { typemap, plain }: &Built) {
    if 4 * plain.reach + 2 * plain.extent.abs() >= LARGEST {
        return;
    }
    let places: Vec<i128> = (0..2 * plain.size).map(|byte| plain.tiled_at(byte)).collect();
    let (one, _) = places.split_at(plain.size as usize);
    let span = (one.iter().min().copied(), one.iter().max().map(|last| last + 1));
    let (first, end) = typemap.span();
    assert_eq!(span, (Some(first.into()), Some(end.into())), "span of {typemap:?}");
    let increases = |places: &[i128]| places.windows(2).all(|pair| pair[0] < pair[1]);
    assert_eq!(typemap.inner_monotony() == Monotony::Increasing, increases(one), "{typemap:?}");
    assert_eq!(typemap.monotony() == Monotony::Increasing, increases(&places), "{typemap:?}");
    let runs = 1 + one.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
    assert!(typemap.pieces() >= runs as u64, "{runs} runs in {typemap:?}");
    if let Some(start) = typemap.contiguous_at() {
        let start = i128::from(start);
        assert!(places.iter().zip(start..).all(|(&place, byte)| place == byte), "{typemap:?}");
    }
    if let Some(start) = typemap.run_at() {
        assert!(one.iter().zip(i128::from(start)..).all(|(&place, byte)| place == byte));
    }
    if typemap.monotony() == Monotony::Increasing {
        for limit in places.iter().flat_map(|&place| [place, place + 1]) {
            let before = places.partition_point(|&place| place < limit) as u64;
            assert_eq!(typemap.size_before(limit as i64), before, "{typemap:?} before {limit}");
        }
    }
}
