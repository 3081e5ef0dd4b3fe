use std::ffi::CString;
use std::os::unix::thread::JoinHandleExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use super::*;
use crate::driver::direct::Bypass;
use crate::driver::open::{OpenOptions, open};
use crate::driver::scratch::Scratch;

/// What is at `offset`, up to `length` bytes.
fn read(file: &dyn Driver, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0xEE; length];
    let count = file.read_at(offset, &[Piece::of_mut(&mut bytes)]).unwrap();
    assert!(bytes[count as usize..].iter().all(|byte| *byte == 0xEE));
    bytes.truncate(count as usize);
    bytes
}

fn device(path: &str) -> Box<dyn Driver> {
    let new = OpenOptions::new(&CString::new(path).unwrap(), Kind::Ufs);
    open(&OpenOptions { read: true, write: true, ..new }).unwrap()
}

#[test]
fn pieces_are_one_buffer() {
    for scratch in Scratch::everywhere() {
        let file = scratch.open("a", Kind::Ufs);
        file.write_at(3, &[Piece::of(b"one"), Piece::of(b""), Piece::of(b"two")]).unwrap();
        file.write_at(9, &[Piece::of(b"three")]).unwrap();
        file.write_at(1000, &[]).unwrap();
        assert_eq!(scratch.bytes("a"), b"\0\0\0onetwothree");
        let (mut left, mut right) = ([0; 4], [0; 4]);
        let pieces = [Piece::of_mut(&mut left), Piece::of_mut(&mut right)];
        assert_eq!(file.read_at(2, &pieces).unwrap(), 8);
        assert_eq!((&left, &right), (b"\0one", b"twot"));
        let calls = file.calls();
        assert_eq!((calls.writes, calls.write_bytes), (2, 11));
        assert_eq!((calls.reads, calls.read_bytes), (1, 8));
    }
}

#[test]
fn many_pieces_take_several_calls() {
    let scratch = Scratch::on_disk();
    let file = scratch.open("a", Kind::Ufs);
    let bytes: Vec<u8> = (0..5000_u32).map(|i| i as u8).collect();
    let pieces: Vec<Piece> = bytes.chunks(2).map(Piece::of).collect();
    file.write_at(0, &pieces).unwrap();
    assert_eq!(scratch.bytes("a"), bytes);
    assert_eq!(file.calls().writes, 3);
    let mut copy = vec![0; 6000];
    let pieces: Vec<Piece> = copy.chunks_mut(2).map(Piece::of_mut).collect();
    assert_eq!(file.read_at(0, &pieces).unwrap(), 5000);
    assert_eq!(copy[..5000], bytes);
}

#[test]
fn reading_ends_with_the_file() {
    for scratch in Scratch::everywhere() {
        let file = scratch.open("a", Kind::Ufs);
        assert_eq!(read(&*file, 0, 10), b"");
        file.write_at(0, &[Piece::of(b"abc")]).unwrap();
        assert_eq!(read(&*file, 0, 10), b"abc");
        assert_eq!(read(&*file, 2, 1), b"c");
        assert_eq!(read(&*file, 3, 10), b"");
        assert_eq!(read(&*file, 1 << 40, 10), b"");
    }
}

#[test]
fn offsets_have_64_bits() {
    for scratch in Scratch::everywhere() {
        let file = scratch.open("a", Kind::Ufs);
        let far = 5 << 30;
        file.write_at(far, &[Piece::of(b"far")]).unwrap();
        assert_eq!(file.size().unwrap(), far + 3);
        assert_eq!(read(&*file, far - 2, 10), b"\0\0far");
    }
}

#[test]
fn an_end_beyond_all_offsets_is_refused_before_any_call() {
    let scratch = Scratch::on_disk();
    let file = scratch.open("a", Kind::Ufs);
    let mut byte = [0];
    for offset in [i64::MAX as u64, u64::MAX] {
        let error = file.write_at(offset, &[Piece::of(&byte)]).unwrap_err();
        assert_eq!(error.class, Class::Arg);
        assert!(error.text().starts_with(&format!("writing 1 bytes at offset {offset} of ")));
        assert!(file.read_at(offset, &[Piece::of_mut(&mut byte)]).is_err());
        assert!(file.write_at(0, &[Piece::of(&byte), huge()]).is_err());
    }
    assert_eq!(file.set_size(u64::MAX).unwrap_err().class, Class::Arg);
    assert_eq!(file.preallocate(u64::MAX).unwrap_err().class, Class::Arg);
    assert_eq!(file.calls(), Calls::default());
    assert_eq!(file.size().unwrap(), 0);
}

