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
