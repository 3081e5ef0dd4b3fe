use super::*;
use crate::driver::detect::Kind;
use crate::driver::open::{OpenOptions, open};
use crate::driver::scratch::Scratch;

/// A file as it is opened on NFS; what is below does not matter to what is tested here.
fn shared(scratch: &Scratch) -> Box<dyn Driver> {
    let options = scratch.options("a", Kind::Nfs);
    open(&OpenOptions { shared_between_hosts: true, ..options }).unwrap()
}

fn read(file: &dyn Driver, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let count = file.read_at(offset, &[Piece::of_mut(&mut bytes)]).unwrap();
    bytes.truncate(count as usize);
    bytes
}

#[test]
fn on_one_machine_nothing_is_locked() {
    let scratch = Scratch::on_disk();
    let file = scratch.open("a", Kind::Nfs);
    assert_eq!(file.name(), "nfs");
    file.write_at(0, &[Piece::of(b"abc")]).unwrap();
    assert_eq!(read(&*file, 0, 5), b"abc");
    file.refresh().unwrap();
    assert_eq!(file.size().unwrap(), 3);
    assert!(file.visible_immediately());
    assert_eq!((file.calls().locks, file.calls().syncs), (0, 0));
    assert!(file.layout().alignment >= 4096);
}

#[test]
fn between_machines_each_transfer_has_its_lock() {
    for scratch in Scratch::everywhere() {
        let (one, two) = (shared(&scratch), shared(&scratch));
        assert!(one.visible_immediately() && one.locks_transfers());
        let at_open = one.calls().locks;
        one.write_at(0, &[Piece::of(b"abc"), Piece::of(b"def")]).unwrap();
        assert_eq!(read(&*one, 0, 10), b"abcdef");
        assert_eq!((one.calls().locks - at_open, one.calls().syncs), (2, 1));
        one.write_at(0, &[]).unwrap();
        assert_eq!(one.calls().locks - at_open, 2);
        assert_eq!(one.size().unwrap(), 6);
        one.preallocate(100).unwrap();
        assert_eq!(two.size().unwrap(), 100);
        // nothing stays locked
        assert!(two.try_lock(0, u64::MAX, LockKind::Exclusive).unwrap());
    }
}

#[test]
fn what_the_caller_locked_stays_locked() {
    let scratch = Scratch::on_disk();
    let (one, two) = (shared(&scratch), shared(&scratch));
    let before = one.calls().locks;
    one.lock(10, 10, LockKind::Exclusive).unwrap();
    one.write_at(12, &[Piece::of(b"abcd")]).unwrap(); // within
    assert_eq!(one.calls().locks - before, 1);
    one.write_at(5, &[Piece::of(&[1; 20])]).unwrap(); // around: both ends get their own locks
    assert_eq!(one.calls().locks - before, 3);
    let syncs = one.calls().syncs;
    one.publish(5, 20).unwrap();
    assert_eq!(one.calls().syncs - syncs, 1);
    assert_eq!(read(&*one, 0, 30).len(), 25);
    for (offset, free) in [(9, true), (10, false), (15, false), (19, false), (20, true)] {
        assert_eq!(two.try_lock(offset, 1, LockKind::Shared).unwrap(), free, "{offset}");
        two.unlock(offset, 1);
    }
    one.lock(0, u64::MAX, LockKind::Exclusive).unwrap();
    one.refresh().unwrap(); // must not open a gap in the lock of the whole file
    one.size().unwrap();
    assert!(!two.try_lock(FAR_BYTE, 1, LockKind::Shared).unwrap());
    assert!(!two.try_lock(0, u64::MAX, LockKind::Shared).unwrap());
    one.unlock(0, u64::MAX);
    assert!(two.try_lock(0, u64::MAX, LockKind::Exclusive).unwrap());
}

#[test]
fn a_transfer_waits_for_the_lock_of_another_opening() {
    let scratch = Scratch::on_disk();
    let (one, two) = (shared(&scratch), shared(&scratch));
    one.lock(0, 4, LockKind::Exclusive).unwrap();
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| read(&*two, 0, 4));
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(!reading.is_finished());
        one.write_at(0, &[Piece::of(b"done")]).unwrap();
        one.unlock(0, 4);
        assert_eq!(reading.join().unwrap(), b"done");
    });
    assert_eq!(two.calls().lock_waits, 1);
}

#[test]
fn who_holds_a_part_goes_on_while_another_thread_waits_for_the_rest() {
    use std::sync::{Arc, mpsc};
    let scratch = Scratch::on_disk();
    let (one, two): (Arc<dyn Driver>, _) = (shared(&scratch).into(), shared(&scratch));
    one.lock(50, 100, LockKind::Exclusive).unwrap();
    two.lock(0, 50, LockKind::Exclusive).unwrap();
    let (done, waiting) = mpsc::channel();
    for what in ["read", "locked", "held"] {
        let (one, done) = (one.clone(), done.clone());
        std::thread::spawn(move || {
            match what {
                "read" => drop(read(&*one, 0, 100)),
                "locked" => one.lock(20, 40, LockKind::Exclusive).unwrap(),
                _ => {
                    // both others are waiting
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    one.write_at(60, &[Piece::of(b"abc")]).unwrap();
                    one.unlock(50, 100);
                }
            }
            done.send(what).unwrap();
        });
    }
    let limit = std::time::Duration::from_secs(20);
    assert_eq!(waiting.recv_timeout(limit), Ok("held"));
    two.unlock(0, 50);
    let mut others = [waiting.recv_timeout(limit).unwrap(), waiting.recv_timeout(limit).unwrap()];
    others.sort();
    assert_eq!(others, ["locked", "read"]);
}

