//! Which ranks share memory.

/// The nodes that the ranks of a file live on, numbered in the order of their lowest ranks.
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

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ranks.len()
    }

    /// The node of a rank.
    pub fn of(&self, rank: usize) -> usize {
        self.of[rank]
    }

    /// The ranks of a node.
    pub fn ranks(&self, node: usize) -> &[usize] {
        &self.ranks[node]
    }

    /// The node that accesses the file for the window at this place.
    pub fn owner(&self, index: u64) -> usize {
        (index % self.count() as u64) as usize
    }

    /// The rank that speaks for a node about the window at this place.
    pub fn host(&self, node: usize, index: u64) -> usize {
        let ranks = &self.ranks[node];
        ranks[(index / self.count() as u64 % ranks.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_spread_over_nodes_and_then_over_their_ranks() {
        let nodes = Nodes::new(&[0, 1, 0, 1, 0]);
        assert_eq!(nodes.count(), 2);
        assert_eq!((nodes.of(2), nodes.of(3)), (0, 1));
        let hosts: Vec<_> = (0..6).map(|index| nodes.host(nodes.owner(index), index)).collect();
        assert_eq!(hosts, [0, 1, 2, 3, 4, 1]);
        assert_eq!(Nodes::one(3), Nodes::new(&[0, 0, 0]));
    }
}
