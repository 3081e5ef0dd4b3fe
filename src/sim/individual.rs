//! The individual engine must do what a plain loop over bytes does.

use std::sync::Arc;

use super::case::{Random, Typed};
use super::disk::Disk;
use crate::engine::individual::{Access, Done, Plan, transfer};
use crate::engine::sieve::{Gate, Sieving};
use crate::error::Result;
use crate::memory::UserMemory;
use crate::operation::Direction;
use crate::view::layout::View;
use crate::view::typemap::Typemap;

/// One access of one rank.
#[derive(Debug)]
struct Case {
    view: Typed,
    displacement: u64,
    position: u64,
    memory: Typed,
    count: u64,
    file: Vec<u8>,
    plan: Plan,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let view = Typed::random(&mut random, true);
        let memory = Typed::random(&mut random, false);
        let size = random.below(6000);
        let sieving = |random: &mut Random| Sieving {
            stride: [0, 8, 100, u64::MAX][random.below(4) as usize],
            buffer_size: [1, 7, 64, 1000, 100_000][random.below(5) as usize],
        };
        Case {
            displacement: random.below(50),
            position: random.below(2 * view.bytes.len() as u64 + 1),
            view,
            memory,
            count: random.below(4),
            file: (0..size).map(|_| random.next() as u8).collect(),
            plan: Plan {
                threads: 1,
                concurrent_writes: true,
                read: sieving(&mut random),
                write: sieving(&mut random),
                locked_writes: random.one_in(2),
            },
        }
    }

    fn size(&self) -> u64 {
        self.count * self.memory.bytes.len() as u64
    }

    /// Where the case's memory starts in a buffer that holds all of it, and the buffer's size.
    fn room(&self) -> (i64, usize) {
        let places = (0..self.size()).map(|position| self.memory.byte(position));
        let low = places.clone().min().unwrap_or(0).min(0);
        let high = places.max().unwrap_or(0).max(0) + 1;
        (-low, (high - low) as usize)
    }

    fn run(&self, direction: Direction, disk: &Disk, memory: &mut [u8]) -> Result<Done> {
        let (origin, _) = self.room();
        let typemap = self.memory.typemap.clone();
        let user = UserMemory::within(memory, origin, typemap, self.count);
        let view = View {
            displacement: self.displacement,
            etype_size: 1,
            filetype: Arc::new(self.view.typemap.clone()),
        };
        let access = Access {
            direction,
            view: &view,
            position: self.position,
            memory: &user,
            plan: self.plan,
            gate: &Gate::default(),
        };
        let result = transfer(disk, &access);
        assert_eq!(disk.locks_left(), 0);
        result
    }

    fn offset(&self, index: u64) -> usize {
        (self.displacement as i64 + self.view.byte(self.position + index)) as usize
    }
}

#[test]
fn writes_what_a_plain_loop_would() {
    for seed in 1..=4000 {
        let case = Case::random(seed);
        let (origin, room) = case.room();
        let mut random = Random::new(seed + 1);
        let mut memory: Vec<u8> = (0..room).map(|_| random.next() as u8).collect();
        let before = memory.clone();
        let disk = Disk::with(case.file.clone());
        let done = case.run(Direction::Write, &disk, &mut memory).unwrap();
        assert_eq!(done.size, case.size(), "seed {seed}: {case:?}");

        let mut expected = case.file.clone();
        for index in 0..case.size() {
            let offset = case.offset(index);
            if expected.len() <= offset {
                expected.resize(offset + 1, 0);
            }
            expected[offset] = before[(origin + case.memory.byte(index)) as usize];
        }
        assert!(*disk.bytes.lock() == expected, "wrong file: seed {seed}: {case:?}");
        assert!(memory == before, "the user's memory has changed: seed {seed}: {case:?}");
    }
}

