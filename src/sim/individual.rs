//! The individual engine must do what a plain loop over bytes does.

use std::sync::Arc;

use super::case::{Own, Random};
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
    own: Own,
    file: Vec<u8>,
    plan: Plan,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let own = Own::random(&mut random);
        let size = random.below(6000);
        let sieving = |random: &mut Random| Sieving {
            stride: [0, 8, 100, u64::MAX][random.below(4) as usize],
            buffer_size: [1, 7, 64, 1000, 100_000][random.below(5) as usize],
        };
        Case {
            own,
            file: (0..size).map(|_| random.next() as u8).collect(),
            plan: Plan {
                threads: 1,
                concurrent_writes: true,
                read: sieving(&mut random),
                write: sieving(&mut random),
                locked_writes: random.one_in(2),
                locked_reads: random.one_in(3),
            },
        }
    }

    fn run(&self, direction: Direction, disk: &Disk, memory: &mut [u8]) -> Result<Done> {
        let user = self.own.user_memory(memory);
        let view = self.own.as_view();
        let access = Access {
            direction,
            view: &view,
            position: self.own.position,
            memory: &user,
            plan: self.plan,
            gate: &Gate::default(),
        };
        let result = transfer(disk, &access);
        assert_eq!(disk.locks_left(), 0);
        result
    }
}

#[test]
fn writes_what_a_plain_loop_would() {
    for seed in 1..=4000 {
        let case = Case::random(seed);
        let (origin, room) = case.own.room();
        let mut random = Random::new(seed + 1);
        let mut memory: Vec<u8> = (0..room).map(|_| random.next() as u8).collect();
        let before = memory.clone();
        let disk = Disk::with(case.file.clone());
        let done = case.run(Direction::Write, &disk, &mut memory).unwrap();
        assert_eq!(done.size, case.own.size(), "seed {seed}: {case:?}");

        let mut expected = case.file.clone();
        for index in 0..case.own.size() {
            let offset = case.own.offset(index);
            if expected.len() <= offset {
                expected.resize(offset + 1, 0);
            }
            expected[offset] = before[(origin + case.own.memory.byte(index)) as usize];
        }
        assert!(*disk.bytes.lock() == expected, "wrong file: seed {seed}: {case:?}");
        assert!(memory == before, "the user's memory has changed: seed {seed}: {case:?}");
    }
}

#[test]
fn reads_what_a_plain_loop_would() {
    for seed in 1..=4000 {
        let case = Case::random(seed);
        let mut memory = vec![0xEE; case.own.room().1];
        let disk = Disk::with(case.file.clone());
        let done = case.run(Direction::Read, &disk, &mut memory).unwrap();
        let (expected, size) = case.own.expected_read(&case.file, 0xEE);
        assert_eq!(done.size, size, "seed {seed}: {case:?}");
        let overlap = case.own.overlaps_in_memory();
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
        if case.own.size() == 0 {
            continue;
        }
        let (_, room) = case.own.room();
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
    let typemap = Typemap::bytes(2).resized(0, 5);
    let count = 9_000_000;
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