/// A piece that is never looked into.
fn huge() -> Piece {
    // SAFETY: the length alone makes the driver refuse it.
    unsafe { Piece::new(std::ptr::null_mut(), usize::MAX) }
}

#[test]
fn more_than_the_system_moves_at_once_takes_several_calls() {
    const LENGTH: usize = 5 << 30;
    // SAFETY: a new mapping at a place of the system's choice; nothing is written to it.
    let address = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        libc::mmap(std::ptr::null_mut(), LENGTH, libc::PROT_READ, flags, -1, 0)
    };
    assert_ne!(address, libc::MAP_FAILED);
    let null = device("/dev/null");
    // SAFETY: the mapping is that long and stays until below.
    let piece = unsafe { Piece::new(address.cast(), LENGTH) };
    null.write_at(0, &[piece]).unwrap();
    null.write_at(0, &[piece.take(10), piece]).unwrap();
    assert_eq!(null.calls().writes, 6);
    assert_eq!(null.calls().write_bytes, 2 * LENGTH as u64 + 10);
    null.sync().unwrap(); // nothing to send, no error
    // SAFETY: mapped above, and no piece of it is used any more.
    unsafe { libc::munmap(address, LENGTH) };
}

#[test]
fn a_full_device_is_told_with_its_values() {
    let full = device("/dev/full");
    for pieces in [&[Piece::of(b"abcdefgh")][..], &[Piece::of(b"abcd"), Piece::of(b"efgh")]] {
        let error = full.write_at(16, pieces).unwrap_err();
        assert_eq!(error.class, Class::NoSpace);
        assert_eq!(
            error.text(),
            "writing 8 bytes at offset 16 of /dev/full: No space left on device (os error 28)"
        );
    }
}

/// A file as a device with blocks, until it is dropped.
struct LoopDevice(String);

