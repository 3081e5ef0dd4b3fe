//! Which ranks share memory.

/// The groups of ranks that share a buffer, numbered in the order of their lowest ranks: the nodes
/// that the ranks of a file live on, parts of nodes, or every rank for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// The node of each rank.
    of: Vec<usize>,
    /// The ranks of each node.
    ranks: Vec<Vec<usize>>,
}

impl Nodes {
    /// From the lowest rank on the node of each rank.
    pub fn new(leaders: &[usize]) -> Nodes {
        let mut ranks: Vec<Vec<usize>> = Vec::new();
        let mut of = Vec::with_capacity(leaders.len());
        for (rank, &leader) in leaders.iter().enumerate() {
            let node = match leader == rank {
                true => {
                    ranks.push(Vec::new());
                    ranks.len() - 1
                }
                false => of[leader],
            };
            ranks[node].push(rank);
            of.push(node);
        }
        Nodes { of, ranks }
    }

    /// One that holds so many ranks.
    pub fn one(size: usize) -> Nodes {
        Nodes { of: vec![0; size], ranks: vec![(0..size).collect()] }
    }

    /// So many ranks after each other on each.
    pub fn in_blocks(size: usize, on_each: usize) -> Nodes {
        Nodes::new(&(0..size).map(|rank| rank - rank % on_each).collect::<Vec<_>>())
    }

    /// So many that get a rank each in turn.
    pub fn in_turn(size: usize, count: usize) -> Nodes {
        Nodes::new(&(0..size).map(|rank| rank % count).collect::<Vec<_>>())
    }

    /// Every rank on its own.
    pub fn each(size: usize) -> Nodes {
        Nodes { of: (0..size).collect(), ranks: (0..size).map(|rank| vec![rank]).collect() }
    }

    /// The same with about `total` groups in all, each a part of a node: of q ranks on a node the
    /// first q mod c of its c groups have one more than the others.
    pub fn split(&self, total: usize) -> Nodes {
        let mut leaders = vec![0; self.of.len()];
        for ranks in &self.ranks {
            let parts = (total / self.count()).clamp(1, ranks.len());
            let (size, more) = (ranks.len() / parts, ranks.len() % parts);
            let mut rest = &ranks[..];
            for part in 0..parts {
                let (group, others) = rest.split_at(size + usize::from(part < more));
                group.iter().for_each(|&rank| leaders[rank] = group[0]);
                rest = others;
            }
        }
        Nodes::new(&leaders)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ranks.len()
    }

    /// How many ranks there are on all of them.
    pub fn size(&self) -> usize {
        self.of.len()
    }

    /// The node of a rank.
    pub fn of(&self, rank: usize) -> usize {
        self.of[rank]
    }

    /// The ranks of a node.
    pub fn ranks(&self, node: usize) -> &[usize] {
        &self.ranks[node]
    }

    /// The lowest rank of each.
    pub fn leaders(&self) -> impl Iterator<Item = usize> {
        self.ranks.iter().map(|ranks| ranks[0])
    }

    /// The rank that speaks for a node about the window at this place.
    pub fn speaker(&self, node: usize, index: u64) -> usize {
        let ranks = &self.ranks[node];
        ranks[(index / self.count() as u64 % ranks.len() as u64) as usize]
    }

    /// At most `count` ranks, as many on each node as on any other, but at most `most(node)`: those
    /// that become aggregators. In their own order, as what they write often is in the file: so the
    /// owner of a part of the file tends to live where its bytes are.
    pub fn choose(&self, count: usize, most: impl Fn(usize) -> usize) -> Vec<usize> {
        let rooms = self.ranks.iter().enumerate().map(|(node, ranks)| most(node).min(ranks.len()));
        let quotas = quotas(count, &rooms.collect::<Vec<_>>());
        let evenly = |(ranks, quota): (&Vec<usize>, usize)| -> Vec<usize> {
            (0..quota).map(|place| ranks[place * ranks.len() / quota]).collect()
        };
        let mut chosen: Vec<usize> = self.ranks.iter().zip(quotas).flat_map(evenly).collect();
        chosen.sort_unstable();
        chosen
    }
}

/// Deals `count` to all as evenly as their rooms allow; what does not go round goes to some of all
/// places.
fn quotas(count: usize, rooms: &[usize]) -> Vec<usize> {
    let mut quotas = vec![0; rooms.len()];
    let mut left = count.min(rooms.iter().sum());
    while left > 0 {
        let open: Vec<usize> = (0..rooms.len()).filter(|&i| quotas[i] < rooms[i]).collect();
        let (each, takers) = ((left / open.len()).max(1), open.len().min(left));
        for taker in 0..takers {
            let taker = open[taker * open.len() / takers];
            let more = each.min(rooms[taker] - quotas[taker]);
            quotas[taker] += more;
            left -= more;
        }
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_spread_over_nodes_and_then_within() {
        let nodes = Nodes::new(&[0, 1, 0, 1, 0]);
        assert_eq!(nodes.count(), 2);
        assert_eq!((nodes.of(2), nodes.of(3)), (0, 1));
        assert_eq!(nodes.choose(9, |_| 9), [0, 1, 2, 3, 4]);
        assert_eq!(nodes.choose(9, |node| 1 + node), [0, 1, 3]);
        assert_eq!(nodes.choose(2, |_| 9), [0, 1]);
        assert_eq!(nodes.choose(3, |_| 9), [0, 1, 2]);
        assert_eq!(nodes.choose(9, |_| 0), []);
        assert_eq!(nodes.choose(0, |_| 9), []);
        // Fewer than nodes: not the first ones, but some of all places.
        assert_eq!(Nodes::in_blocks(16, 2).choose(4, |_| 9), [0, 4, 8, 12]);
        assert_eq!(Nodes::in_blocks(16, 4).choose(8, |_| 9), [0, 2, 4, 6, 8, 10, 12, 14]);
        assert_eq!(Nodes::in_turn(8, 4).choose(4, |_| 9), [0, 1, 2, 3]);
        assert_eq!(Nodes::one(8).choose(3, |_| 9), [0, 2, 5]);
        assert_eq!(quotas(usize::MAX, &[1 << 20, 0, 3]), [1 << 20, 0, 3]);
        assert_eq!(quotas(20, &[3, 100, 3, 100]), [3, 7, 3, 7]);
        assert_eq!(quotas(5, &[]), []);
        assert_eq!(Nodes::one(3), Nodes::new(&[0, 0, 0]));
        assert_eq!(Nodes::each(3), Nodes::new(&[0, 1, 2]));
        assert_eq!(Nodes::in_blocks(5, 2), Nodes::new(&[0, 0, 2, 2, 4]));
        assert_eq!(Nodes::in_turn(5, 2), nodes);
    }

    #[test]
    fn local_aggregators_are_spread_out() {
        // Kang et al., 3.1: of 8 ranks on a node the local ranks 0, 3 and 6 gather for the others.
        let nodes = Nodes::one(8).split(3);
        let groups: Vec<&[usize]> = (0..nodes.count()).map(|node| nodes.ranks(node)).collect();
        assert_eq!(groups, [&[0, 1, 2][..], &[3, 4, 5], &[6, 7]]);
        let two = Nodes::new(&[0, 1, 0, 1, 0]);
        assert_eq!(two.split(2), two);
        assert_eq!(two.split(1), two);
        assert_eq!(two.split(4).count(), 4);
        assert_eq!(two.split(99), Nodes::each(5));
    }
}
