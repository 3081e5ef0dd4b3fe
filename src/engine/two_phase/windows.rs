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
    /// Whether this node is among the guests.
    pub invited: bool,
    /// Nodes other than the owner that have told of something here. Some may turn out to have no
    /// visitors. Those that do not own the window need not know them.
    pub guests: Vec<usize>,
}

impl Window {
    /// Whether a rank with this part of the file has to do with the window.
    pub fn concerns(&self, part: &Range<u64>) -> bool {
        meet(&self.range, part)
    }

    /// How many fill it: visitors, and on the owner's node the other nodes.
    pub fn parts(&self) -> u64 {
        self.visitors + self.guests.len() as u64
    }

    /// Whether this node is expected and has nobody to send: what it told was wider than the parts
    /// of its ranks.
    pub fn is_empty_handed(&self) -> bool {
        self.invited && self.visitors == 0
    }

    /// Whether this node has to do with it: it visits, or owns what others visit.
    pub fn is_ours(&self, node: usize) -> bool {
        self.visitors > 0 || self.invited || self.owner == node && !self.guests.is_empty()
    }
}

/// Who has to do with which part of the file, as far as a rank knows.
#[derive(Clone, Debug, Default)]
pub struct Territory {
    /// What each rank of its own node accesses lies within its part; empty parts take no part.
    pub parts: Vec<Range<u64>>,
    /// Where each node has told of something, itself too; only once if all are taken to be at the
    /// same places.
    pub stretches: Vec<Vec<Range<u64>>>,
}

impl Territory {
    /// Where a node has told of something.
    fn of(&self, node: usize) -> &[Range<u64>] {
        match &self.stretches[..] {
            [all] => all,
            each => &each[node],
        }
    }

    /// Whether a node has told of something in `range`.
    fn reaches(&self, node: usize, range: &Range<u64>) -> bool {
        self.of(node).iter().any(|stretch| meet(range, stretch))
    }

    /// The bytes of `range` between the first and the last that a node has told of.
    pub fn wanted(&self, range: &Range<u64>, node: usize) -> Range<u64> {
        let mut some = self.of(node).iter().filter(|stretch| meet(range, stretch));
        let Some(first) = some.next() else { return range.start..range.start };
        let last = some.next_back().unwrap_or(first);
        first.start.max(range.start)..last.end.min(range.end)
    }

    /// All stretches of all nodes.
    fn all(&self) -> impl Iterator<Item = &Range<u64>> + Clone {
        self.stretches.iter().flatten()
    }
}

/// The windows of an access that one node has to do with: region by region in turn, within each in
/// file order. Every rank computes the same ones from what the nodes told each other about their
/// parts, so nothing else is exchanged about them.
#[derive(Clone, Debug)]
pub struct Windows<'a> {
    territory: &'a Territory,
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
    /// Windows of `size` bytes over a territory, for one node.
    pub fn new(
        territory: &'a Territory,
        nodes: &'a Nodes,
        node: usize,
        domains: &'a Domains,
        size: u64,
    ) -> Windows<'a> {
        let start = territory.all().map(|stretch| stretch.start).min().unwrap_or(0);
        let end = territory.all().map(|stretch| stretch.end).max().unwrap_or(start);
        let regions = domains.regions(start..end);
        let turn = (0, regions.first().map_or(0, |first| first.team.len()));
        Windows { territory, nodes, domains, node, size, number: 0, sequence: 0, regions, turn }
    }

    /// The next bytes that anybody wants in a region.
    fn next_range(&mut self, region: usize) -> Option<Range<u64>> {
        let left = self.regions[region].range.clone();
        let some = self.territory.all().filter(|stretch| meet(&left, stretch));
        let start = some.clone().map(|stretch| stretch.start.max(left.start)).min()?;
        let block = self.domains.block();
        let limit = (start / self.size + 1).saturating_mul(self.size);
        let limit = limit.min((start / block + 1).saturating_mul(block)).min(left.end);
        let some = some.filter(|stretch| stretch.start < limit);
        let end = some.map(|stretch| stretch.end.min(limit)).max()?;
        self.regions[region].range.start = limit;
        Some(start..end)
    }

    fn guests(&self, owner: usize, range: &Range<u64>) -> Vec<usize> {
        let others = (0..self.nodes.count()).filter(|&other| other != owner);
        others.filter(|&other| self.territory.reaches(other, range)).collect()
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
        let parts = self.territory.parts.iter();
        let visitors = parts.filter(|part| meet(&range, part)).count() as u64;
        let invited = owner != self.node && self.territory.reaches(self.node, &range);
        let guests = match owner == self.node || everybody {
            true => self.guests(owner, &range),
            false => Vec::new(),
        };
        let number = self.number;
        let window =
            Window { number, sequence, index, range, host, owner, visitors, invited, guests };
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

fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}

#[cfg(test)]
mod tests {
    use super::super::choice::Partitioning;
    use super::*;
    use crate::driver::Layout;

    /// What a rank of `node` knows.
    fn territory(parts: &[Range<u64>], nodes: &Nodes, node: usize) -> Territory {
        let of = |node: usize| nodes.ranks(node).iter().map(|&rank| parts[rank].clone()).collect();
        let some = |node: usize| {
            let parts: Vec<Range<u64>> = of(node);
            let mut parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            parts.sort_by_key(|part| part.start);
            parts
        };
        Territory { parts: of(node), stretches: (0..nodes.count()).map(some).collect() }
    }

    #[test]
    fn windows_hold_every_part_and_nothing_between() {
        let parts = [5..5, 100..260, 90..120, 1000..1001, 0..0];
        let nodes = Nodes::one(parts.len());
        let domains = Domains::in_turn(&nodes, 100);
        let territory = territory(&parts, &nodes, 0);
        let windows: Vec<_> = Windows::new(&territory, &nodes, 0, &domains, 100)
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
            Windows::new(&territory(&parts, &nodes, node), &nodes, node, &domains, 100)
                .map(|window| (window.index, window.owner, window.visitors, window.guests))
                .collect()
        };
        assert_eq!(seen(0), [(0, 0, 1, vec![]), (2, 0, 1, vec![1]), (3, 1, 1, vec![])]);
        assert_eq!(seen(1), [(1, 1, 1, vec![]), (2, 0, 1, vec![]), (3, 1, 0, vec![0])]);
        let territory = territory(&parts, &nodes, 1);
        assert_eq!(territory.wanted(&(200..300), 0), 250..300);
        assert_eq!(territory.wanted(&(50..300), 0), 50..300);
        assert_eq!(territory.wanted(&(110..200), 0), 110..110);
    }

    #[test]
    fn regions_take_turns() {
        let parts = [3..30, 50..70];
        let nodes = Nodes::each(2);
        let layout = Layout { alignment: 1, ..Layout::default() };
        let seen = |partitioning, aggregators: &[usize]| -> Vec<_> {
            let domains = Domains::new(partitioning, aggregators.to_vec(), layout, 10);
            let territory = territory(&parts, &nodes, 0);
            let mut windows = Windows::new(&territory, &nodes, 0, &domains, 10);
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
        let whole = territory(&whole, &nodes, 0);
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
        let territory = territory(&parts, &nodes, 0);
        assert_eq!(Windows::new(&territory, &nodes, 0, &domains, 4096).count(), 2);
    }
}
