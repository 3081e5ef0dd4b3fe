//! Typemaps as small trees: where the bytes of a datatype lie, without listing its pieces.
//!
//! A datatype of a billion pieces is a few nodes. Nodes are canonical: each starts at its own
//! origin (the displacement of its first byte in typemap order is 0), neighbours that touch are
//! one run, and a list of equal things at equal distances is a repetition. So two spellings of
//! one layout usually become one tree, and "is it contiguous?" is a look at one node.

use super::node::{Node, Placed, irregular_runs, joint, reach, repeated_blocks};

/// What a basic datatype holds, as far as a data representation must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Byte,
    Character,
    Wide,
    Logical,
    Signed,
    Unsigned,
    /// C's `long`, which has a size of its own in external32.
    Long,
    UnsignedLong,
    Float,
    /// C's `long double`, which on some machines is not an IEEE format.
    LongDouble,
}

/// A basic datatype: kind and size in this machine's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// What it holds.
    pub kind: Kind,
    /// How many bytes it takes here.
    pub size: u32,
}

impl Element {
    /// One byte that means nothing.
    pub const BYTE: Element = Element { kind: Kind::Byte, size: 1 };
}

/// How the pieces of a typemap follow each other in the order of the typemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Monotony {
    /// Some piece starts before the one that precedes it.
    None,
    /// No piece starts before its predecessor, but some overlap.
    Nondecreasing,
    /// Each piece starts at or after the end of its predecessor.
    Increasing,
}

/// Where the bytes of one datatype lie. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Typemap {
    /// `None` when there are no bytes at all.
    pub(super) data: Option<Placed>,
    lb: i64,
    extent: i64,
}

impl Typemap {
    /// No bytes and no extent.
    pub fn empty() -> Typemap {
        Typemap { data: None, lb: 0, extent: 0 }
    }

    /// One basic datatype.
    pub fn element(element: Element) -> Typemap {
        let size = u64::from(element.size);
        let element = if element.kind == Kind::Byte { Element::BYTE } else { element };
        let data = (size > 0).then(|| Placed { shift: 0, node: Node::run(element, size) });
        Typemap { data, lb: 0, extent: size as i64 }
    }

    /// `size` bytes that mean nothing.
    pub fn bytes(size: u64) -> Typemap {
        Typemap::element(Element::BYTE).contiguous(size)
    }

    /// `count` of them, each an extent after the one before.
    pub fn contiguous(&self, count: u64) -> Typemap {
        self.hvector(1, count, 0)
    }

    /// `count` blocks of `blocklength`, `stride` bytes from start to start.
    pub fn hvector(&self, count: u64, blocklength: u64, stride: i64) -> Typemap {
        if count == 0 || blocklength == 0 {
            return Typemap::empty();
        }
        let block = self.data.clone().and_then(|data| data.repeat(blocklength, self.extent));
        let data = block.and_then(|block| block.repeat(count, stride));
        let mut bounds = Bounds::default();
        bounds.add(0, self, blocklength);
        bounds.add(reach(count, stride), self, blocklength);
        bounds.bound(data)
    }

    /// Blocks of (displacement, blocklength).
    pub fn hindexed(&self, blocks: &[(i64, u64)]) -> Typemap {
        let mut bounds = Bounds::default();
        for &(displacement, blocklength) in blocks {
            bounds.add(displacement, self, blocklength);
        }
        let Some(child) = &self.data else { return bounds.bound(None) };
        let contiguous = child.node.as_run().filter(|_| self.extent == child.node.size as i64);
        let data = match contiguous {
            Some(element) => irregular_runs(child, element, blocks),
            None => Placed::list(repeated_blocks(child, self.extent, blocks)),
        };
        bounds.bound(data)
    }

    /// Members of (displacement, blocklength, type).
    pub fn structure(members: &[(i64, u64, Typemap)]) -> Typemap {
        let mut bounds = Bounds::default();
        let mut entries = Vec::with_capacity(members.len());
        for (displacement, blocklength, typemap) in members {
            bounds.add(*displacement, typemap, *blocklength);
            let data = typemap.data.clone();
            if let Some(block) = data.and_then(|data| data.repeat(*blocklength, typemap.extent)) {
                let shift = block.shift.saturating_add(*displacement);
                entries.push(Placed { shift, node: block.node });
            }
        }
        bounds.bound(Placed::list(entries))
    }