impl LoopDevice {
    fn of(file: &Path) -> io::Result<LoopDevice> {
        let made = Command::new("losetup").args(["--show", "-f"]).arg(file).output()?;
        match made.status.success() {
            true => Ok(LoopDevice(String::from_utf8_lossy(&made.stdout).trim().to_string())),
            false => Err(io::Error::other(String::from_utf8_lossy(&made.stderr).into_owned())),
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

#[test]
fn a_device_with_blocks_has_a_size_that_stays() {
    const SIZE: u64 = 1 << 20;
    let scratch = Scratch::on_disk();
    let below = scratch.open("below", Kind::Ufs);
    below.set_size(SIZE).unwrap();
    let path = scratch.path("below").into_string().unwrap();
    let made = match LoopDevice::of(Path::new(&path)) {
        Ok(made) => made,
        Err(why) => return eprintln!("no such device here: {why}"),
    };
    for bypass in [false, true] {
        let new = OpenOptions::new(&CString::new(&*made.0).unwrap(), Kind::Ufs);
        let mut options = OpenOptions { read: true, write: true, ..new };
        options.tuning.bypass = Bypass { reads: bypass, writes: bypass };
        let file = open(&options).unwrap();
        assert_eq!(file.size().unwrap(), SIZE);
        file.write_at(0, &[Piece::of(&[7; 8192])]).unwrap();
        for size in [0, SIZE / 2, SIZE, 2 * SIZE] {
            assert_eq!(file.set_size(size).unwrap_err().class, Class::UnsupportedOperation);
        }
        // There is room; what stands there stays.
        file.preallocate(SIZE).unwrap();
        assert_eq!(file.preallocate(2 * SIZE).unwrap_err().class, Class::NoSpace);
        assert_eq!(read(&*file, 0, 8192), [7; 8192]);
        assert_eq!(read(&*file, SIZE - 5000, 9000).len(), 5000);
        assert_eq!(read(&*file, SIZE, 8), []);
        let error = file.write_at(SIZE - 4, &[Piece::of(b"12345678")]).unwrap_err();
        assert_eq!(error.class, Class::NoSpace);
        let uncached = file.calls().uncached_bytes;
        assert_eq!(uncached > 8192, bypass && file.why_cached().is_none(), "{uncached}");
    }
}

#[test]
fn what_has_no_size_cannot_get_one() {
    let error = device("/dev/null").set_size(8).unwrap_err();
    assert_eq!(error.class, Class::UnsupportedOperation);
    assert_eq!(error.text(), "setting the size of /dev/null to 8 bytes: it is no regular file");
}

/// Runs the test of this name once more in a process of its own, where this returns `true`.
fn in_child(test: &str) -> bool {
    const MARK: &str = "MPIIO_RS_TEST_CHILD";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("driver::posix::tests::{test}"), "--nocapture"])
        .env(MARK, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
    false
}

#[test]
fn a_write_that_fails_half_way_tells_what_is_left() {
    if !in_child("a_write_that_fails_half_way_tells_what_is_left") {
        return;
    }
    const LIMIT: u64 = 10_000;
    let limit = libc::rlimit { rlim_cur: LIMIT, rlim_max: LIMIT };
    // SAFETY: this process is the test's own, and the arguments are plain.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
    for scratch in Scratch::everywhere() {
        let file = scratch.open("a", Kind::Ufs);
        let bytes = vec![7; 8000];
        file.write_at(0, &[Piece::of(&bytes)]).unwrap();
        let pieces = [Piece::of(&bytes[..1000]), Piece::of(&bytes[1000..])];
        let error = file.write_at(8000, &pieces).unwrap_err();
        assert_eq!(error.class, Class::Io);
        assert!(error.text().starts_with("writing 6000 bytes at offset 10000 of "), "{error}");
        assert!(error.text().ends_with("File too large (os error 27)"), "{error}");
        assert_eq!(file.size().unwrap(), LIMIT);
        let error = file.set_size(LIMIT + 1).unwrap_err();
        assert!(error.text().starts_with("setting the size of "), "{error}");
        let error = file.preallocate(LIMIT + 1).unwrap_err();
        assert!(error.text().starts_with("making room for 10001 bytes in "), "{error}");
        assert_eq!(file.size().unwrap(), LIMIT);
    }
}

#[test]
fn sizes_are_set_and_room_is_made() {
    for scratch in Scratch::everywhere() {
        let file = scratch.open("a", Kind::Ufs);
        file.write_at(0, &[Piece::of(b"abcdef")]).unwrap();
        file.set_size(3).unwrap();
        assert_eq!(scratch.bytes("a"), b"abc");
        file.set_size(5).unwrap();
        assert_eq!(scratch.bytes("a"), b"abc\0\0");
        file.preallocate(0).unwrap();
        file.preallocate(4).unwrap();
        assert_eq!(scratch.bytes("a"), b"abc\0\0"); // never cut
        file.preallocate(1 << 20).unwrap();
        assert_eq!(file.size().unwrap(), 1 << 20);
        assert_eq!(scratch.bytes("a")[..6], *b"abc\0\0\0");
        let metadata = std::fs::metadata(scratch.path("a").to_str().unwrap()).unwrap();
        assert!(std::os::unix::fs::MetadataExt::blocks(&metadata) * 512 >= 1 << 20);
        file.sync().unwrap();
        file.close().unwrap();
        assert_eq!(file.calls().syncs, 1);
    }
}

#[test]
fn zeros_are_written_only_beyond_the_end() {
    for scratch in Scratch::everywhere() {
        let opened = scratch.open("a", Kind::Ufs);
        opened.write_at(2, &[Piece::of(b"abc")]).unwrap();
        let file = PosixFile {
            direct: None,
            descriptor: std::fs::OpenOptions::new()
                .write(true)
                .open(scratch.path("a").to_str().unwrap())
                .unwrap()
                .into(),
            path: "a".to_string(),
            kind: Kind::Ufs,
            layout: Layout::default(),
            readable: false,
            writable: true,
            counters: Counters::default(),
            advisor: None,
            in_use: InUse::new((u64::MAX, 2)),
            own_locks: OwnLocks::new((u64::MAX, 2)),
        };
        file.write_zeros_to(3).unwrap();
        assert_eq!(file.calls().writes, 0);
        let size = allocate::ZERO_BLOCK as u64 + 10;
        file.write_zeros_to(size).unwrap();
        assert_eq!((file.calls().writes, file.calls().write_bytes), (2, size - 5));
        let bytes = scratch.bytes("a");
        assert_eq!(bytes.len() as u64, size);
        assert_eq!(bytes[..5], *b"\0\0abc");
        assert!(bytes[5..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn openings_keep_each_other_out() {
    use LockKind::{Exclusive, Shared};
    for scratch in Scratch::everywhere() {
        let (one, two) = (scratch.open("a", Kind::Ufs), scratch.open("a", Kind::Ufs));
        one.lock(10, 10, Exclusive).unwrap();
        for (offset, length, free) in
            [(0, 10, true), (0, 11, false), (19, 1, false), (20, 100, true), (15, 0, true)]
        {
            assert_eq!(two.try_lock(offset, length, Shared).unwrap(), free, "{offset} {length}");
            two.unlock(offset, length);
        }
        assert!(!two.try_lock(0, u64::MAX, Exclusive).unwrap());
        one.unlock(12, 0); // not "everything from 12 on"
        assert!(!two.try_lock(15, 1, Exclusive).unwrap());
        one.unlock(15, 5);
        assert!(two.try_lock(15, u64::MAX, Exclusive).unwrap());
        two.unlock(0, u64::MAX);
        one.unlock(0, u64::MAX);

        one.lock(0, 10, Shared).unwrap();
        assert!(two.try_lock(0, 10, Shared).unwrap());
        assert!(!one.try_lock(0, 10, Exclusive).unwrap());
        drop(two); // gives back what it held
        assert!(one.try_lock(0, 10, Exclusive).unwrap());

        let two = scratch.open("a", Kind::Ufs);
        two.lock(500, 0, Exclusive).unwrap(); // no lock at all
        assert!(one.try_lock(400, 1000, Exclusive).unwrap());
        two.lock(u64::MAX, 10, Exclusive).unwrap();
    }
}

#[test]
fn closing_another_opening_keeps_the_locks_of_this_one() {
    let scratch = Scratch::on_disk();
    let (one, two) = (scratch.open("a", Kind::Ufs), scratch.open("a", Kind::Ufs));
    one.lock(0, 10, LockKind::Exclusive).unwrap();
    one.close().unwrap(); // a report, not yet the end
    drop(scratch.open("a", Kind::Ufs));
    assert!(!two.try_lock(0, 10, LockKind::Exclusive).unwrap());
    drop(one);
    assert!(two.try_lock(0, 10, LockKind::Exclusive).unwrap());
}

#[test]
fn a_lock_waits_for_its_turn() {
    const TURNS: u64 = 100;
    for scratch in Scratch::everywhere() {
        scratch.open("a", Kind::Ufs).write_at(0, &[Piece::of(&[0; 8])]).unwrap();
        let add = || {
            let file = scratch.open("a", Kind::Ufs);
            for _ in 0..TURNS {
                file.lock(0, 8, LockKind::Exclusive).unwrap();
                let value = u64::from_le_bytes(read(&*file, 0, 8).try_into().unwrap());
                std::thread::yield_now();
                file.write_at(0, &[Piece::of(&(value + 1).to_le_bytes())]).unwrap();
                file.unlock(0, 8);
            }
            assert_eq!(file.calls().locks, TURNS);
            file.calls().lock_waits
        };
        let waits: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!(waits <= 4 * TURNS);
        assert_eq!(scratch.bytes("a"), (4 * TURNS).to_le_bytes());
    }
}

static SIGNALLED: AtomicBool = AtomicBool::new(false);

extern "C" fn note_signal(_: libc::c_int) {
    SIGNALLED.store(true, SeqCst);
}

#[test]
fn a_signal_does_not_end_the_wait_for_a_lock() {
    let scratch = Scratch::on_disk();
    let (one, two) = (scratch.open("a", Kind::Ufs), scratch.open("a", Kind::Ufs));
    // SAFETY: the handler only stores a flag, and nothing else here uses this signal. All zeros
    // is a valid `struct sigaction`, without SA_RESTART.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = note_signal as *const () as usize;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()), 0);
    }
    one.lock(0, 1, LockKind::Exclusive).unwrap();
    let waiting = std::thread::spawn(move || {
        two.lock(0, 1, LockKind::Exclusive).unwrap();
        two.calls().lock_waits
    });
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(20));
        // SAFETY: the thread has not been joined yet.
        unsafe { libc::pthread_kill(waiting.as_pthread_t(), libc::SIGUSR1) };
    }
    std::thread::sleep(Duration::from_millis(20));
    assert!(SIGNALLED.load(SeqCst));
    assert!(!waiting.is_finished());
    one.unlock(0, 1);
    assert_eq!(waiting.join().unwrap(), 1);
}

#[test]
fn a_lock_needs_the_right_opening() {
    let scratch = Scratch::on_disk();
    scratch.open("a", Kind::Ufs);
    let new = OpenOptions::new(&scratch.path("a"), Kind::Ufs);
    let reader = open(&OpenOptions { read: true, ..new }).unwrap();
    reader.lock(0, 1, LockKind::Shared).unwrap();
    let error = reader.lock(4, 2, LockKind::Exclusive).unwrap_err();
    assert_eq!(error.class, Class::UnsupportedOperation);
    assert!(error.text().starts_with("locking 2 bytes at offset 4 of "), "{error}");
    assert!(error.text().ends_with(": an exclusive lock needs a file open for writing"));
}

/// Opens the file beside the library and locks some of it for the whole process.
fn lock_as_program(scratch: &Scratch, range: Range<u64>, kind: libc::c_int) -> std::fs::File {
    let path = scratch.path("a").into_string().unwrap();
    let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
    // SAFETY: all zeros is a valid `struct flock`, and the descriptor is open.
    let answer = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = kind as libc::c_short;
        (lock.l_start, lock.l_len) = (range.start as i64, (range.end - range.start) as i64);
        libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &lock)
    };
    assert_eq!(answer, 0);
    file
}

#[test]
fn a_lock_of_the_program_itself_is_not_waited_for() {
    for scratch in Scratch::everywhere() {
        let (one, two) = (scratch.open("a", Kind::Ufs), scratch.open("a", Kind::Ufs));
        let program = lock_as_program(&scratch, 10..20, libc::F_WRLCK);
        assert!(!one.try_lock(0, 30, LockKind::Exclusive).unwrap());
        for kind in [LockKind::Shared, LockKind::Exclusive] {
            one.lock(12, 4, kind).unwrap();
            one.lock(0, 30, kind).unwrap();
            for (offset, free) in [(0, false), (9, false), (20, false), (29, false), (30, true)] {
                assert_eq!(two.try_lock(offset, 1, LockKind::Exclusive).unwrap(), free, "{offset}");
                two.unlock(offset, 1);
            }
            one.unlock(0, 30);
        }
        assert_eq!(one.calls().lock_waits, 0);
        drop(program);
        assert!(two.try_lock(0, 30, LockKind::Exclusive).unwrap());
    }
}

#[test]
fn below_a_lock_of_the_program_openings_keep_each_other_out() {
    let scratch = Scratch::on_disk();
    let (one, two) = (scratch.open("a", Kind::Ufs), scratch.open("a", Kind::Ufs));
    let _program = lock_as_program(&scratch, 0..100, libc::F_WRLCK);
    one.lock(0, 10, LockKind::Exclusive).unwrap();
    two.lock(10, 10, LockKind::Exclusive).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| two.lock(5, 10, LockKind::Shared).unwrap());
        std::thread::sleep(Duration::from_millis(30));
        assert!(!waiting.is_finished());
        one.unlock(0, 10);
        waiting.join().unwrap();
    });
    drop(two); // ends what it uses
    one.lock(0, 100, LockKind::Exclusive).unwrap();
}

