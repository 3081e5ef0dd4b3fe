//! Rounds: as many windows at a time as half of every node's buffer holds.

use std::collections::HashMap;

use super::nodes::Nodes;
use super::windows::{Window, Windows};
use crate::operation::Direction;

/// Windows that are handled together, and what nodes send each other about them. All ranks have
/// the same rounds.
#[derive(Debug)]
pub struct Round {
    /// Whoever has to do with them.
    pub windows: Vec<Window>,
    /// In the order of the windows.
    pub letters: Vec<Letter>,
    /// Most letters that any rank receives.
    pub most_letters: usize,
}

/// Something that a rank sends another about a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The one that sends it.
    pub from: usize,
    /// The one that receives it.
    pub to: usize,
    /// Place of the window in the round.
    pub window: usize,
    /// The node that is not the window's owner.
    pub guest: usize,
    /// Counts the letters to the same rank.
    pub place: usize,
}

/// The rounds of an access, one after the other.
pub struct Rounds<'a> {
    windows: Windows<'a>,
    nodes: &'a Nodes,
    direction: Direction,
    /// Most windows that a node has in a round.
    most: usize,
    /// Read, but left for the next round.
    left: Option<Window>,
    /// How many windows of all rounds so far this node has to do with.
    pub count: u64,
    node: usize,
}

impl<'a> Rounds<'a> {
    /// For a node whose ring has so many slots, as those of all others.
    pub fn new(
        windows: Windows<'a>,
        nodes: &'a Nodes,
        node: usize,
        direction: Direction,
        slots: u64,
    ) -> Rounds<'a> {
        let most = (slots as usize / 2).max(1);
        Rounds { windows, nodes, direction, most, left: None, count: 0, node }
    }
}

impl Iterator for Rounds<'_> {
    type Item = Round;

    fn next(&mut self) -> Option<Round> {
        let mut round = Round { windows: Vec::new(), letters: Vec::new(), most_letters: 0 };
        let mut held: HashMap<usize, usize> = HashMap::new();
        let mut received: HashMap<usize, usize> = HashMap::new();
        while let Some(window) = self.left.take().or_else(|| self.windows.next_of_all(true)) {
            let concerned = || window.guests.iter().copied().chain([window.owner]);
            if concerned().any(|node| held.get(&node).is_some_and(|&held| held >= self.most)) {
                self.left = Some(window);
                break;
            }
            concerned().for_each(|node| *held.entry(node).or_default() += 1);
            self.count += u64::from(window.is_ours(self.node));
            for &guest in &window.guests {
                let speaker = self.nodes.speaker(guest, window.index);
                let (from, to) = match self.direction {
                    Direction::Write => (speaker, window.host),
                    Direction::Read => (window.host, speaker),
                };
                let count = received.entry(to).or_default();
                let place = *count;
                *count += 1;
                round.most_letters = round.most_letters.max(*count);
                let letter = Letter { from, to, window: round.windows.len(), guest, place };
                round.letters.push(letter);
            }
            round.windows.push(window);
        }
        (!round.windows.is_empty()).then_some(round)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::choice::Partitioning;
    use super::super::domains::Domains;
    use super::super::windows::Territory;
    use super::*;
    use crate::driver::Layout;

    const RANKS: usize = 16_384;
    const ON_A_NODE: usize = 64;
    const WINDOW: u64 = 512 << 10;

    /// Letters of some rounds, counted at the rank that receives most of them in one window's
    /// name, and at the one that receives most in a round.
    fn count(nodes: &Nodes, parts: &[Range<u64>], aggregators: Vec<usize>) -> (usize, usize) {
        let reach = |&rank: &usize| parts[rank].clone();
        let of = |node: usize| nodes.ranks(node).iter().map(reach).collect::<Vec<_>>();
        let hull = |node: usize| {
            let parts = of(node);
            let end = parts.iter().map(|part| part.end).max().unwrap_or(0);
            vec![parts[0].start..end]
        };
        let stretches = (0..nodes.count()).map(hull).collect();
        let territory = Territory { parts: of(0), stretches };
        let layout = Layout { stripe_size: 1 << 20, stripe_count: 64, ..Layout::default() };
        let domains = Domains::new(Partitioning::StaticCyclic, aggregators, layout, WINDOW);
        let windows = Windows::new(&territory, nodes, 0, &domains, WINDOW);
        let (mut of_a_window, mut of_a_round) = (0, 0);
        for round in Rounds::new(windows, nodes, 0, Direction::Write, 8).take(2) {
            let most = round.windows.iter().map(|window| window.guests.len()).max();
            of_a_window = of_a_window.max(most.unwrap_or(0));
            of_a_round = of_a_round.max(round.most_letters);
            assert!(round.windows.len() <= 4, "half of the slots: every node visits all of them");
        }
        (of_a_window, of_a_round)
    }

    /// As E3SM's F case: every rank has many small pieces all over the file, so every node has to
    /// do with every window. What an aggregator receives is bounded by the groups that speak.
    #[test]
    fn an_aggregator_of_16384_ranks_hears_from_each_local_aggregator_once_for_a_window() {
        let parts: Vec<Range<u64>> =
            (0..RANKS as u64).map(|rank| rank * 8..(1 << 30) + rank * 8).collect();
        let leaders: Vec<usize> = (0..RANKS).map(|rank| rank / ON_A_NODE * ON_A_NODE).collect();
        let nodes = Nodes::new(&leaders);
        let aggregators: Vec<usize> = nodes.choose(64, |_| 1);
        // One group on each of the 256 nodes, or 512 in all as Kang et al. have it.
        assert_eq!(count(&nodes, &parts, aggregators.clone()), (255, 2 * 255));
        let groups = nodes.split(512);
        assert_eq!(groups.count(), 512);
        assert_eq!(count(&groups, &parts, aggregators.clone()), (511, 2 * 511));
        // One layer is the special case in which every rank speaks for itself.
        assert_eq!(nodes.split(RANKS), Nodes::each(RANKS));
    }
}