    /// The same bytes with other bounds.
    pub fn resized(&self, lb: i64, extent: i64) -> Typemap {
        Typemap { data: self.data.clone(), lb, extent }
    }

    /// Bytes of data.
    pub fn size(&self) -> u64 {
        self.data.as_ref().map_or(0, |data| data.node.size)
    }

    /// Lower bound.
    pub fn lb(&self) -> i64 {
        self.lb
    }

    /// Distance from one to the next.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Sum over all elements of what `weight` gives for each.
    pub fn weigh(&self, weight: &impl Fn(Element) -> u64) -> u64 {
        self.data.as_ref().map_or(0, |data| data.node.weigh(weight))
    }

    /// Smallest displacement of any byte, and one past the largest.
    pub fn span(&self) -> (i64, i64) {
        self.data.as_ref().map_or((0, 0), |data| {
            (data.shift.saturating_add(data.node.first), data.shift.saturating_add(data.node.end))
        })
    }

    /// How the pieces follow each other, also from one repetition to the next.
    pub fn monotony(&self) -> Monotony {
        match &self.data {
            None => Monotony::Increasing,
            Some(data) => joint(data.node.monotony, &data.node, self.extent, &data.node),
        }
    }

    /// The same for a single one.
    pub fn inner_monotony(&self) -> Monotony {
        self.data.as_ref().map_or(Monotony::Increasing, |data| data.node.monotony)
    }

    /// Contiguous pieces in one of them; never less than there are.
    pub fn pieces(&self) -> u64 {
        self.data.as_ref().map_or(0, |data| data.node.pieces)
    }

    /// Every piece, also of later repetitions, starts at a multiple of `1 << grain` bytes from
    /// displacement 0 and is a multiple of that long.
    pub fn grain(&self) -> u32 {
        self.data.as_ref().map_or(u64::BITS, |data| {
            data.node.grain.min(data.shift.trailing_zeros()).min(self.extent.trailing_zeros())
        })
    }

    /// Whether any number of them is one run that starts at displacement `shift`.
    pub fn contiguous_at(&self) -> Option<i64> {
        let data = self.data.as_ref()?;
        data.node.as_run().filter(|_| data.node.size as i64 == self.extent).map(|_| data.shift)
    }

    /// Whether one of them is one run; where it starts.
    pub fn run_at(&self) -> Option<i64> {
        let data = self.data.as_ref()?;
        data.node.as_run().map(|_| data.shift)
    }

    /// Bytes of data at displacements below `limit`, over endless repetition from 0 on.
    pub fn size_before(&self, limit: i64) -> u64 {
        let Some(data) = &self.data else { return 0 };
        let limit = limit.saturating_sub(data.shift);
        if limit <= data.node.first {
            return 0;
        }
        if self.extent <= 0 {
            return data.node.size_before(limit);
        }
        let whole = (limit.saturating_sub(data.node.first) - 1) / self.extent;
        let before = (whole as u64).saturating_mul(data.node.size);
        before.saturating_add(data.node.size_before(limit - whole * self.extent))
    }
}

/// Lower and upper bound as a constructor without explicit bounds gives them. In numbers that hold
/// the sum of a lower bound and an extent, whatever both are.
#[derive(Default)]
struct Bounds {
    range: Option<(i128, i128)>,
}

impl Bounds {
    fn add(&mut self, displacement: i64, typemap: &Typemap, blocklength: u64) {
        if blocklength == 0 {
            return;
        }
        let extent = i128::from(typemap.extent);
        let reach = i128::from(blocklength - 1) * extent;
        let first = i128::from(displacement) + i128::from(typemap.lb);
        let (low, high) = (first + reach.min(0), first + extent + reach.max(0));
        self.range = Some(match self.range {
            None => (low, high),
            Some((lb, ub)) => (lb.min(low), ub.max(high)),
        });
    }

    fn bound(self, data: Option<Placed>) -> Typemap {
        let (lb, ub) = self.range.unwrap_or((0, 0));
        Typemap { data, lb: saturated(lb), extent: saturated(ub.saturating_sub(lb)) }
    }
}

/// The nearest number that MPI has for bounds.
fn saturated(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