#[test]
fn beside_a_lock_of_the_program_others_are_waited_for() {
    let scratch = Scratch::on_disk();
    let (one, two) = (scratch.open("a", Kind::Ufs), scratch.open("a", Kind::Ufs));
    let _program = lock_as_program(&scratch, 10..20, libc::F_WRLCK);
    two.lock(25, 1, LockKind::Exclusive).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| one.lock(0, 30, LockKind::Shared).unwrap());
        while one.calls().lock_waits == 0 && !waiting.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!waiting.is_finished());
        two.unlock(25, 1);
        waiting.join().unwrap();
    });
    assert_eq!(one.calls().lock_waits, 1);
    assert!(!two.try_lock(25, 1, LockKind::Exclusive).unwrap());
}

#[test]
fn a_shared_lock_of_the_program_is_an_error_for_who_needs_all() {
    let scratch = Scratch::on_disk();
    let (one, two) = (scratch.open("a", Kind::Ufs), scratch.open("a", Kind::Ufs));
    let _program = lock_as_program(&scratch, 10..20, libc::F_RDLCK);
    one.lock(0, 30, LockKind::Shared).unwrap();
    one.unlock(0, 30);
    let error = one.lock(0, 30, LockKind::Exclusive).unwrap_err();
    assert_eq!(error.class, Class::FileInUse);
    let end = "a: the program itself keeps a shared lock on 10 bytes at offset 10";
    assert!(error.text().starts_with("locking 30 bytes at offset 0 of "), "{error}");
    assert!(error.text().ends_with(end), "{error}");
    assert!(two.try_lock(0, 10, LockKind::Exclusive).unwrap());
}
