//! Ranks that access a file together must leave in it what a plain loop over bytes could have.

use super::case::{Own, Random};
use super::disk::Disk;
use super::ranks::{Simulated, simulate};
use crate::engine::individual::{Access, Plan};
use crate::engine::ranks::{agree, share};
use crate::engine::route::{Route, Wish, route};
use crate::engine::sieve::Gate;
use crate::engine::two_phase::{Nodes, Part, Ring, Shape, transfer};
use crate::error::Result;
use crate::memory::{Bell, Shared, UserMemory};
use crate::operation::Direction;

/// One access of all ranks.
#[derive(Debug)]
struct Case {
    ranks: Vec<Own>,
    file: Vec<u8>,
    /// The node of each rank.
    nodes: Nodes,
    slots: usize,
    window_size: u64,
    locked_writes: bool,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let most = if random.one_in(10) { 64 } else { 8 };
        let size = 1 + random.below(most);
        let ranks = (0..size).map(|_| Own::random(&mut random)).collect();
        let most = 1 + random.below(5.min(size));
        let homes: Vec<u64> = (0..size).map(|_| random.below(most)).collect();
        let leader = |home: &u64| homes.iter().position(|other| other == home);
        let leaders: Vec<usize> = homes.iter().filter_map(leader).collect();
        let file_size = random.below(6000);
        Case {
            ranks,
            nodes: Nodes::new(&leaders),
            file: (0..file_size).map(|_| random.next() as u8).collect(),
            slots: 1 + random.below(3) as usize,
            window_size: 16 << random.below(9),
            locked_writes: random.one_in(3),
        }
    }

    /// Runs two accesses after each other, so that the slots are used again.
    fn run(&self, direction: Direction, disk: &Disk, memory: &mut [Vec<u8>]) -> Vec<Result<u64>> {
        let buffer = |_| Shared::of_process(Ring::size(self.slots).0).unwrap();
        let shared: Vec<Shared> = (0..self.nodes.count()).map(buffer).collect();
        let users: Vec<UserMemory> =
            (self.ranks.iter().zip(memory)).map(|(own, memory)| own.user_memory(memory)).collect();
        let (users, shared) = (&users, &shared);
        simulate(self.ranks.len(), |ranks| async move {
            let bell = Bell::new(Shared::of_process(Bell::SIZE).unwrap(), 0);
            let ring = Ring::new(shared[self.nodes.of(ranks.rank)].clone(), bell, self.slots, 0);
            let mut last = Ok(0);
            for _ in 0..2 {
                last = self.rank(&ranks, &ring, direction, disk, &users[ranks.rank]).await;
            }
            last
        })
    }

    async fn rank(
        &self,
        ranks: &Simulated,
        ring: &Ring,
        direction: Direction,
        disk: &Disk,
        memory: &UserMemory,
    ) -> Result<u64> {
        let own = &self.ranks[ranks.rank];
        let view = own.as_view();
        let plan = Plan { threads: 1, locked_writes: self.locked_writes, ..Plan::default() };
        let gate = &Gate::default();
        let position = own.position;
        let access = Access { direction, view: &view, position, memory, plan, gate };
        let part = |access: &Access<'_>| Part::of(access).encode();
        let (access, parts) = share(ranks, Ok(access), part).await?;
        let parts: Vec<Part> = parts.iter().map(|numbers| Part::decode(numbers)).collect();
        if route(&parts, Wish::Always) != Route::TwoPhase {
            let nothing = parts.iter().all(|part| part.size == 0);
            assert!(nothing, "no common way for {parts:?}");
            return Ok(0);
        }
        let shape = Shape::with_windows(&parts, self.window_size);
        let done = transfer(ranks, (ring, &self.nodes), disk, &access, &shape).await;
        agree(ranks, done).await.map(|done| done.size)
    }
}

/// Unoptimised they take minutes.
const CASES: u64 = if cfg!(debug_assertions) { 300 } else { 3000 };

#[test]
fn writes_what_a_plain_loop_would() {
    for seed in 1..=CASES {
        let case = Case::random(seed);
        let mut random = Random::new(seed + 1);
        let mut fill = |own: &Own| (0..own.room().1).map(|_| random.next() as u8).collect();
        let mut memory: Vec<Vec<u8>> = case.ranks.iter().map(&mut fill).collect();
        let before = memory.clone();
        let disk = Disk::with(case.file.clone());
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
        let disk = Disk::with(case.file.clone());
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
                let mut disk = Disk::with(case.file.clone());
                disk.fails_at = Some(fails_at);
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
