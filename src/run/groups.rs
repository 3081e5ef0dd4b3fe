//! Groups of ranks that share a collective buffer and speak as one, and how they tell each other
//! things.

use super::block_on;
use super::communicator::{Communicator, finished};
use crate::engine::ranks::{InGroups, Ranks, agree, share};
use crate::engine::two_phase::Nodes;
use crate::error::Result;
use crate::mpi::Comm;

/// The groups of all ranks, as one rank sees them.
pub(super) struct Groups {
    pub(super) nodes: Nodes,
    /// Where the groups are on several nodes: the communicators to talk with.
    lines: Option<Lines>,
}

struct Lines {
    /// The ranks of this rank's node, which may hold several groups.
    home: Vec<usize>,
    node: Comm,
    /// The first ranks of all groups, or all others.
    peers: Comm,
}

impl Groups {
    /// Every rank is one.
    pub(super) fn each(size: usize) -> Groups {
        Groups { nodes: Nodes::each(size), lines: None }
    }

    /// About so many, or one, where all ranks share memory.
    pub(super) fn on_one_node(size: usize, count: usize) -> Groups {
        Groups { nodes: Nodes::one(size).split(count), lines: None }
    }

    /// About so many, or one on each node. Collective.
    pub(super) fn on_nodes(ranks: &Communicator, count: usize) -> Result<Groups> {
        let comm = ranks.comm();
        let node = block_on(ranks, agree(ranks, comm.split_by_node()))?;
        let homes = Groups::homes(ranks, node).inspect_err(|_| node.free())?;
        let nodes = homes.split(count);
        let leads = nodes.ranks(nodes.of(ranks.rank()))[0] == ranks.rank();
        let peers = block_on(ranks, agree(ranks, comm.split(usize::from(!leads))))
            .inspect_err(|_| node.free())?;
        let home = homes.ranks(homes.of(ranks.rank())).to_vec();
        Ok(Groups { nodes, lines: Some(Lines { home, node, peers }) })
    }

    fn homes(ranks: &Communicator, node: Comm) -> Result<Nodes> {
        let leader = node.allreduce_max_of(-(ranks.rank() as i64)).map(|least| -least);
        let told = block_on(ranks, share(ranks, leader, |&leader| [leader]))?.1;
        let leaders: Vec<usize> = told.iter().map(|leader| leader[0] as usize).collect();
        Ok(Nodes::new(&leaders))
    }

    /// The ranks that share memory with this one, where not all do.
    pub(super) fn node(&self) -> Option<Comm> {
        self.lines.as_ref().map(|lines| lines.node)
    }

    /// The place of a rank's group among those of its node, and how many there are.
    pub(super) fn place(&self, rank: usize) -> (usize, usize) {
        let Some(lines) = &self.lines else { return (self.nodes.of(rank), self.nodes.count()) };
        let mut here: Vec<usize> = lines.home.iter().map(|&rank| self.nodes.of(rank)).collect();
        here.sort_unstable();
        here.dedup();
        let own = here.iter().position(|&group| group == self.nodes.of(rank));
        (own.unwrap_or(0), here.len())
    }

    /// What the ranks of this one's group told, and what `digest` makes of that in each group,
    /// where not all share memory.
    pub(super) async fn gather(
        &self,
        ranks: &Communicator,
        values: Box<[i64]>,
        digest: impl Fn(&[i64]) -> Box<[i64]>,
    ) -> Result<InGroups> {
        let Some(Lines { home, node, peers }) = &self.lines else {
            let digests = finished(ranks.comm().start_allgather(&digest(&values))?).await?;
            return Ok((values, digests));
        };
        let width = values.len();
        let here = finished(node.start_allgather(&values)?).await?;
        let group = self.nodes.ranks(self.nodes.of(ranks.rank()));
        let places = home.iter().enumerate().filter(|(_, rank)| group.contains(rank));
        let own = rows(&here, width, places.map(|(place, _)| place));
        let digest = digest(&own);
        let mut all = vec![0; digest.len() * self.nodes.count()].into();
        if group[0] == ranks.rank() {
            all = finished(peers.start_allgather(&digest)?).await?;
        }
        let bytes = all.iter().flat_map(|number| number.to_le_bytes()).collect();
        let bytes = finished(node.start_broadcast(bytes, 0)?).await?;
        let number = |chunk: &[u8; 8]| i64::from_le_bytes(*chunk);
        Ok((own, bytes.as_chunks::<8>().0.iter().map(number).collect()))
    }

    /// Gives everything back. Collective.
    pub(super) fn free(&self) {
        if let Some(lines) = &self.lines {
            lines.node.free();
            lines.peers.free();
        }
    }
}

/// Those at certain places of rows that are so wide.
pub(super) fn rows(all: &[i64], width: usize, places: impl Iterator<Item = usize>) -> Box<[i64]> {
    places.flat_map(|place| &all[place * width..][..width]).copied().collect()
}
