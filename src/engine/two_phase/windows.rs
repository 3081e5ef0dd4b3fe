//! The windows of a collective access: which parts of the file are handled one after the other.

use std::ops::Range;

use super::nodes::Nodes;

/// A part of the file that is filled, and then written or picked from, as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Counts the windows of an access that this node has to do with.
    pub number: u64,
    /// Counts all windows of an access.
    pub sequence: u64,
    /// Its place among all windows of the file.
    pub index: u64,
    /// Its bytes, as far as anybody wants some of them.
    pub range: Range<u64>,
    /// The node that accesses the file for it.
    pub owner: usize,
    /// The ranks of this node whose parts reach into it.
    pub visitors: u64,
    /// Other nodes with such ranks. Only this window's owner is told.
    pub guests: Vec<usize>,
}

impl Window {
    /// Whether a rank with this part of the file has to do with the window.
    pub fn concerns(&self, part: &Range<u64>) -> bool {
        meet(&self.range, part)
    }
}

/// The windows of an access that one node has to do with, in file order. Every rank computes the
/// same ones from what the ranks told each other about their parts, so nothing else is exchanged
/// about them.
#[derive(Clone, Debug)]
pub struct Windows<'a> {
    /// What each rank accesses lies within its part; empty parts take no part.
    parts: &'a [Range<u64>],
    nodes: &'a Nodes,
    node: usize,
    /// Windows start at multiples of this.
    size: u64,
    number: u64,
    sequence: u64,
    /// What lies before this is done.
    reached: u64,
}

impl<'a> Windows<'a> {
    /// Windows of `size` bytes over `parts`, for one node.
    pub fn new(parts: &'a [Range<u64>], nodes: &'a Nodes, node: usize, size: u64) -> Windows<'a> {
        Windows { parts, nodes, node, size, number: 0, sequence: 0, reached: 0 }
    }

    /// The next bytes that anybody wants.
    fn next_range(&mut self) -> Option<Range<u64>> {
        let left = self.parts.iter().filter(|part| !part.is_empty() && part.end > self.reached);
        let start = left.clone().map(|part| part.start.max(self.reached)).min()?;
        let limit = (start / self.size + 1).saturating_mul(self.size);
        let end = left.filter(|part| part.start < limit).map(|part| part.end.min(limit)).max()?;
        self.reached = limit;
        Some(start..end)
    }

    fn visitors(&self, node: usize, range: &Range<u64>) -> u64 {
        let ranks = self.nodes.ranks(node).iter();
        ranks.filter(|&&rank| meet(range, &self.parts[rank])).count() as u64
    }
}

impl Iterator for Windows<'_> {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        loop {
            let range = self.next_range()?;
            let sequence = self.sequence;
            self.sequence += 1;
            let index = range.start / self.size;
            let owner = self.nodes.owner(index);
            let visitors = self.visitors(self.node, &range);
            let guests = match owner == self.node {
                true => (0..self.nodes.count())
                    .filter(|&other| other != owner && self.visitors(other, &range) > 0)
                    .collect(),
                false => Vec::new(),
            };
            if visitors > 0 || !guests.is_empty() {
                let number = self.number;
                self.number += 1;
                return Some(Window { number, sequence, index, range, owner, visitors, guests });
            }
        }
    }
}

/// The bytes of `window` between the first and the last that ranks of a node have to do with.
pub fn wanted(window: &Range<u64>, parts: &[Range<u64>], ranks: &[usize]) -> Range<u64> {
    let parts = ranks.iter().map(|&rank| &parts[rank]).filter(|part| meet(window, part));
    let start = parts.clone().map(|part| part.start.max(window.start)).min();
    let end = parts.map(|part| part.end.min(window.end)).max();
    start.unwrap_or(window.start)..end.unwrap_or(window.start)
}

fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_every_part_and_nothing_between() {
        let parts = [5..5, 100..260, 90..120, 1000..1001, 0..0];
        let nodes = Nodes::one(parts.len());
        let windows: Vec<_> = Windows::new(&parts, &nodes, 0, 100)
            .map(|window| (window.number, window.range, window.visitors))
            .collect();
        assert_eq!(
            windows,
            [(0, 90..100, 1), (1, 100..200, 2), (2, 200..260, 1), (3, 1000..1001, 1)]
        );
    }

    #[test]
    fn a_node_sees_what_it_owns_or_visits() {
        let parts = [0..100, 100..300, 250..350];
        let nodes = Nodes::new(&[0, 1, 0]);
        let seen = |node| -> Vec<_> {
            Windows::new(&parts, &nodes, node, 100)
                .map(|window| (window.index, window.owner, window.visitors, window.guests))
                .collect()
        };
        assert_eq!(seen(0), [(0, 0, 1, vec![]), (2, 0, 1, vec![1]), (3, 1, 1, vec![])]);
        assert_eq!(seen(1), [(1, 1, 1, vec![]), (2, 0, 1, vec![]), (3, 1, 0, vec![0])]);
        assert_eq!(wanted(&(200..300), &parts, &[0, 2]), 250..300);
    }

    #[test]
    fn parts_at_the_end_of_all_files_are_reached_in_a_few_steps() {
        let far = i64::MAX as u64 - 10..i64::MAX as u64;
        let parts = [0..10, far];
        assert_eq!(Windows::new(&parts, &Nodes::one(2), 0, 4096).count(), 2);
    }
}
