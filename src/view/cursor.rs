//! A walk over the bytes of a typemap that repeats without end.
//!
//! A cursor jumps to any position in time that does not depend on how far it is (the
//! pre-calculation of a cycle is one such jump), and then hands out pieces in typemap order:
//! many at once where they are equally long and equally far apart.

use super::node::{Node, Shape};
use super::typemap::{Element, Typemap};

/// `count` pieces of `length` bytes, `stride` bytes from start to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Displacement of the first.
    pub displacement: i64,
    /// Bytes in each.
    pub length: u64,
    /// From one start to the next; without meaning when `count` is 1.
    pub stride: i64,
    /// How many; never 0.
    pub count: u64,
}

impl Strided {
    /// Bytes in all of them.
    pub fn size(&self) -> u64 {
        self.length * self.count
    }
}

/// A place in a tree: which child of `node`, whose origin is at `base`.
#[derive(Clone, Debug)]
struct Frame<'a> {
    node: &'a Node,
    base: i64,
    index: u64,
}

/// A walk over `typemap`, tiled at its extent from displacement 0 on.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    root: Option<(&'a Node, i64)>,
    extent: i64,
    /// Endless run: the tiles touch.
    seamless: bool,
    tile: u64,
    frames: Vec<Frame<'a>>,
    /// The run the cursor is in, and how much of it lies behind.
    base: i64,
    length: u64,
    inside: u64,
    element: Element,
    position: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at data byte `position`.
    pub fn new(typemap: &'a Typemap, position: u64) -> Cursor<'a> {
        let mut cursor = Cursor {
            root: typemap.data.as_ref().map(|data| (&*data.node, data.shift)),
            extent: typemap.extent(),
            seamless: typemap.contiguous_at().is_some(),
            tile: 0,
            // Most typemaps are one run, for which no memory is needed here.
            frames: Vec::new(),
            base: 0,
            length: 0,
            inside: 0,
            element: Element::BYTE,
            position: 0,
        };
        cursor.seek(position);
        cursor
    }

    /// Data bytes before the cursor.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Displacement of the byte under the cursor.
    pub fn displacement(&self) -> i64 {
        self.base.saturating_add_unsigned(self.inside)
    }

    /// What the run under the cursor is made of.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Bytes from the cursor to the end of the run it is in.
    pub fn left_in_run(&self) -> u64 {
        self.length - self.inside
    }

    /// Goes to data byte `position`.
    pub fn seek(&mut self, position: u64) {
        self.position = position;
        let Some((node, shift)) = self.root else { return };
        self.frames.clear();
        if self.seamless {
            (self.base, self.length, self.inside) = (shift, u64::MAX, position);
            if let Shape::Run { element } = node.shape {
                self.element = element;
            }
            return;
        }
        self.tile = position / node.size;
        let base = self.tile_base(shift);
        self.descend(node, base, position % node.size);
    }

    fn tile_base(&self, shift: i64) -> i64 {
        reach(shift, self.tile, self.extent)
    }

    /// Enters `node`, `position` data bytes into it.
    fn descend(&mut self, mut node: &'a Node, mut base: i64, mut position: u64) {
        loop {
            let (index, next) = match &node.shape {
                Shape::Run { element } => {
                    (self.base, self.length, self.inside) = (base, node.size, position);
                    self.element = *element;
                    return;
                }
                Shape::Repeat { child, count: _, stride } => {
                    let index = position / child.size;
                    position -= index * child.size;
                    (index, (&**child, reach(base, index, *stride)))
                }
                Shape::Blocks { element, displacements, lengths } => {
                    let index = lengths.find(position);
                    let (before, length) = lengths.at(index);
                    self.frames.push(Frame { node, base, index: index as u64 });
                    self.base = base.saturating_add(displacements[index]);
                    (self.length, self.inside) = (length, position - before);
                    self.element = *element;
                    return;
                }
                Shape::Members { displacements, ends, children } => {
                    let index = ends.partition_point(|&end| end <= position);
                    position -= if index == 0 { 0 } else { ends[index - 1] };
                    (index as u64, (&*children[index], base.saturating_add(displacements[index])))
                }
            };
            self.frames.push(Frame { node, base, index });
            (node, base) = next;
        }
    }

    /// Leaves the finished run for the next one.
    fn next_run(&mut self) {
        let Some((root, shift)) = self.root else { return };
        while let Some(frame) = self.frames.last_mut() {
            let index = frame.index + 1;
            let (node, base) = (frame.node, frame.base);
            let child = match &node.shape {
                Shape::Run { .. } => None,
                Shape::Repeat { child, count, stride } => {
                    (index < *count).then(|| (&**child, reach(base, index, *stride)))
                }
                Shape::Blocks { displacements, lengths, .. } => {
                    let place = index as usize;
                    if place < displacements.len() {
                        frame.index = index;
                        self.base = base.saturating_add(displacements[place]);
                        (self.length, self.inside) = (lengths.at(place).1, 0);
                        return;
                    }
                    None
                }
                Shape::Members { displacements, children, .. } => {
                    let place = index as usize;
                    children
                        .get(place)
                        .map(|child| (&**child, base.saturating_add(displacements[place])))
                }
            };
            if let Some((child, base)) = child {
                frame.index = index;
                return self.descend(child, base, 0);
            }
            self.frames.pop();
        }
        self.tile += 1;
        let base = self.tile_base(shift);
        self.descend(root, base, 0);
    }

    /// The next pieces, at most `limit` bytes of them (at least 1), and steps behind them.
    ///
    /// The typemap must have data.
    pub fn next(&mut self, limit: u64) -> Strided {
        let displacement = self.displacement();
        let left = self.left_in_run();
        if self.inside > 0 || limit < self.length {
            let length = left.min(limit);
            self.advance_in_run(length);
            return Strided { displacement, length, stride: 0, count: 1 };
        }
        let (count, stride) = self.equal_runs();
        let count = count.min(limit / self.length);
        let piece = Strided { displacement, length: self.length, stride, count };
        match self.frames.last_mut() {
            Some(frame) => frame.index += count - 1,
            None => self.tile += count - 1,
        }
        self.position += piece.size();
        self.next_run();
        piece
    }

    /// How many runs like this one follow at equal distances, this one included.
    fn equal_runs(&self) -> (u64, i64) {
        match self.frames.last() {
            None => (u64::MAX, self.extent),
            Some(frame) => match &frame.node.shape {
                Shape::Repeat { count, stride, .. } => (count - frame.index, *stride),
                _ => (1, 0),
            },
        }
    }

    fn advance_in_run(&mut self, length: u64) {
        self.inside += length;
        self.position += length;
        if self.inside == self.length {
            self.next_run();
        }
    }
}

