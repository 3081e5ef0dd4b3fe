//! Typemaps as small trees: where the bytes of a datatype lie, without listing its pieces.
//!
//! A datatype of a billion pieces is a few nodes. Nodes are canonical: each starts at its own
//! origin (the displacement of its first byte in typemap order is 0), neighbours that touch are
//! one run, and a list of equal things at equal distances is a repetition. So two spellings of
//! one layout usually become one tree, and "is it contiguous?" is a look at one node.

use std::sync::Arc;

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

/// A subtree. Displacements are relative to its origin, its first byte.
#[derive(Debug)]
pub struct Node {
    pub(super) shape: Shape,
    /// Bytes of data.
    pub(super) size: u64,
    /// Smallest displacement of any byte (zero or negative: the origin is one of them).
    pub(super) first: i64,
    /// One past the largest displacement of any byte.
    pub(super) end: i64,
    /// Where the last piece starts, in typemap order.
    pub(super) last: i64,
    /// Contiguous pieces, as far as the tree can tell.
    pub(super) pieces: u64,
    pub(super) monotony: Monotony,
}

#[derive(Debug)]
pub(super) enum Shape {
    /// `size` bytes in a row, each `element.size` of them one element.
    Run { element: Element },
    /// `count` children, each `stride` bytes after the one before.
    Repeat { child: Arc<Node>, count: u64, stride: i64 },
    /// Runs at irregular places: the index lists of the caller's type, and no more.
    Blocks { element: Element, displacements: Box<[i64]>, lengths: Lengths },
    /// Unlike children at irregular places. `ends[i]` is the data in children 0 to i.
    Members { displacements: Box<[i64]>, ends: Box<[u64]>, children: Box<[Arc<Node>]> },
}

/// Bytes in each block of a list.
#[derive(Debug)]
pub(super) enum Lengths {
    /// All alike.
    Constant(u64),
    /// `ends[i]` is the data in blocks 0 to i.
    Ends(Box<[u64]>),
}

/// A node at a place; the canonical form keeps the place outside the node.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) shift: i64,
    pub(super) node: Arc<Node>,
}

/// Where the bytes of one datatype lie. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Typemap {
    /// `None` when there are no bytes at all.
    pub(super) data: Option<Placed>,
    lb: i64,
    extent: i64,
}

impl Node {
    fn run(element: Element, size: u64) -> Arc<Node> {
        Arc::new(Node {
            shape: Shape::Run { element },
            size,
            first: 0,
            end: size as i64,
            last: 0,
            pieces: 1,
            monotony: Monotony::Increasing,
        })
    }

    fn repeat(child: Arc<Node>, count: u64, stride: i64) -> Arc<Node> {
        let reach = (count as i64 - 1).saturating_mul(stride);
        let monotony = joint(child.monotony, &child, stride, &child);
        Arc::new(Node {
            size: child.size.saturating_mul(count),
            first: child.first.saturating_add(reach.min(0)),
            end: child.end.saturating_add(reach.max(0)),
            last: child.last.saturating_add(reach),
            pieces: child.pieces.saturating_mul(count),
            monotony,
            shape: Shape::Repeat { child, count, stride },
        })
    }