#[test]
fn reads_what_a_plain_loop_would() {
    for seed in 1..=4000 {
        let case = Case::random(seed);
        let (origin, room) = case.room();
        let mut memory = vec![0xEE; room];
        let disk = Disk::with(case.file.clone());
        let done = case.run(Direction::Read, &disk, &mut memory).unwrap();

        let mut expected = vec![0xEE; room];
        let mut size = 0;
        for index in 0..case.size() {
            let Some(&byte) = case.file.get(case.offset(index)) else { break };
            expected[(origin + case.memory.byte(index)) as usize] = byte;
            size = index + 1;
        }
        assert_eq!(done.size, size, "seed {seed}: {case:?}");
        // Pieces that overlap in memory may be filled in any order: MPI forbids reading so.
        let mut places: Vec<i64> = (0..case.size()).map(|i| case.memory.byte(i)).collect();
        places.sort_unstable();
        let overlap = places.windows(2).any(|pair| pair[0] == pair[1]);
        assert!(overlap || memory == expected, "wrong memory: seed {seed}: {case:?}");
    }
}

#[test]
fn a_view_that_names_bytes_twice_is_read_byte_by_byte() {
    let file: Vec<u8> = (0..5000).map(|i| (i * 7 / 3) as u8).collect();
    for (run, extent, size) in [(1000, 100, 3000), (1000, 900, 5000), (2000, 1, 9000), (1, 1, 10)] {
        for buffer_size in [1, 64, 1000, 100_000] {
            let filetype = Arc::new(Typemap::bytes(run).resized(0, extent));
            let view = View { displacement: 4000, etype_size: 1, filetype };
            let sieving = Sieving { stride: u64::MAX, buffer_size };
            let plan = Plan { threads: 1, read: sieving, write: sieving, ..Plan::default() };
            let mut memory = vec![0xEE; size];
            let user = UserMemory::within(&mut memory, 0, Typemap::bytes(size as u64), 1);
            let disk = Disk::with(file.clone());
            let gate = &Gate::default();
            let (direction, position) = (Direction::Read, 0);
            let access = Access { direction, view: &view, position, memory: &user, plan, gate };
            let done = transfer(&disk, &access).unwrap();
            let place = |i: usize| 4000 + i / run as usize * extent as usize + i % run as usize;
            let expected: Vec<u8> =
                (0..size).map_while(|index| file.get(place(index)).copied()).collect();
            assert_eq!(done.size, expected.len() as u64, "{run} bytes every {extent}");
            assert!(memory.starts_with(&expected), "{run} bytes every {extent}");
        }
    }
}

#[test]
fn a_failing_disk_is_an_error_and_leaves_no_lock() {
    for seed in 1..=500 {
        let case = Case::random(seed);
        if case.size() == 0 {
            continue;
        }
        let (_, room) = case.room();
        for direction in [Direction::Read, Direction::Write] {
            for fails_at in 1..4 {
                let mut memory = vec![1; room];
                let mut disk = Disk::with(case.file.clone());
                disk.fails_at = Some(fails_at);
                let failed = case.run(direction, &disk, &mut memory).is_err();
                assert!(failed || fails_at > 1, "seed {seed}: {case:?}");
            }
        }
    }
}

#[test]
fn threads_move_the_same_bytes() {
    let typemap = Typemap::bytes(3).resized(0, 5);
    let count = 6_000_000;
    let mut memory: Vec<u8> = (0..count * 5).map(|i| (i * 7 / 3) as u8).collect();
    let user = UserMemory::within(&mut memory, 0, typemap, count as u64);
    let filetype = Arc::new(Typemap::bytes(1000).resized(0, 1500));
    let view = View { displacement: 3, etype_size: 1, filetype };
    let files: Vec<Vec<u8>> = [1, 3]
        .map(|threads| {
            let none = Sieving { stride: 0, buffer_size: 1 };
            let plan = Plan { threads, read: none, write: none, ..Plan::default() };
            let disk = Disk::default();
            let gate = Gate::default();
            let access = Access {
                direction: Direction::Write,
                view: &view,
                position: 17,
                memory: &user,
                plan,
                gate: &gate,
            };
            let done = transfer(&disk, &access).unwrap();
            assert_eq!((done.size, done.threads), (18_000_000, threads));
            disk.bytes.into_inner()
        })
        .into();
    assert!(files[0] == files[1]);
}
