//! Subarrays and distributed arrays, as repetitions of repetitions.

use super::typemap::Typemap;

/// Which dimension of an array changes fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last one.
    C,
    /// The first one.
    Fortran,
}

/// How one dimension of a distributed array is dealt to the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Not at all.
    None,
    /// One block each, of this many elements or of the smallest size that covers the array.
    Block(Option<u64>),
    /// Blocks of this many elements (1 unless given) in turn.
    Cyclic(Option<u64>),
}

/// The arguments of `MPI_Type_create_darray`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Darray {
    /// Processes that share the array.
    pub size: u64,
    /// Which of them this is.
    pub rank: u64,
    /// Elements of the whole array in each dimension.
    pub gsizes: Vec<u64>,
    /// How each dimension is dealt.
    pub distribs: Vec<Distribution>,
    /// Processes in each dimension.
    pub psizes: Vec<u64>,
    /// Which dimension changes fastest.
    pub order: Order,
}

/// Indices of dimensions from the one that changes fastest.
fn fastest_first(dimensions: usize, order: Order) -> Box<dyn Iterator<Item = usize>> {
    match order {
        Order::C => Box::new((0..dimensions).rev()),
        Order::Fortran => Box::new(0..dimensions),
    }
}

impl Typemap {
    /// The part `starts .. starts + subsizes` of an array of `sizes`, with the whole's extent.
    pub fn subarray(
        &self,
        sizes: &[u64],
        subsizes: &[u64],
        starts: &[u64],
        order: Order,
    ) -> Typemap {
        let mut part = self.clone();
        let mut pitch = self.extent();
        let mut shift: i64 = 0;
        for dimension in fastest_first(sizes.len(), order) {
            part = part.hvector(subsizes[dimension], 1, pitch);
            shift = shift.saturating_add((starts[dimension] as i64).saturating_mul(pitch));
            pitch = pitch.saturating_mul(sizes[dimension] as i64);
        }
        part.hindexed(&[(shift, 1)]).resized(self.lb(), pitch)
    }

    /// One process's share of a distributed array, with the whole's extent.
    pub fn darray(&self, darray: &Darray) -> Typemap {
        let coordinates = coordinates(darray);
        let mut part = self.clone();
        let mut pitch = self.extent();
        for dimension in fastest_first(darray.gsizes.len(), darray.order) {
            let blocks = share(
                darray.gsizes[dimension],
                darray.distribs[dimension],
                darray.psizes[dimension],
                coordinates[dimension],
            );
            part = blocks.place(&part, pitch);
            pitch = pitch.saturating_mul(darray.gsizes[dimension] as i64);
        }
        part.resized(self.lb(), pitch)
    }
}

/// A process's place in the grid: ranks are laid out in C order, whatever the array's order is.
fn coordinates(darray: &Darray) -> Vec<u64> {
    let mut rest = darray.rank;
    let mut coordinates = vec![0; darray.psizes.len()];
    for (dimension, &size) in darray.psizes.iter().enumerate().rev() {
        coordinates[dimension] = rest % size;
        rest /= size;
    }
    coordinates
}

/// What a process owns of one dimension: `whole` blocks of `length`, one per `step` elements
/// from `start` on, and then `rest` elements of a cut block.
struct Share {
    start: u64,
    whole: u64,
    length: u64,
    step: u64,
    rest: u64,
}

fn share(size: u64, distribution: Distribution, processes: u64, coordinate: u64) -> Share {
    let length = match distribution {
        Distribution::None => {
            return Share { start: 0, whole: 1, length: size, step: size, rest: 0 };
        }
        Distribution::Block(given) => given.unwrap_or(size.div_ceil(processes)).max(1),
        Distribution::Cyclic(given) => given.unwrap_or(1).max(1),
    };
    let step = length.saturating_mul(processes);
    let start = coordinate.saturating_mul(length);
    let reach = size.saturating_sub(start);
    let whole = if reach < length { 0 } else { (reach - length) / step + 1 };
    let rest = reach.saturating_sub(whole.saturating_mul(step)).min(length);
    Share { start, whole, length, step, rest }
}

impl Share {
    /// `part` stands for one element; elements of this dimension are `pitch` bytes apart.
    fn place(&self, part: &Typemap, pitch: i64) -> Typemap {
        let bytes =
            |elements: u64| i64::try_from(elements).unwrap_or(i64::MAX).saturating_mul(pitch);
        let block = |length: u64| part.hvector(length, 1, pitch);
        let whole = block(self.length).hvector(self.whole, 1, bytes(self.step));
        let rest = self.start.saturating_add(self.whole.saturating_mul(self.step));
        Typemap::structure(&[(bytes(self.start), 1, whole), (bytes(rest), 1, block(self.rest))])
    }
}