    fn members(entries: Vec<Placed>) -> Arc<Node> {
        let mut node = Node {
            shape: Shape::Run { element: Element::BYTE },
            size: 0,
            first: i64::MAX,
            end: i64::MIN,
            last: 0,
            pieces: 0,
            monotony: Monotony::Increasing,
        };
        let mut ends = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let child = &entry.node;
            node.monotony = match index.checked_sub(1).map(|before| &entries[before]) {
                None => child.monotony,
                Some(before) => {
                    let step = entry.shift - before.shift;
                    joint(node.monotony.min(child.monotony), &before.node, step, child)
                }
            };
            node.size = node.size.saturating_add(child.size);
            node.first = node.first.min(entry.shift + child.first);
            node.end = node.end.max(entry.shift + child.end);
            node.last = entry.shift + child.last;
            node.pieces = node.pieces.saturating_add(child.pieces);
            ends.push(node.size);
        }
        node.shape = Shape::Members {
            displacements: entries.iter().map(|entry| entry.shift).collect(),
            ends: ends.into(),
            children: entries.into_iter().map(|entry| entry.node).collect(),
        };
        Arc::new(node)
    }

    fn blocks(element: Element, displacements: Vec<i64>, lengths: Vec<u64>) -> Arc<Node> {
        let mut monotony = Monotony::Increasing;
        let (mut first, mut end) = (i64::MAX, i64::MIN);
        for (index, (&displacement, &length)) in displacements.iter().zip(&lengths).enumerate() {
            if let Some(before) = index.checked_sub(1) {
                let step = displacement - displacements[before];
                monotony = monotony.min(step_monotony(step, 0, lengths[before] as i64, 0));
            }
            first = first.min(displacement);
            end = end.max(displacement + length as i64);
        }
        let constant = lengths.iter().all(|&length| length == lengths[0]);
        let size = lengths.iter().sum();
        let last = displacements[displacements.len() - 1];
        let pieces = lengths.len() as u64;
        let lengths = if constant {
            Lengths::Constant(lengths[0])
        } else {
            let sums = lengths.iter().scan(0, |sum, &length| {
                *sum += length;
                Some(*sum)
            });
            Lengths::Ends(sums.collect())
        };
        let shape = Shape::Blocks { element, displacements: displacements.into(), lengths };
        Arc::new(Node { shape, size, first, end, last, pieces, monotony })
    }

    fn as_run(&self) -> Option<Element> {
        match self.shape {
            Shape::Run { element } => Some(element),
            _ => None,
        }
    }

    fn weigh(&self, weight: &impl Fn(Element) -> u64) -> u64 {
        let run = |element: Element, size: u64| size / u64::from(element.size) * weight(element);
        match &self.shape {
            Shape::Run { element } | Shape::Blocks { element, .. } => run(*element, self.size),
            Shape::Repeat { child, count, .. } => child.weigh(weight) * count,
            Shape::Members { children, .. } => children.iter().map(|c| c.weigh(weight)).sum(),
        }
    }

    /// Bytes of data at displacements below `limit`; for typemaps whose pieces do not go back.
    pub(super) fn size_before(&self, limit: i64) -> u64 {
        if limit >= self.end {
            return self.size;
        }
        if limit <= self.first {
            return 0;
        }
        match &self.shape {
            Shape::Run { .. } => limit as u64,
            Shape::Repeat { child, count, stride } => {
                if *stride <= 0 {
                    return 0;
                }
                // Children that start below the limit; all but the last lie below it as a whole.
                let started = ((limit - child.first - 1) / stride + 1).clamp(0, *count as i64);
                let whole = (started - 1).max(0);
                whole as u64 * child.size + child.size_before(limit - whole * stride)
            }
            Shape::Blocks { displacements, lengths, .. } => {
                let started = displacements.partition_point(|&start| start < limit);
                let Some(index) = started.checked_sub(1) else { return 0 };
                let (before, length) = lengths.at(index);
                before + length.min((limit - displacements[index]) as u64)
            }
            Shape::Members { displacements, ends, children } => {
                let starts = |i: usize| displacements[i] + children[i].first;
                let indices = 0..displacements.len();
                let started = partition(indices, |i| starts(i) < limit);
                let Some(index) = started.checked_sub(1) else { return 0 };
                let before = if index == 0 { 0 } else { ends[index - 1] };
                before + children[index].size_before(limit - displacements[index])
            }
        }
    }
}

impl Lengths {
    /// Data before block `index`, and in it.
    pub(super) fn at(&self, index: usize) -> (u64, u64) {
        match self {
            Lengths::Constant(length) => (index as u64 * length, *length),
            Lengths::Ends(ends) => {
                let before = if index == 0 { 0 } else { ends[index - 1] };
                (before, ends[index] - before)
            }
        }
    }

    /// The block that holds data byte `position`.
    pub(super) fn find(&self, position: u64) -> usize {
        match self {
            Lengths::Constant(length) => (position / length) as usize,
            Lengths::Ends(ends) => ends.partition_point(|&end| end <= position),
        }
    }
}

