//! Accesses: a view, a buffer and a plan of any kind move the bytes that a plain loop would, to
//! and from a real file, and touch no others.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};

use mpiio_rs::driver::Driver;
use mpiio_rs::driver::detect::Kind;
use mpiio_rs::driver::open::{OpenOptions, open};
use mpiio_rs::engine::individual::{Access, Done, Plan, transfer};
use mpiio_rs::engine::sieve::{Gate, Sieving};
use mpiio_rs::memory::UserMemory;
use mpiio_rs::operation::Direction;
use mpiio_rs::view::layout::View;
use mpiio_rs::view::typemap::Monotony;

use super::Numbers;
use super::typemap::{Built, Plain};

/// Memory and files are no larger.
const ROOM: i128 = 1 << 13;

struct Case {
    view: Built,
    displacement: u64,
    position: u64,
    memory: Built,
    count: u64,
    /// Byte of the buffer that the caller's address names.
    origin: i128,
    file: Vec<u8>,
    plan: Plan,
}

impl Case {
    /// `None` where an access like it is refused before it comes to the engine, or too large.
    fn read(numbers: &mut Numbers<'_>) -> Option<Case> {
        let view = Built::read(numbers)?;
        let memory = Built::read(numbers)?;
        let count = numbers.below(5);
        let (displacement, position) = (numbers.below(100), numbers.below(200));
        let (first, _) = view.typemap.span();
        let is_view = view.plain.size > 0 && first >= 0 && view.plain.extent > 0;
        if !is_view || memory.plain.size == 0 || memory.plain.size > ROOM {
            return None;
        }
        let size = memory.plain.size * i128::from(count);
        if size > ROOM || view.plain.size > ROOM {
            return None;
        }
        let origin = origin(&memory.plain, size)?;
        let (low, high) = range(&view.plain, position.into(), size);
        if low < 0 || high >= ROOM {
            return None;
        }
        let length = numbers.below(256) * numbers.below(32);
        let file = (0..length).map(|byte| (byte * 7 % 251) as u8 + 1).collect();
        let plan = plan(numbers);
        Some(Case { view, displacement, position, memory, count, origin, file, plan })
    }

    fn size(&self) -> u64 {
        self.count * self.memory.plain.size as u64
    }

    fn offset(&self, byte: u64) -> usize {
        let position = i128::from(self.position + byte);
        self.displacement as usize + self.view.plain.tiled_at(position) as usize
    }

    fn place(&self, byte: u64) -> usize {
        (self.origin + self.memory.plain.tiled_at(byte.into())) as usize
    }

    fn run(&self, direction: Direction, disk: &dyn Driver, memory: &mut [u8]) -> Done {
        let view = View {
            displacement: self.displacement,
            etype_size: 1,
            filetype: Arc::new(self.view.typemap.clone()),
        };
        let base = memory.as_mut_ptr().wrapping_offset(self.origin as isize);
        let typemap = Arc::new(self.memory.typemap.clone());
        // SAFETY: `origin` has put every byte of the plain description into `memory`.
        let user = unsafe { UserMemory::new(base, typemap, self.count) };
        let access = Access {
            direction,
            view: &view,
            position: self.position,
            memory: &user,
            plan: self.plan,
            gate: &Gate::default(),
        };
        transfer(disk, &access).expect("a file in memory has no errors")
    }
}

fn plan(numbers: &mut Numbers<'_>) -> Plan {
    let mut sieving = || Sieving {
        stride: [0, 8, 100, u64::MAX][numbers.below(4) as usize],
        buffer_size: [1, 7, 64, 1000, 100_000][numbers.below(5) as usize],
    };
    let (read, write) = (sieving(), sieving());
    let locked_writes = numbers.below(2) == 0;
    Plan {
        threads: 1,
        concurrent_writes: true,
        read,
        write,
        locked_writes,
        locked_reads: locked_writes,
    }
}

/// Smallest and largest place of `size` bytes from `position` on.
fn range(plain: &Plain, position: i128, size: i128) -> (i128, i128) {
    let places = (position..position + size).map(|byte| plain.tiled_at(byte));
    places.fold((0, 0), |(low, high), place| (low.min(place), high.max(place)))
}

fn origin(plain: &Plain, size: i128) -> Option<i128> {
    let (low, high) = range(plain, 0, size);
    (high - low < ROOM).then_some(-low)
}

pub fn check(data: &[u8]) {
    let Some(case) = Case::read(&mut Numbers::new(data)) else { return };
    let inner = case.view.typemap.inner_monotony();
    let repeated = case.view.typemap.monotony().min(inner);
    // The rules of MPI_File_set_view and of accesses that reach the next repetition.
    if repeated == Monotony::Increasing {
        check_write(&case);
    }
    if repeated > Monotony::None {
        check_read(&case);
    }
}

fn check_write(case: &Case) {
    let mut memory: Vec<u8> = (0..ROOM).map(|byte| (byte * 13 % 241) as u8 + 5).collect();
    let before = memory.clone();
    let disk = disk(&case.file);
    let done = case.run(Direction::Write, &*disk.driver, &mut memory);
    assert_eq!(done.size, case.size());
    assert!(memory == before, "the user's memory has changed");
    let mut expected = case.file.clone();
    for byte in 0..case.size() {
        let offset = case.offset(byte);
        if expected.len() <= offset {
            expected.resize(offset + 1, 0);
        }
        expected[offset] = before[case.place(byte)];
    }
    assert!(disk.contents() == expected, "wrong file");
}

fn check_read(case: &Case) {
    let mut memory = vec![0; ROOM as usize];
    let disk = disk(&case.file);
    let done = case.run(Direction::Read, &*disk.driver, &mut memory);
    let mut expected = vec![0; ROOM as usize];
    let mut named = vec![false; ROOM as usize];
    let mut size = 0;
    for byte in 0..case.size() {
        let Some(&value) = case.file.get(case.offset(byte)) else { break };
        let place = case.place(byte);
        expected[place] = value;
        // Two bytes for one place may come in any order: MPI forbids reading so.
        if std::mem::replace(&mut named[place], true) {
            return;
        }
        size = byte + 1;
    }
    assert_eq!(done.size, size);
    assert!(memory == expected, "wrong memory");
}

/// A file in memory, the same for all inputs.
struct Disk {
    driver: Box<dyn Driver>,
    file: fs::File,
}

impl Disk {
    fn contents(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.file.metadata().expect("a status").len() as usize];
        self.file.read_exact_at(&mut bytes, 0).expect("its bytes");
        bytes
    }
}

fn disk(bytes: &[u8]) -> &'static Disk {
    static DISK: OnceLock<Disk> = OnceLock::new();
    let disk = DISK.get_or_init(|| {
        let path = format!("/dev/shm/mpiio-rs-fuzz-{}", std::process::id());
        let name = CString::new(path.as_str()).expect("no zeros");
        let options = OpenOptions {
            read: true,
            write: true,
            create: true,
            ..OpenOptions::new(&name, Kind::Ufs)
        };
        let driver = open(&options).expect("a new file");
        let file = fs::File::options().read(true).write(true).open(&path).expect("it again");
        fs::remove_file(&path).expect("it needs no name");
        Disk { driver, file }
    });
    disk.file.set_len(0).and_then(|()| disk.file.write_all_at(bytes, 0)).expect("room");
    disk
}