/// Where number `index` lies of things `stride` bytes apart. Beyond all files it stays at the
/// largest offset, where every access is refused, and never comes around to a small one.
fn reach(base: i64, index: u64, stride: i64) -> i64 {
    let index = i64::try_from(index).unwrap_or(i64::MAX);
    base.saturating_add(index.saturating_mul(stride))
}

#[cfg(test)]
mod tests {
    use super::super::array::{Darray, Distribution, Order};
    use super::*;

    fn int() -> Typemap {
        Typemap::bytes(4)
    }

    /// Data bytes `from .. from + size` of a tiled typemap, one displacement per byte.
    fn walk(typemap: &Typemap, from: u64, size: u64, limit: u64) -> Vec<i64> {
        let mut cursor = Cursor::new(typemap, from);
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < size {
            let step = cursor.next((size - bytes.len() as u64).min(limit));
            for piece in 0..step.count {
                let start = step.displacement + piece as i64 * step.stride;
                bytes.extend((0..step.length).map(|byte| start + byte as i64));
            }
        }
        assert_eq!(cursor.position(), from + size);
        bytes
    }

    fn check(typemap: &Typemap, expected: &[std::ops::Range<i64>]) {
        let bytes: Vec<i64> = expected.iter().cloned().flatten().collect();
        let size = bytes.len() as u64;
        assert_eq!(walk(typemap, 0, size, u64::MAX), bytes);
        for limit in 1..=size {
            assert_eq!(walk(typemap, 0, size, limit), bytes, "in steps of {limit}");
        }
        for from in 0..size {
            assert_eq!(walk(typemap, from, size - from, u64::MAX), bytes[from as usize..]);
        }
    }

