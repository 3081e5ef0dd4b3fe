//! Ranks that access a file together must leave in it what a plain loop over bytes could have,
//! whatever is chosen.

use std::sync::Arc;

use super::case::{Own, Random};
use super::disk::Disk;
use super::ranks::{Simulated, simulate_refusing};
use crate::driver::{Driver, Layout};
use crate::engine::individual::{Access, Plan};
use crate::engine::ranks::agree;
use crate::engine::route::{LARGE_PIECE, Route, Wish, route};
use crate::engine::sieve::{Gate, Sieving};
use crate::engine::two_phase::{
    Choice, Nodes, Overlap, Part, Partitioning, Ring, Shape, Transfer, explore, share_parts,
    transfer,
};
use crate::error::Result;
use crate::memory::{Bell, Shared, UserMemory};
use crate::operation::Direction;

const PARTITIONINGS: [Partitioning; 3] =
    [Partitioning::Even, Partitioning::StaticCyclic, Partitioning::GroupCyclic];
const TRANSFERS: [Transfer; 3] = [Transfer::TwoSided, Transfer::PutFence, Transfer::PutLock];
const OVERLAPS: [Overlap; 6] = [
    Overlap::Flow,
    Overlap::None,
    Overlap::Communication,
    Overlap::Write,
    Overlap::WriteCommunication,
    Overlap::WriteCommunication2,
];

/// One access of all ranks.
#[derive(Debug)]
struct Case {
    ranks: Vec<Own>,
    file: Vec<u8>,
    layout: Layout,
    /// The node of each rank.
    nodes: Nodes,
    slots: usize,
    window_size: u64,
    locked_writes: bool,
    /// Runs that are so near are written with the holes between them.
    sieve_stride: u64,
    choice: Choice,
    /// None where everybody accesses the file in turn.
    aggregators: Option<Vec<usize>>,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let most = if random.one_in(10) { 64 } else { 8 };
        let size = 1 + random.below(most);
        let mut ranks: Vec<Own> = (0..size).map(|_| Own::random(&mut random)).collect();
        let apart = random.one_in(3);
        if apart {
            // A group has more stretches of the file then than it can tell of.
            ranks.iter_mut().for_each(|own| own.displacement += 500 * random.below(40));
        }
        let most = 1 + random.below(5.min(size));
        let homes: Vec<u64> = (0..size).map(|_| random.below(most)).collect();
        let leader = |home: &u64| homes.iter().position(|other| other == home);
        let leaders: Vec<usize> = homes.iter().filter_map(leader).collect();
        // Two layers by node or by parts of nodes, or one.
        let nodes = match random.below(4) {
            0 => Nodes::each(size as usize),
            1 => Nodes::new(&leaders).split(1 + random.below(12) as usize),
            _ => Nodes::new(&leaders),
        };
        let file_size = random.below(if apart { 24_000 } else { 6000 });
        let choice = Choice {
            partitioning: PARTITIONINGS[random.below(3) as usize],
            transfer: TRANSFERS[random.below(3) as usize],
            overlap: OVERLAPS[random.below(6) as usize],
        };
        let most = 1 + random.below(size) as usize;
        let aggregators = nodes.choose(1 + random.below(size) as usize, |_| most);
        let stripe_size = if random.one_in(2) { 1 } else { 60 + random.below(600) };
        Case {
            ranks,
            nodes,
            file: (0..file_size).map(|_| random.next() as u8).collect(),
            layout: Layout {
                stripe_size,
                stripe_count: 1 + random.below(4),
                alignment: 1 << random.below(8),
                ..Layout::default()
            },
            slots: 2 + random.below(4) as usize,
            window_size: 16 << random.below(9),
            locked_writes: random.one_in(3),
            sieve_stride: if random.one_in(2) { 0 } else { random.below(200) },
            choice,
            aggregators: (!random.one_in(4)).then_some(aggregators),
        }
    }

    fn run(
        &self,
        direction: Direction,
        disk: &Arc<Disk>,
        memory: &mut [Vec<u8>],
    ) -> Vec<Result<u64>> {
        self.run_refusing(direction, disk, memory, None)
    }

    /// Runs two accesses after each other, so that the slots are used again.
    fn run_refusing(
        &self,
        direction: Direction,
        disk: &Arc<Disk>,
        memory: &mut [Vec<u8>],
        refuses_at: Option<usize>,
    ) -> Vec<Result<u64>> {
        let buffer = |_| Shared::of_process(Ring::size(self.slots)).unwrap();
        let shared: Vec<Shared> = (0..self.nodes.count()).map(buffer).collect();
        let users: Vec<UserMemory> =
            (self.ranks.iter().zip(memory)).map(|(own, memory)| own.user_memory(memory)).collect();
        let (users, shared) = (&users, &shared);
        let driver: Arc<dyn Driver> = disk.clone();
        let driver = &driver;
        simulate_refusing(self.ranks.len(), refuses_at, |ranks| async move {
            let bell = Bell::new(Shared::of_process(Bell::SIZE).unwrap(), 0);
            let ring = Ring::new(shared[self.nodes.of(ranks.rank)].clone(), bell, self.slots, 0);
            let mut last = Ok(0);
            for _ in 0..2 {
                let own = self.rank(&ranks, &ring, direction, driver, &users[ranks.rank]).await;
                last = last.and(own);
            }
            last
        })
    }

    async fn rank(
        &self,
        ranks: &Simulated,
        ring: &Ring,
        direction: Direction,
        disk: &Arc<dyn Driver>,
        memory: &UserMemory,
    ) -> Result<u64> {
        let own = &self.ranks[ranks.rank];
        let view = own.as_view();
        let write = Sieving { stride: self.sieve_stride, buffer_size: 0 };
        let plan = Plan { threads: 1, locked_writes: self.locked_writes, write, ..Plan::default() };
        let gate = &Gate::default();
        let position = own.position;
        let access = Access { direction, view: &view, position, memory, plan, gate };
        let nodes = &self.nodes;
        let (access, parts, all) = share_parts(ranks, nodes, Ok(access), Part::of).await?;
        if route(&all, direction, Wish::Always, LARGE_PIECE) != Route::TwoPhase {
            assert_eq!(all.size, 0, "no common way for {all:?}");
            return Ok(0);
        }
        let territory = explore(ranks, nodes, &parts, &all).await?;
        let size = self.window_size;
        let mut shape = Shape::with_windows(ranks.rank, territory, all.grain, nodes, size);
        if let Some(aggregators) = &self.aggregators {
            let aggregators = aggregators.clone();
            shape = shape.divided(self.choice.partitioning, aggregators, disk.layout());
        }
        let buffer = (ring, &self.nodes);
        let done = transfer(ranks, buffer, disk, &access, &shape, self.choice).await;
        agree(ranks, done).await.map(|done| done.size)
    }

    fn disk(&self) -> Disk {
        let mut disk = Disk::with(self.file.clone());
        disk.layout = self.layout;
        disk
    }
}