fn partition(range: std::ops::Range<usize>, below: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if below(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

fn step_monotony(step: i64, last: i64, end: i64, first: i64) -> Monotony {
    if step.saturating_add(first) >= end {
        Monotony::Increasing
    } else if step >= last {
        Monotony::Nondecreasing
    } else {
        Monotony::None
    }
}

/// Monotony of `next` placed `step` bytes after `before`, where both have at least `inner`.
fn joint(inner: Monotony, before: &Node, step: i64, next: &Node) -> Monotony {
    inner.min(step_monotony(step, before.last, before.end, next.first))
}

impl Placed {
    fn repeat(self, count: u64, stride: i64) -> Option<Placed> {
        if count == 0 {
            return None;
        }
        if count == 1 {
            return Some(self);
        }
        let node = match &self.node.shape {
            Shape::Run { element } if stride == self.node.size as i64 => {
                Node::run(*element, self.node.size * count)
            }
            Shape::Repeat { child, count: inner, stride: step }
                if stride == step.saturating_mul(*inner as i64) =>
            {
                Node::repeat(child.clone(), inner * count, *step)
            }
            _ => Node::repeat(self.node, count, stride),
        };
        Some(Placed { shift: self.shift, node })
    }

    /// The next entry starts where this one ends, and both are runs of one element.
    fn touches(&self, next: &Placed) -> Option<Element> {
        let element = self.node.as_run()?;
        let meets = self.shift + self.node.size as i64 == next.shift;
        (meets && next.node.as_run() == Some(element)).then_some(element)
    }

    /// Entries in typemap order, joined into as little as possible.
    fn list(entries: Vec<Placed>) -> Option<Placed> {
        let mut merged: Vec<Placed> = Vec::with_capacity(entries.len());
        for entry in entries {
            match merged.last_mut() {
                Some(last) if last.touches(&entry).is_some() => {
                    let element = last.node.as_run().unwrap_or(Element::BYTE);
                    last.node = Node::run(element, last.node.size + entry.node.size);
                }
                _ => merged.push(entry),
            }
        }
        if merged.len() <= 1 {
            return merged.pop();
        }
        let shift = merged[0].shift;
        for entry in &mut merged {
            entry.shift -= shift;
        }
        if let Some(element) = merged[0].node.as_run()
            && merged.iter().all(|entry| entry.node.as_run() == Some(element))
        {
            let displacements = merged.iter().map(|entry| entry.shift).collect();
            let lengths = merged.iter().map(|entry| entry.node.size).collect();
            return Some(Placed::runs(shift, element, displacements, lengths));
        }
        if let Some(stride) = constant_stride(merged.iter().map(|entry| entry.shift))
            && merged.iter().all(|entry| Arc::ptr_eq(&entry.node, &merged[0].node))
        {
            let count = merged.len() as u64;
            return Placed { shift, node: merged.swap_remove(0).node }.repeat(count, stride);
        }
        Some(Placed { shift, node: Node::members(merged) })
    }

    /// Runs of one element at `displacements` from `shift`, the first of which is 0.
    fn runs(shift: i64, element: Element, displacements: Vec<i64>, lengths: Vec<u64>) -> Placed {
        let equal = lengths.iter().all(|&length| length == lengths[0]);
        let stride = constant_stride(displacements.iter().copied());
        let node = match stride {
            Some(stride) if equal => {
                Node::repeat(Node::run(element, lengths[0]), lengths.len() as u64, stride)
            }
            _ => Node::blocks(element, displacements, lengths),
        };
        Placed { shift, node }
    }
}

fn constant_stride(mut displacements: impl Iterator<Item = i64>) -> Option<i64> {
    let mut before = displacements.next()?;
    let mut stride = None;
    for displacement in displacements {
        let step = displacement - before;
        if *stride.get_or_insert(step) != step {
            return None;
        }
        before = displacement;
    }
    stride
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
        bounds.add((count as i64 - 1).saturating_mul(stride), self, blocklength);
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
                entries.push(Placed { shift: block.shift + displacement, node: block.node });
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
        let whole = (limit - data.node.first - 1) / self.extent;
        whole as u64 * data.node.size + data.node.size_before(limit - whole * self.extent)
    }
}

/// Lower and upper bound as a constructor without explicit bounds gives them.
#[derive(Default)]
struct Bounds {
    range: Option<(i64, i64)>,
}

impl Bounds {
    fn add(&mut self, displacement: i64, typemap: &Typemap, blocklength: u64) {
        if blocklength == 0 {
            return;
        }
        let reach = (blocklength as i64 - 1).saturating_mul(typemap.extent);
        let low = displacement.saturating_add(typemap.lb).saturating_add(reach.min(0));
        let high = displacement
            .saturating_add(typemap.lb)
            .saturating_add(typemap.extent)
            .saturating_add(reach.max(0));
        self.range = Some(match self.range {
            None => (low, high),
            Some((lb, ub)) => (lb.min(low), ub.max(high)),
        });
    }

    fn bound(self, data: Option<Placed>) -> Typemap {
        let (lb, ub) = self.range.unwrap_or((0, 0));
        Typemap { data, lb, extent: ub - lb }
    }
}

/// Blocks of a contiguous child, neighbours joined on the way.
fn irregular_runs(child: &Placed, element: Element, blocks: &[(i64, u64)]) -> Option<Placed> {
    let mut displacements: Vec<i64> = Vec::with_capacity(blocks.len());
    let mut lengths: Vec<u64> = Vec::with_capacity(blocks.len());
    let mut shift = None;
    let mut next = None;
    for &(displacement, blocklength) in blocks {
        let length = blocklength.saturating_mul(child.node.size);
        if length == 0 {
            continue;
        }
        let start = displacement - *shift.get_or_insert(displacement);
        if next == Some(start) {
            *lengths.last_mut()? += length;
        } else {
            displacements.push(start);
            lengths.push(length);
        }
        next = Some(start + length as i64);
    }
    let shift = shift? + child.shift;
    if lengths.len() == 1 {
        return Some(Placed { shift, node: Node::run(element, lengths[0]) });
    }
    Some(Placed::runs(shift, element, displacements, lengths))
}

/// Blocks of a child with holes; blocks of one length share one node.
fn repeated_blocks(child: &Placed, extent: i64, blocks: &[(i64, u64)]) -> Vec<Placed> {
    let mut shapes: std::collections::HashMap<u64, Placed> = std::collections::HashMap::new();
    let mut entries = Vec::with_capacity(blocks.len());
    for &(displacement, blocklength) in blocks {
        if blocklength == 0 {
            continue;
        }
        let shape = shapes.entry(blocklength).or_insert_with(|| {
            child.clone().repeat(blocklength, extent).unwrap_or_else(|| child.clone())
        });
        entries.push(Placed { shift: displacement + shape.shift, node: shape.node.clone() });
    }
    entries
}