#[test]
fn what_is_not_held_is_given_back_at_once() {
    use std::sync::{Arc, mpsc};
    let scratch = Scratch::on_disk();
    let (one, two): (Arc<dyn Driver>, _) = (shared(&scratch).into(), shared(&scratch));
    two.lock(0, 50, LockKind::Exclusive).unwrap();
    one.lock(60, 10, LockKind::Exclusive).unwrap();
    let reader = one.clone();
    let reading = std::thread::spawn(move || read(&*reader, 10, 10));
    let (done, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        one.unlock(0, 100);
        done.send(()).unwrap();
    });
    assert_eq!(waiting.recv_timeout(std::time::Duration::from_secs(20)), Ok(()));
    assert!(two.try_lock(60, 10, LockKind::Exclusive).unwrap());
    two.unlock(0, 50);
    assert_eq!(reading.join().unwrap(), []);
}

#[test]
fn threads_of_one_opening_do_not_take_each_others_locks() {
    let scratch = Scratch::on_disk();
    let (one, two) = (shared(&scratch), shared(&scratch));
    std::thread::scope(|scope| {
        for byte in 1..=4_u8 {
            let file = if byte % 2 == 0 { &one } else { &two };
            scope.spawn(move || {
                for _ in 0..10 {
                    file.write_at(u64::from(byte), &[Piece::of(&[byte; 64])]).unwrap();
                    // one write at a time: no reader sees parts of two
                    let bytes = read(&**file, 5, 60);
                    assert!(bytes.iter().all(|other| *other == bytes[0]), "{bytes:?}");
                }
            });
        }
    });
    assert!(two.try_lock(0, u64::MAX, LockKind::Exclusive).unwrap());
}

#[test]
fn a_file_that_is_only_read_is_read_without_locks() {
    let scratch = Scratch::on_disk();
    shared(&scratch).write_at(0, &[Piece::of(b"abc")]).unwrap();
    let options = OpenOptions::new(&scratch.path("a"), Kind::Nfs);
    let file = open(&OpenOptions { read: true, shared_between_hosts: true, ..options }).unwrap();
    let before = file.calls().locks;
    assert_eq!(read(&*file, 0, 9), b"abc");
    assert_eq!(file.calls().locks, before);
    file.refresh().unwrap();
    assert_eq!(file.calls().locks, before + 1);
}

#[test]
fn without_locks_the_file_is_opened_again() {
    let scratch = Scratch::on_disk();
    let options = scratch.options("a", Kind::Nfs);
    let file = crate::driver::open::open_posix(&options).unwrap();
    let file = RemoteFile::reopened(file).unwrap();
    assert_eq!(file.calls().syncs, 1);
    assert!(!file.visible_immediately());
    file.write_at(0, &[Piece::of(b"abc")]).unwrap();
    file.refresh().unwrap();
    assert_eq!(file.calls().syncs, 2);
    assert_eq!(read(&file, 0, 9), b"abc");
    assert_eq!(file.calls().locks, 0);
}

#[test]
fn what_is_written_under_a_lock_is_published() {
    let scratch = Scratch::on_disk();
    let options = scratch.options("a", Kind::Ufs);
    let options = OpenOptions { shared_between_hosts: true, cached_by_hosts: true, ..options };
    let (one, two) = (open(&options).unwrap(), open(&options).unwrap());
    assert!(!one.visible_immediately());
    one.write_at(0, &[Piece::of(b"abc")]).unwrap();
    assert_eq!(one.calls().syncs, 1, "the one of opening");
    one.lock(0, 10, LockKind::Exclusive).unwrap();
    let before = one.calls().syncs;
    one.write_at(1, &[Piece::of(b"x")]).unwrap();
    one.write_at(2, &[Piece::of(b"y")]).unwrap();
    assert_eq!(one.calls().syncs, before);
    one.publish(0, 10).unwrap();
    assert_eq!(one.calls().syncs, before + 1);
    assert!(!two.try_lock(0, 10, LockKind::Shared).unwrap());
    one.unlock(0, 10);
    assert!(two.try_lock(0, 10, LockKind::Shared).unwrap());
    let mut bytes = [0; 4];
    assert_eq!(two.read_at(0, &[Piece::of_mut(&mut bytes)]).unwrap(), 3);
    assert_eq!(&bytes[..3], b"axy");
    two.unlock(0, 10);
    assert_eq!(two.size().unwrap(), 3);
    one.write_at(3, &[Piece::of(b"z")]).unwrap();
    assert_eq!(one.calls().syncs, before + 1);
    one.close().unwrap();
    assert_eq!(one.calls().syncs, before + 2);
}

#[test]
fn a_lock_of_the_program_itself_does_not_stop_transfers() {
    use std::os::fd::AsRawFd;
    let scratch = Scratch::on_disk();
    let (one, two) = (shared(&scratch), shared(&scratch));
    let path = scratch.path("a").into_string().unwrap();
    let program = std::fs::File::options().read(true).write(true).open(path).unwrap();
    // SAFETY: all zeros is a valid `struct flock`, and the descriptor is open.
    let answer = unsafe {
        let mut all: libc::flock = std::mem::zeroed();
        all.l_type = libc::F_WRLCK as libc::c_short;
        libc::fcntl(program.as_raw_fd(), libc::F_SETLK, &all)
    };
    assert_eq!(answer, 0);
    one.write_at(0, &[Piece::of(b"abc")]).unwrap();
    assert_eq!(two.size().unwrap(), 3);
    two.lock(0, 10, LockKind::Exclusive).unwrap();
    two.write_at(1, &[Piece::of(b"x")]).unwrap();
    two.unlock(0, 10);
    assert_eq!(read(&*one, 0, 10), b"axc");
}