/// Unoptimised they take minutes.
const CASES: u64 = if cfg!(debug_assertions) { 300 } else { 3200 };

#[test]
fn writes_what_a_plain_loop_would() {
    for seed in 1..=CASES {
        let case = Case::random(seed);
        let mut random = Random::new(seed + 1);
        let mut fill = |own: &Own| (0..own.room().1).map(|_| random.next() as u8).collect();
        let mut memory: Vec<Vec<u8>> = case.ranks.iter().map(&mut fill).collect();
        let before = memory.clone();
        let disk = Arc::new(case.disk());
        let results = case.run(Direction::Write, &disk, &mut memory);
        let mut allowed: Vec<Vec<u8>> = case.file.iter().map(|&byte| vec![byte]).collect();
        let mut written = vec![false; allowed.len()];
        for ((own, memory), result) in case.ranks.iter().zip(&before).zip(results) {
            assert_eq!(result.unwrap(), own.size(), "seed {seed}");
            for index in 0..own.size() {
                let offset = own.offset(index);
                if allowed.len() <= offset {
                    allowed.resize(offset + 1, vec![0]);
                    written.resize(offset + 1, false);
                }
                if !std::mem::replace(&mut written[offset], true) {
                    allowed[offset].clear();
                }
                allowed[offset].push(memory[(own.room().0 + own.memory.byte(index)) as usize]);
            }
        }
        let bytes = disk.bytes.lock();
        assert_eq!(bytes.len(), allowed.len(), "seed {seed}");
        for (offset, (byte, allowed)) in bytes.iter().zip(&allowed).enumerate() {
            assert!(allowed.contains(byte), "seed {seed}: byte {offset} is {byte}: {allowed:?}");
        }
        assert!(memory == before, "the user's memory has changed: seed {seed}");
        assert_eq!(disk.locks_left(), 0);
    }
}

#[test]
fn reads_what_a_plain_loop_would() {
    for seed in 1..=CASES {
        let case = Case::random(seed);
        let mut memory: Vec<Vec<u8>> =
            case.ranks.iter().map(|own| vec![0xEE; own.room().1]).collect();
        let disk = Arc::new(case.disk());
        let results = case.run(Direction::Read, &disk, &mut memory);
        for (rank, result) in results.into_iter().enumerate() {
            let own = &case.ranks[rank];
            let (expected, size) = own.expected_read(&case.file, 0xEE);
            assert_eq!(result.unwrap(), size, "seed {seed}, rank {rank}");
            let overlap = own.overlaps_in_memory();
            assert!(overlap || memory[rank] == expected, "seed {seed}, rank {rank}");
        }
    }
}

#[test]
fn a_failing_disk_fails_all_ranks_alike_and_hangs_none() {
    for seed in 1..=CASES / 10 {
        let case = Case::random(seed);
        for direction in [Direction::Read, Direction::Write] {
            for fails_at in 1..4 {
                let mut memory: Vec<Vec<u8>> =
                    case.ranks.iter().map(|own| vec![1; own.room().1]).collect();
                let mut disk = case.disk();
                disk.fails_at = Some(fails_at);
                let disk = Arc::new(disk);
                let results = case.run(direction, &disk, &mut memory);
                let failed = results.iter().filter(|result| result.is_err()).count();
                assert!(failed == 0 || failed == results.len(), "seed {seed}");
                let nothing = case.ranks.iter().all(|own| own.size() == 0);
                assert!(nothing || fails_at > 1 || failed > 0, "seed {seed}");
                assert_eq!(disk.locks_left(), 0);
            }
        }
    }
}

#[test]
fn a_message_that_is_refused_fails_all_ranks_alike_and_hangs_none() {
    let mut refused = 0;
    for seed in 1..=CASES / 10 {
        let case = Case::random(seed);
        for direction in [Direction::Read, Direction::Write] {
            for refuses_at in [1, 2, 5] {
                let mut memory: Vec<Vec<u8>> =
                    case.ranks.iter().map(|own| vec![1; own.room().1]).collect();
                let disk = Arc::new(case.disk());
                let at = Some(refuses_at);
                let results = case.run_refusing(direction, &disk, &mut memory, at);
                let failed = results.iter().filter(|result| result.is_err()).count();
                assert!(failed == 0 || failed == results.len(), "seed {seed}");
                refused += usize::from(failed > 0);
            }
        }
    }
    assert!(refused as u64 > CASES / 20, "only {refused} accesses had a message to refuse");
}
