//! The windows of a collective access: which parts of the file are handled one after the other.

use std::ops::Range;

use super::domains::{Domains, Region};
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
    /// The rank that accesses the file for it, or receives for whoever does.
    pub host: usize,
    /// The node of that rank.
    pub owner: usize,
    /// The ranks of this node whose parts reach into it.
    pub visitors: u64,
    /// Other nodes than the owner with such ranks. Those that do not own the window need not know.
    pub guests: Vec<usize>,
}

impl Window {
    /// Whether a rank with this part of the file has to do with the window.
    pub fn concerns(&self, part: &Range<u64>) -> bool {
        meet(&self.range, part)
    }

    /// Whether this node has to do with it: it visits, or owns what others visit.
    pub fn is_ours(&self, node: usize) -> bool {
        self.visitors > 0 || self.owner == node && !self.guests.is_empty()
    }
}

/// The windows of an access that one node has to do with: region by region in turn, within each in
/// file order. Every rank computes the same ones from what the ranks told each other about their
/// parts, so nothing else is exchanged about them.
#[derive(Clone, Debug)]
pub struct Windows<'a> {
    /// What each rank accesses lies within its part; empty parts take no part.
    parts: &'a [Range<u64>],
    nodes: &'a Nodes,
    domains: &'a Domains,
    node: usize,
    /// Windows start at multiples of this, or of the blocks of the domains.
    size: u64,
    number: u64,
    sequence: u64,
    /// What is left of each region.
    regions: Vec<Region>,
    /// The region whose turn it is, and windows until the next one's.
    turn: (usize, usize),
}

impl<'a> Windows<'a> {
    /// Windows of `size` bytes over `parts`, for one node.
    pub fn new(
        parts: &'a [Range<u64>],
        nodes: &'a Nodes,
        node: usize,
        domains: &'a Domains,
        size: u64,
    ) -> Windows<'a> {
        let some = || parts.iter().filter(|part| !part.is_empty());
        let start = some().map(|part| part.start).min().unwrap_or(0);
        let regions = domains.regions(start..some().map(|part| part.end).max().unwrap_or(start));
        let turn = (0, regions.first().map_or(0, |first| first.team.len()));
        Windows { parts, nodes, domains, node, size, number: 0, sequence: 0, regions, turn }
    }

    /// The next bytes that anybody wants in a region.
    fn next_range(&mut self, region: usize) -> Option<Range<u64>> {
        let left = self.regions[region].range.clone();
        let parts = self.parts.iter().filter(|part| meet(&left, part));
        let start = parts.clone().map(|part| part.start.max(left.start)).min()?;
        let block = self.domains.block();
        let limit = (start / self.size + 1).saturating_mul(self.size);
        let limit = limit.min((start / block + 1).saturating_mul(block)).min(left.end);
        let parts = parts.filter(|part| part.start < limit);
        let end = parts.map(|part| part.end.min(limit)).max()?;
        self.regions[region].range.start = limit;
        Some(start..end)
    }

    fn visitors(&self, node: usize, range: &Range<u64>) -> u64 {
        let ranks = self.nodes.ranks(node).iter();
        ranks.filter(|&&rank| meet(range, &self.parts[rank])).count() as u64
    }

    fn guests(&self, owner: usize, range: &Range<u64>) -> Vec<usize> {
        let others = (0..self.nodes.count()).filter(|&other| other != owner);
        others.filter(|&other| self.visitors(other, range) > 0).collect()
    }

    /// The next window of all, whoever has to do with it. Its guests are told if this node owns it
    /// or if `everybody` wants to know.
    pub fn next_of_all(&mut self, everybody: bool) -> Option<Window> {
        let (range, team) = loop {
            let region = self.turn.0;
            let team = self.regions.get(region)?.team.clone();
            let found = if self.turn.1 > 0 { self.next_range(region) } else { None };
            if let Some(range) = found {
                self.turn.1 -= 1;
                break (range, team);
            }
            if self.turn.1 > 0 {
                // It is done: the next region takes its place.
                self.regions.remove(region);
                self.turn.0 = if region < self.regions.len() { region } else { 0 };
            } else {
                self.turn.0 = (region + 1) % self.regions.len();
            }
            self.turn.1 = self.regions.get(self.turn.0).map_or(0, |next| next.team.len());
        };
        let sequence = self.sequence;
        self.sequence += 1;
        let index = range.start / self.size;
        let host = self.domains.host(&team, range.start);
        let owner = self.nodes.of(host);
        let visitors = self.visitors(self.node, &range);
        let guests = match owner == self.node || everybody {
            true => self.guests(owner, &range),
            false => Vec::new(),
        };
        let number = self.number;
        let window = Window { number, sequence, index, range, host, owner, visitors, guests };
        self.number += u64::from(window.is_ours(self.node));
        Some(window)
    }
}

