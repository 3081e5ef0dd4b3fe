//! Groups of ranks that share a collective buffer and speak as one, and how they tell each other
//! things.

use super::block_on;
use super::communicator::{Communicator, finished};
use crate::engine::ranks::{Combined, Ranks, Survey, agree, share};
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
        let homes = homes(ranks)?;
        let nodes = homes.split(count);
        let node = block_on(ranks, agree(ranks, comm.split_by_node()))?;
        let leads = leads(&nodes, ranks.rank());
        let peers = block_on(ranks, agree(ranks, comm.split(usize::from(!leads))))
            .inspect_err(|_| node.free())?;
        let home = homes.ranks(homes.of(ranks.rank())).to_vec();
        Ok(Groups { nodes, lines: Some(Lines { home, node, peers }) })
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

    /// What the ranks of this one's group told, where not all share memory.
    pub(super) async fn gather(
        &self,
        ranks: &Communicator,
        values: Box<[i64]>,
    ) -> Result<Box<[i64]>> {
        let Some(Lines { home, node, .. }) = &self.lines else { return Ok(values) };
        let width = values.len();
        let here = finished(node.start_allgather(&values)?).await?;
        let group = self.nodes.ranks(self.nodes.of(ranks.rank()));
        let places = home.iter().enumerate().filter(|(_, rank)| group.contains(rank));
        Ok(rows(&here, width, places.map(|(place, _)| place)))
    }

    /// Sums and largest values of all groups, where not all ranks share memory.
    pub(super) async fn combine(
        &self,
        ranks: &Communicator,
        sums: Box<[i64]>,
        most: Box<[i64]>,
    ) -> Result<Combined> {
        let reduce = async |comm: Comm, sums, most| {
            let (sums, most) = (comm.start_allreduce_sum(sums)?, comm.start_allreduce_max(most)?);
            Ok((finished(sums).await?, finished(most).await?))
        };
        let Some(lines) = &self.lines else { return reduce(ranks.comm(), sums, most).await };
        let (count, both) = (sums.len(), [&sums[..], &most].concat());
        let both = match leads(&self.nodes, ranks.rank()) {
            true => {
                let (sums, most) = reduce(lines.peers, sums, most).await?;
                [sums, most].concat()
            }
            false => both,
        };
        let both = lines.tell(both).await?;
        Ok((both[..count].into(), both[count..].into()))
    }

    /// The values of each group, where not all ranks share memory.
    pub(super) async fn gather_all(
        &self,
        ranks: &Communicator,
        values: Box<[i64]>,
    ) -> Result<Box<[i64]>> {
        let Some(lines) = &self.lines else {
            return finished(ranks.comm().start_allgather(&values)?).await;
        };
        let all = match leads(&self.nodes, ranks.rank()) {
            true => finished(lines.peers.start_allgather(&values)?).await?.into(),
            false => vec![0; values.len() * self.nodes.count()],
        };
        lines.tell(all).await
    }

    /// Gives everything back. Collective.
    pub(super) fn free(&self) {
        if let Some(lines) = &self.lines {
            lines.node.free();
            lines.peers.free();
        }
    }
}

impl Lines {
    /// Tells the node what its first rank knows; the others give as many numbers.
    async fn tell(&self, numbers: Vec<i64>) -> Result<Box<[i64]>> {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let bytes = finished(self.node.start_broadcast(bytes, 0)?).await?;
        let number = |chunk: &[u8; 8]| i64::from_le_bytes(*chunk);
        Ok(bytes.as_chunks::<8>().0.iter().map(number).collect())
    }
}

/// Whether a rank speaks for its group.
fn leads(groups: &Nodes, rank: usize) -> bool {
    groups.ranks(groups.of(rank))[0] == rank
}

/// The node of each rank. Where ranks are dealt out to the nodes in blocks or in turn, as launchers
/// do, all compute it, and nobody has to hear of every other. Collective.
pub fn homes(ranks: &Communicator) -> Result<Nodes> {
    let (rank, size, here) = (ranks.rank(), ranks.size(), ranks.nodes());
    if here.node_count == 1 {
        return Ok(Nodes::one(size));
    }
    let mut survey = Survey::new(ranks);
    let equal = survey.same(here.node_size as i64);
    let strays = |leader: usize| i64::from(here.leader != leader);
    let blocks = survey.most(strays(rank - rank % here.node_size));
    let turns = survey.most(strays(rank % here.node_count));
    let ((), answers) = block_on(ranks, survey.hold(Ok(())))?;
    if answers.same(equal) && answers.most(blocks) == 0 {
        return Ok(Nodes::in_blocks(size, here.node_size));
    }
    if answers.most(turns) == 0 {
        return Ok(Nodes::in_turn(size, here.node_count));
    }
    let (_, told) = block_on(ranks, share(ranks, Ok(here.leader), |&leader| [leader as i64]))?;
    Ok(Nodes::new(&told.iter().map(|leader| leader[0] as usize).collect::<Vec<_>>()))
}

/// Those at certain places of rows that are so wide.
pub(super) fn rows(all: &[i64], width: usize, places: impl Iterator<Item = usize>) -> Box<[i64]> {
    places.flat_map(|place| &all[place * width..][..width]).copied().collect()
}