    #[test]
    fn a_vector_gives_its_blocks_and_then_those_of_the_next_tile() {
        check(&int().hvector(2, 1, 8), &[0..4, 8..12, 12..16, 20..24]);
        check(&int().hvector(2, 1, 8).resized(0, 16), &[0..4, 8..12, 16..20, 24..28]);
        check(&int().hvector(2, 2, -16), &[0..8, -16..-8, 24..32, 8..16]);
    }

    #[test]
    fn touching_pieces_become_one_run() {
        let typemap = int().contiguous(3).hvector(4, 1, 12);
        assert_eq!(typemap.contiguous_at(), Some(0));
        assert_eq!(Cursor::new(&typemap, 5).next(1000).length, 1000);
        let touching = int().hindexed(&[(8, 1), (12, 2), (20, 0), (20, 1)]);
        assert_eq!(touching.run_at(), Some(8));
    }

    #[test]
    fn equal_blocks_at_equal_distances_are_one_repetition() {
        let typemap = int().hindexed(&[(0, 1), (12, 1), (24, 1)]);
        let step = Cursor::new(&typemap, 0).next(1000);
        assert_eq!(step, Strided { displacement: 0, length: 4, stride: 12, count: 3 });
    }

    #[test]
    fn irregular_blocks_and_structures() {
        check(&int().hindexed(&[(4, 1), (20, 2), (40, 1)]), &[4..8, 20..28, 40..44, 44..48]);
        let inner = int().hvector(2, 1, 8);
        let mixed = Typemap::structure(&[(0, 1, inner.clone()), (100, 2, inner), (200, 1, int())]);
        check(&mixed, &[0..4, 8..12, 100..104, 108..112, 112..116, 120..124, 200..204]);
    }

    #[test]
    fn a_subarray_is_a_few_nodes_and_keeps_the_extent_of_the_whole() {
        let part = int().subarray(&[4, 6], &[2, 3], &[1, 2], Order::C);
        check(&part, &[32..44, 56..68]);
        assert_eq!((part.lb(), part.extent(), part.size()), (0, 96, 24));
        let turned = int().subarray(&[6, 4], &[3, 2], &[2, 1], Order::Fortran);
        check(&turned, &[32..44, 56..68]);
    }

    #[test]
    fn a_cyclic_darray_deals_blocks_in_turn() {
        let mut darray = Darray {
            size: 2,
            rank: 1,
            gsizes: vec![7],
            distribs: vec![Distribution::Cyclic(Some(2))],
            psizes: vec![2],
            order: Order::C,
        };
        check(&int().darray(&darray), &[8..16, 24..28]);
        darray.distribs = vec![Distribution::Block(None)];
        check(&int().darray(&darray), &[16..28]);
        darray.distribs = vec![Distribution::Cyclic(None)];
        check(&int().darray(&darray), &[4..8, 12..16, 20..24]);
        assert_eq!(int().darray(&darray).extent(), 28);
    }

    #[test]
    fn a_billion_pieces_cost_nothing() {
        let typemap = int().hvector(1_000_000_000, 1, 8);
        let mut cursor = Cursor::new(&typemap, 3_999_999_998);
        assert_eq!(cursor.displacement(), 7_999_999_994);
        assert_eq!(cursor.next(100).length, 2);
        assert_eq!(cursor.displacement(), 7_999_999_996);
        assert_eq!(typemap.size_before(8_000_000_000), 4_000_000_004);
    }