impl Iterator for Windows<'_> {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        loop {
            let window = self.next_of_all(false)?;
            if window.is_ours(self.node) {
                return Some(window);
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
    one.start.max(other.start) < one.end.min(other.end)
}

#[cfg(test)]
mod tests {
    use super::super::choice::Partitioning;
    use super::*;
    use crate::driver::Layout;

    #[test]
    fn windows_hold_every_part_and_nothing_between() {
        let parts = [5..5, 100..260, 90..120, 1000..1001, 0..0];
        let nodes = Nodes::one(parts.len());
        let domains = Domains::in_turn(&nodes, 100);
        let windows: Vec<_> = Windows::new(&parts, &nodes, 0, &domains, 100)
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
        let domains = Domains::in_turn(&nodes, 100);
        let seen = |node| -> Vec<_> {
            Windows::new(&parts, &nodes, node, &domains, 100)
                .map(|window| (window.index, window.owner, window.visitors, window.guests))
                .collect()
        };
        assert_eq!(seen(0), [(0, 0, 1, vec![]), (2, 0, 1, vec![1]), (3, 1, 1, vec![])]);
        assert_eq!(seen(1), [(1, 1, 1, vec![]), (2, 0, 1, vec![]), (3, 1, 0, vec![0])]);
        assert_eq!(wanted(&(200..300), &parts, &[0, 2]), 250..300);
    }

    #[test]
    fn regions_take_turns() {
        let parts = [3..30, 50..70];
        let nodes = Nodes::each(2);
        let layout = Layout { alignment: 1, ..Layout::default() };
        let seen = |partitioning, aggregators: &[usize]| -> Vec<_> {
            let domains = Domains::new(partitioning, aggregators.to_vec(), layout, 10);
            let mut windows = Windows::new(&parts, &nodes, 0, &domains, 10);
            std::iter::from_fn(|| windows.next_of_all(true))
                .map(|window| (window.range.start, window.range.end, window.host))
                .collect()
        };
        let even = seen(Partitioning::Even, &[1, 0]);
        assert_eq!(even, [(3, 10, 1), (50, 60, 0), (10, 20, 1), (60, 70, 0), (20, 30, 1)]);
        let cyclic = seen(Partitioning::StaticCyclic, &[1, 0]);
        assert_eq!(cyclic, [(3, 10, 1), (10, 20, 0), (20, 30, 1), (50, 60, 0), (60, 70, 1)]);
        let whole: Vec<Range<u64>> = vec![0..40, 0..40];
        let domains = Domains::new(Partitioning::Even, vec![0, 1], layout, 10);
        assert_eq!(Windows::new(&whole, &nodes, 0, &domains, 10).count(), 4);
        let teams = seen(Partitioning::GroupCyclic, &[1, 0, 0, 1]);
        assert_eq!(teams, [(3, 10, 1), (10, 20, 0), (50, 60, 1), (60, 70, 0), (20, 30, 1)]);
    }

    #[test]
    fn parts_at_the_end_of_all_files_are_reached_in_a_few_steps() {
        let far = i64::MAX as u64 - 10..i64::MAX as u64;
        let parts = [0..10, far];
        let nodes = Nodes::one(2);
        let domains = Domains::in_turn(&nodes, 4096);
        assert_eq!(Windows::new(&parts, &nodes, 0, &domains, 4096).count(), 2);
    }
}
