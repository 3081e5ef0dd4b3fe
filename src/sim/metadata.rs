//! How much ranks tell each other before a collective access, at the size of large machines.

use std::ops::Range;

use super::ranks::simulate;
use crate::engine::two_phase::{Nodes, Part, explore, share_parts};

/// Unoptimised so many take a minute.
const MANY: usize = if cfg!(debug_assertions) { 4096 } else { 16_384 };

const ON_A_NODE: usize = 64;

/// Bytes of a rank's part, with its place if it has failed.
const PART: usize = 48;

/// Bytes of the facts about all groups, with the place of a rank that has failed.
const FACTS: usize = 72;

/// Bytes of where a group is.
const STRETCHES: usize = 64;

/// What any rank hears at most if each has a part like this.
fn heard(groups: &Nodes, part: impl Fn(usize) -> Range<u64>) -> usize {
    let part = &part;
    let heard = simulate(groups.size(), |ranks| async move {
        let Range { start, end } = part(ranks.rank);
        let own = Part { start, end, size: 4096, piece: 8, orderly: true, ..Part::default() };
        let (own, parts, all) = share_parts(&ranks, groups, Ok(own), |&own| own).await.unwrap();
        let territory = explore(&ranks, groups, &parts, &all).await.unwrap();
        assert!(territory.parts.contains(&own.range()));
        ranks.heard.get()
    });
    heard.into_iter().max().unwrap_or(0)
}

/// As E3SM's F case: many small pieces of every rank all over the file.
fn everywhere(rank: usize) -> Range<u64> {
    8 * rank as u64..(1 << 30) + 8 * rank as u64
}

/// A block of the file for every rank.
fn blocks(rank: usize) -> Range<u64> {
    (rank as u64) << 20..(rank as u64 + 1) << 20
}

#[test]
fn what_a_rank_hears_does_not_grow_with_the_ranks_that_are_everywhere() {
    for size in [1024, MANY] {
        let nodes = Nodes::in_blocks(size, ON_A_NODE);
        assert_eq!(heard(&nodes, everywhere), ON_A_NODE * PART + FACTS, "{size} ranks");
        // Two local aggregators on each node.
        let groups = nodes.split(2 * nodes.count());
        assert_eq!(heard(&groups, everywhere), ON_A_NODE / 2 * PART + FACTS, "{size} ranks");
    }
}

#[test]
fn where_groups_are_in_different_places_a_rank_hears_of_each() {
    for size in [1024, MANY] {
        let nodes = Nodes::in_blocks(size, ON_A_NODE);
        let told = ON_A_NODE * PART + FACTS + nodes.count() * STRETCHES;
        assert_eq!(heard(&nodes, blocks), told, "{size} ranks");
    }
}
