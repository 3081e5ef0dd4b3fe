//! Who accesses which part of the file.

use std::ops::Range;

use super::choice::Partitioning;
use super::nodes::Nodes;
use crate::driver::Layout;

/// How the file is divided among aggregators: into regions, each with aggregators of its own, who
/// take its blocks in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domains {
    /// The ranks that access the file.
    aggregators: Vec<usize>,
    /// How many of them share a region.
    team: usize,
    /// Bytes of a block: blocks and regions start at multiples of it.
    block: u64,
}

/// A stretch of the file with those who access it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its bytes.
    pub range: Range<u64>,
    /// Places of its aggregators among all.
    pub team: Range<usize>,
}

impl Domains {
    /// Blocks of windows of the file in turn, for all ranks of all nodes in turn.
    pub fn in_turn(nodes: &Nodes, window_size: u64) -> Domains {
        let rounds = (0..nodes.count()).map(|node| nodes.ranks(node).len()).max().unwrap_or(0);
        let places = 0..(rounds * nodes.count()) as u64;
        let host = |place| nodes.speaker((place % nodes.count() as u64) as usize, place);
        let aggregators: Vec<usize> = places.map(host).collect();
        Domains { team: aggregators.len(), aggregators, block: window_size }
    }

    /// For these aggregators, of whom there is at least one, along the layout of the file.
    pub fn new(
        partitioning: Partitioning,
        aggregators: Vec<usize>,
        layout: Layout,
        window_size: u64,
    ) -> Domains {
        let striped = layout.stripe_size > 1;
        let block = match striped {
            true => layout.stripe_size,
            false => window_size.max(layout.alignment),
        };
        let servers = if striped { layout.stripe_count as usize } else { 2 };
        let team = match partitioning {
            Partitioning::Even => 1,
            Partitioning::StaticCyclic => aggregators.len(),
            Partitioning::GroupCyclic => servers.clamp(1, aggregators.len()),
        };
        Domains { aggregators, team, block }
    }

    /// Where windows end besides their own size: nobody's window reaches into another's block.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// The regions of an access that reaches over these bytes: disjoint, in order, and together
    /// all of it.
    pub fn regions(&self, range: Range<u64>) -> Vec<Region> {
        let teams = self.aggregators.len().div_ceil(self.team) as u64;
        let start = range.start / self.block * self.block;
        let blocks = (range.end.max(start) - start).div_ceil(self.block);
        let size = blocks.div_ceil(teams).max(1).saturating_mul(self.block);
        let region = |number: u64| {
            let first = start.saturating_add(number.saturating_mul(size));
            let last = if number + 1 == teams { u64::MAX } else { first.saturating_add(size) };
            let range = first.max(range.start)..last.min(range.end);
            let from = number as usize * self.team;
            let team = from..(from + self.team).min(self.aggregators.len());
            Region { range, team }
        };
        (0..teams).map(region).filter(|region| !region.range.is_empty()).collect()
    }

    /// What of an access that reaches over these bytes is a rank's to access in the file: whole
    /// blocks, at most as many pieces as said.
    pub fn of(&self, rank: usize, range: Range<u64>, most: usize) -> Vec<Range<u64>> {
        let mut found = Vec::new();
        for region in self.regions(range) {
            let team = region.team.clone();
            if team.len() == 1 && self.aggregators[team.start] == rank {
                found.push(region.range);
            } else if self.aggregators[team.clone()].contains(&rank) {
                let blocks = region.range.start / self.block..=(region.range.end - 1) / self.block;
                let own = blocks.take(most.saturating_mul(team.len()));
                let own = own.map(|block| block * self.block..(block + 1) * self.block);
                found.extend(own.filter(|block| self.host(&team, block.start) == rank));
            }
        }
        found.truncate(most);
        found
    }

    /// The rank that accesses the file at `offset`, which lies in a region of this team.
    pub fn host(&self, team: &Range<usize>, offset: u64) -> usize {
        let place = (offset / self.block) % team.len() as u64;
        self.aggregators[team.start + place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        partitioning: Partitioning,
        layout: Layout,
        range: Range<u64>,
        expected: &[(u64, u64)],
    ) {
        let domains = Domains::new(partitioning, vec![0, 1, 2, 3], layout, 4);
        let regions = domains.regions(range.clone());
        let found: Vec<_> =
            regions.iter().map(|region| (region.range.start, region.range.end)).collect();
        assert_eq!(found, expected, "{partitioning:?} {range:?}");
        let mut reached = range.start;
        for region in &regions {
            assert_eq!(region.range.start, reached, "disjoint, and nothing between");
            reached = region.range.end;
        }
        assert!(regions.is_empty() || reached == range.end);
    }

    #[test]
    fn a_domain_ends_where_a_stripe_ends() {
        let plain = Layout { alignment: 1, ..Layout::default() };
        let striped = Layout { stripe_size: 4, stripe_count: 2, ..plain };
        for layout in [plain, striped] {
            check(Partitioning::Even, layout, 0..16, &[(0, 4), (4, 8), (8, 12), (12, 16)]);
            check(Partitioning::Even, layout, 3..17, &[(3, 8), (8, 16), (16, 17)]);
            check(Partitioning::Even, layout, 5..5, &[]);
            check(Partitioning::StaticCyclic, layout, 3..17, &[(3, 17)]);
            check(Partitioning::GroupCyclic, layout, 3..30, &[(3, 16), (16, 30)]);
        }
        let end = u64::MAX >> 1;
        check(Partitioning::StaticCyclic, plain, 0..end, &[(0, end)]);
    }

    #[test]
    fn the_stripe_says_who_accesses_it() {
        // L-stripe-contiguous: (offset / stripe size) % aggregators.
        let layout = Layout { stripe_size: 10, stripe_count: 3, ..Layout::default() };
        let domains = Domains::new(Partitioning::StaticCyclic, vec![5, 6, 7], layout, 4);
        let team = 0..3;
        let hosts: Vec<usize> =
            [0, 9, 10, 29, 30, 1005].iter().map(|&at| domains.host(&team, at)).collect();
        assert_eq!(hosts, [5, 5, 6, 7, 5, 6]);
    }

    #[test]
    fn everybody_in_turn_are_all_ranks_of_all_nodes() {
        let nodes = Nodes::new(&[0, 1, 0, 1, 0]);
        let domains = Domains::in_turn(&nodes, 8);
        let team = domains.regions(0..100)[0].team.clone();
        let hosts: Vec<usize> = (0..6).map(|index| domains.host(&team, 8 * index)).collect();
        assert_eq!(hosts, [0, 1, 2, 3, 4, 1]);
    }
}
