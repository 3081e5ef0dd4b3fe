//! The trees that typemaps are made of.

use std::collections::HashMap;
use std::sync::Arc;

use super::typemap::{Element, Monotony};

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
    /// Every piece starts at a multiple of `1 << grain` bytes and is a multiple of it long.
    pub(super) grain: u32,
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

/// From the first of `count` things to the last, `stride` bytes each from the one before.
pub(super) fn reach(count: u64, stride: i64) -> i64 {
    i64::try_from(count - 1).unwrap_or(i64::MAX).saturating_mul(stride)
}

impl Node {
    pub(super) fn run(element: Element, size: u64) -> Arc<Node> {
        Arc::new(Node {
            shape: Shape::Run { element },
            size,
            first: 0,
            end: 0i64.saturating_add_unsigned(size),
            last: 0,
            pieces: 1,
            monotony: Monotony::Increasing,
            grain: size.trailing_zeros(),
        })
    }

    fn repeat(child: Arc<Node>, count: u64, stride: i64) -> Arc<Node> {
        let reach = reach(count, stride);
        let monotony = joint(child.monotony, &child, stride, &child);
        Arc::new(Node {
            size: child.size.saturating_mul(count),
            first: child.first.saturating_add(reach.min(0)),
            end: child.end.saturating_add(reach.max(0)),
            last: child.last.saturating_add(reach),
            pieces: child.pieces.saturating_mul(count),
            monotony,
            grain: child.grain.min(stride.trailing_zeros()),
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
            grain: u64::BITS,
        };
        let mut ends = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let child = &entry.node;
            node.monotony = match index.checked_sub(1).map(|before| &entries[before]) {
                None => child.monotony,
                Some(before) => {
                    let step = entry.shift.saturating_sub(before.shift);
                    joint(node.monotony.min(child.monotony), &before.node, step, child)
                }
            };
            node.size = node.size.saturating_add(child.size);
            node.first = node.first.min(entry.shift.saturating_add(child.first));
            node.end = node.end.max(entry.shift.saturating_add(child.end));
            node.last = entry.shift.saturating_add(child.last);
            node.pieces = node.pieces.saturating_add(child.pieces);
            node.grain = node.grain.min(child.grain).min(entry.shift.trailing_zeros());
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
        let (mut first, mut end, mut grain) = (i64::MAX, i64::MIN, u64::BITS);
        for (index, (&displacement, &length)) in displacements.iter().zip(&lengths).enumerate() {
            if let Some(before) = index.checked_sub(1) {
                let step = displacement.saturating_sub(displacements[before]);
                monotony = monotony.min(step_monotony(step, 0, lengths[before] as i64, 0));
            }
            first = first.min(displacement);
            end = end.max(displacement.saturating_add_unsigned(length));
            grain = grain.min(displacement.trailing_zeros()).min(length.trailing_zeros());
        }
        let constant = lengths.iter().all(|&length| length == lengths[0]);
        let size = lengths.iter().fold(0, |sum: u64, &length| sum.saturating_add(length));
        let last = displacements[displacements.len() - 1];
        let pieces = lengths.len() as u64;
        let lengths = if constant {
            Lengths::Constant(lengths[0])
        } else {
            let sums = lengths.iter().scan(0, |sum, &length| {
                *sum = length.saturating_add(*sum);
                Some(*sum)
            });
            Lengths::Ends(sums.collect())
        };
        let shape = Shape::Blocks { element, displacements: displacements.into(), lengths };
        Arc::new(Node { shape, size, first, end, last, pieces, monotony, grain })
    }

    pub(super) fn as_run(&self) -> Option<Element> {
        match self.shape {
            Shape::Run { element } => Some(element),
            _ => None,
        }
    }

    pub(super) fn weigh(&self, weight: &impl Fn(Element) -> u64) -> u64 {
        let run = |element: Element, size: u64| size / u64::from(element.size) * weight(element);
        match &self.shape {
            Shape::Run { element } | Shape::Blocks { element, .. } => run(*element, self.size),
            Shape::Repeat { child, count, .. } => child.weigh(weight) * count,
            Shape::Members { children, .. } => children.iter().map(|c| c.weigh(weight)).sum(),
        }
    }

    /// Bytes of data at displacements below `limit`; for typemaps whose pieces do not go back.
    pub(super) fn size_before(&self, mut limit: i64) -> u64 {
        let (mut node, mut size) = (self, 0);
        loop {
            if limit >= node.end {
                return size + node.size;
            }
            if limit <= node.first {
                return size;
            }
            match &node.shape {
                Shape::Run { .. } => return size + limit as u64,
                Shape::Repeat { child, count, stride } => {
                    if *stride <= 0 {
                        return size;
                    }
                    // Children that start below the limit; all but the last lie below it as a whole.
                    let reach = (limit.saturating_sub(child.first) - 1) / stride;
                    let whole = reach.clamp(0, i64::try_from(*count - 1).unwrap_or(i64::MAX));
                    size += whole as u64 * child.size;
                    limit -= whole * stride;
                    node = child;
                }
                Shape::Blocks { displacements, lengths, .. } => {
                    let started = displacements.partition_point(|&start| start < limit);
                    let Some(index) = started.checked_sub(1) else { return size };
                    let (before, length) = lengths.at(index);
                    return size + before + length.min((limit - displacements[index]) as u64);
                }
                Shape::Members { displacements, ends, children } => {
                    let starts = |i: usize| displacements[i].saturating_add(children[i].first);
                    let indices = 0..displacements.len();
                    let started = partition(indices, |i| starts(i) < limit);
                    let Some(index) = started.checked_sub(1) else { return size };
                    size += if index == 0 { 0 } else { ends[index - 1] };
                    limit -= displacements[index];
                    node = &children[index];
                }
            }
        }
    }
}

impl Drop for Node {
    /// Level by level: a tree may be deeper than a stack is.
    fn drop(&mut self) {
        let mut left = Vec::new();
        self.shape.give_children(&mut left);
        while let Some(child) = left.pop() {
            if let Some(mut node) = Arc::into_inner(child) {
                node.shape.give_children(&mut left);
            }
        }
    }
}

impl Shape {
    /// Moves the children to `place`, and is a leaf from then on.
    fn give_children(&mut self, place: &mut Vec<Arc<Node>>) {
        match std::mem::replace(self, Shape::Run { element: Element::BYTE }) {
            Shape::Repeat { child, .. } => place.push(child),
            Shape::Members { children, .. } => place.extend(children),
            Shape::Run { .. } | Shape::Blocks { .. } => {}
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
pub(super) fn joint(inner: Monotony, before: &Node, step: i64, next: &Node) -> Monotony {
    inner.min(step_monotony(step, before.last, before.end, next.first))
}

impl Placed {
    pub(super) fn repeat(self, count: u64, stride: i64) -> Option<Placed> {
        if count == 0 {
            return None;
        }
        if count == 1 {
            return Some(self);
        }
        let node = match &self.node.shape {
            Shape::Run { element } if stride == self.node.size as i64 => {
                Node::run(*element, self.node.size.saturating_mul(count))
            }
            Shape::Repeat { child, count: inner, stride: step }
                if stride == step.saturating_mul(*inner as i64) =>
            {
                Node::repeat(child.clone(), inner.saturating_mul(count), *step)
            }
            _ => Node::repeat(self.node, count, stride),
        };
        Some(Placed { shift: self.shift, node })
    }

    /// The next entry starts where this one ends, and both are runs of one element.
    fn touches(&self, next: &Placed) -> Option<Element> {
        let element = self.node.as_run()?;
        let meets = self.shift.saturating_add_unsigned(self.node.size) == next.shift;
        (meets && next.node.as_run() == Some(element)).then_some(element)
    }

    /// Entries in typemap order, joined into as little as possible.
    pub(super) fn list(entries: Vec<Placed>) -> Option<Placed> {
        let mut merged: Vec<Placed> = Vec::with_capacity(entries.len());
        for entry in entries {
            match merged.last_mut() {
                Some(last) if last.touches(&entry).is_some() => {
                    let element = last.node.as_run().unwrap_or(Element::BYTE);
                    let size = last.node.size.saturating_add(entry.node.size);
                    last.node = Node::run(element, size);
                }
                _ => merged.push(entry),
            }
        }
        if merged.len() <= 1 {
            return merged.pop();
        }
        let shift = merged[0].shift;
        for entry in &mut merged {
            entry.shift = entry.shift.saturating_sub(shift);
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
        let step = displacement.checked_sub(before)?;
        if *stride.get_or_insert(step) != step {
            return None;
        }
        before = displacement;
    }
    stride
}

/// Blocks of a contiguous child, neighbours joined on the way.
pub(super) fn irregular_runs(
    child: &Placed,
    element: Element,
    blocks: &[(i64, u64)],
) -> Option<Placed> {
    let mut displacements: Vec<i64> = Vec::with_capacity(blocks.len());
    let mut lengths: Vec<u64> = Vec::with_capacity(blocks.len());
    let mut shift = None;
    let mut next = None;
    for &(displacement, blocklength) in blocks {
        let length = blocklength.saturating_mul(child.node.size);
        if length == 0 {
            continue;
        }
        let start = displacement.saturating_sub(*shift.get_or_insert(displacement));
        if next == Some(start) {
            let last = lengths.last_mut()?;
            *last = last.saturating_add(length);
        } else {
            displacements.push(start);
            lengths.push(length);
        }
        next = Some(start.saturating_add_unsigned(length));
    }
    let shift = shift?.saturating_add(child.shift);
    if lengths.len() == 1 {
        return Some(Placed { shift, node: Node::run(element, lengths[0]) });
    }
    Some(Placed::runs(shift, element, displacements, lengths))
}

/// Blocks of a child with holes; blocks of one length share one node.
pub(super) fn repeated_blocks(child: &Placed, extent: i64, blocks: &[(i64, u64)]) -> Vec<Placed> {
    let mut shapes: HashMap<u64, Placed> = HashMap::new();
    let mut entries = Vec::with_capacity(blocks.len());
    for &(displacement, blocklength) in blocks {
        if blocklength == 0 {
            continue;
        }
        let shape = shapes.entry(blocklength).or_insert_with(|| {
            child.clone().repeat(blocklength, extent).unwrap_or_else(|| child.clone())
        });
        let shift = displacement.saturating_add(shape.shift);
        entries.push(Placed { shift, node: shape.node.clone() });
    }
    entries
}