    #[test]
    fn a_place_beyond_all_files_never_looks_like_a_small_one() {
        let far = int().hvector(2, 1, 1 << 40).resized(0, 1 << 62);
        let inner = Typemap::structure(&[(0, 1, int()), (1 << 40, 3, int().resized(0, 8))]);
        for typemap in [far, inner.resized(0, 1 << 62), int().resized(0, i64::MAX)] {
            let third = typemap.size() * 2;
            for position in third..third + typemap.size() {
                assert_eq!(Cursor::new(&typemap, position).displacement(), i64::MAX);
            }
        }
        assert_eq!(Cursor::new(&int(), u64::MAX - 1).displacement(), i64::MAX);
    }

    #[test]
    fn the_last_places_there_are_stay_behind_the_first() {
        let wide = int().hvector(2, 1, 8);
        let ends = [(0, 1), (i64::MAX - 1, 1)];
        let members = ends.map(|(place, count)| (place, count, wide.clone()));
        for typemap in [int().hindexed(&ends), wide.hindexed(&ends), Typemap::structure(&members)] {
            assert_eq!(typemap.span(), (0, i64::MAX));
            assert_eq!(typemap.inner_monotony(), super::super::typemap::Monotony::Increasing);
            assert_eq!(Cursor::new(&typemap, typemap.size() / 2).displacement(), i64::MAX - 1);
            assert_eq!(typemap.size_before(1 << 62), typemap.size() / 2);
        }
    }

    #[test]
    fn a_tree_may_be_deeper_than_a_stack() {
        const DEPTH: i64 = 200_000;
        let deeper =
            |inner: Typemap, level| Typemap::structure(&[(0, 1, inner), (8 * level, 1, int())]);
        let deep = (1..=DEPTH).fold(Typemap::bytes(2).hvector(2, 1, 4), deeper);
        assert_eq!((deep.size(), deep.pieces()), (4 * DEPTH as u64 + 4, DEPTH as u64 + 2));
        assert_eq!(deep.size_before(5), 3);
        assert_eq!(deep.size_before(8 * DEPTH + 1), 4 * DEPTH as u64 + 1);
        let mut cursor = Cursor::new(&deep, 0);
        assert_eq!(cursor.displacement(), 0);
        for level in 0..2 {
            cursor.seek(4 * (DEPTH - 1 + level) as u64);
            assert_eq!(cursor.displacement(), 8 * (DEPTH - 1 + level));
        }
    }

    #[test]
    fn size_before_is_the_inverse_of_the_walk() {
        let inner = int().hvector(2, 1, 8);
        for typemap in [
            int().hvector(3, 2, 20).resized(-4, 80),
            int().hindexed(&[(4, 1), (20, 2), (40, 1)]),
            Typemap::structure(&[(0, 1, inner.clone()), (100, 2, inner), (200, 1, int())]),
        ] {
            let bytes = walk(&typemap, 0, typemap.size() * 3, u64::MAX);
            for limit in -10..*bytes.last().unwrap() {
                let expected = bytes.iter().filter(|&&byte| byte < limit).count() as u64;
                assert_eq!(typemap.size_before(limit), expected, "{typemap:?} before {limit}");
            }
        }
    }

    #[test]
    fn monotony_tells_overlap_from_disorder() {
        use super::super::typemap::Monotony::*;
        for (blocks, expected) in [
            (&[(0, 1), (8, 1)][..], Increasing),
            (&[(0, 2), (4, 1)], Nondecreasing),
            (&[(8, 1), (0, 1)], None),
            (&[(0, 1), (0, 1)], Nondecreasing),
        ] {
            assert_eq!(int().hindexed(blocks).inner_monotony(), expected, "{blocks:?}");
        }
        assert_eq!(int().resized(0, 2).monotony(), Nondecreasing);
        assert_eq!(int().resized(0, -8).monotony(), None);
    }
}
