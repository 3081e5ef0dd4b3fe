//! A file of any file system that does what POSIX says, through the C library's calls.
//!
//! They are the C library's and not the kernel's own so that tools that put themselves before
//! them, such as Darshan, see what is written and read.

use std::fmt;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::advice::{Advised, Advisor, Ahead, Intent};
use super::detect::Kind;
use super::direct::Direct;
use super::in_use::InUse;
use super::lock::Taken;
use super::own_locks::OwnLocks;
use super::transfer::{Stopped, all_of, retry, total_length, transfer};
use super::{Calls, Driver, Layout, LockKind, allocate, lock, page_cache};
use crate::error::{Class, Doing, Error, Result};
use crate::memory::{Piece, Scratch};

/// An open file.
pub(super) struct PosixFile {
    pub(super) descriptor: OwnedFd,
    /// For messages.
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) layout: Layout,
    pub(super) readable: bool,
    pub(super) writable: bool,
    pub(super) counters: Counters,
    /// Hears what callers are about to do, where the file system has a use for it.
    pub(super) advisor: Option<Box<dyn Advisor>>,
    /// Moves bytes past the page cache, where that is wanted.
    pub(super) direct: Option<Direct>,
    /// Keeps the file among those that are open.
    pub(super) in_use: InUse,
    /// What it uses below locks of the program.
    pub(super) own_locks: OwnLocks,
}

/// System calls made, counted by several threads.
#[derive(Default)]
pub(super) struct Counters {
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    write_bytes: AtomicU64,
    locks: AtomicU64,
    lock_waits: AtomicU64,
    syncs: AtomicU64,
}

impl Driver for PosixFile {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn read_at(&self, offset: u64, pieces: &[Piece]) -> Result<u64> {
        let length = self.check_range("reading", offset, pieces)?;
        let direct = |file: BorrowedFd, offset, batch: &[Piece]| {
            let count = read_call(file, offset, batch);
            self.counters.reads.fetch_add(1, Relaxed);
            self.counters.read_bytes.fetch_add(*count.as_ref().unwrap_or(&0) as u64, Relaxed);
            count
        };
        let read = |offset, batch: &[Piece]| direct(self.descriptor.as_fd(), offset, batch);
        let moved = match &self.direct {
            None => transfer(offset, pieces, read),
            Some(bypass) => bypass.transfer(Intent::Read, (offset, pieces), direct, read),
        };
        moved.map_err(|s| self.stopped("reading", offset, length, &s))
    }

    fn write_at(&self, offset: u64, pieces: &[Piece]) -> Result<()> {
        let length = self.check_range("writing", offset, pieces)?;
        let direct = |file: BorrowedFd, offset, batch: &[Piece]| {
            let count = write_call(file, offset, batch);
            self.counters.writes.fetch_add(1, Relaxed);
            self.counters.write_bytes.fetch_add(*count.as_ref().unwrap_or(&0) as u64, Relaxed);
            count
        };
        let write = |offset, batch: &[Piece]| direct(self.descriptor.as_fd(), offset, batch);
        let moved = match &self.direct {
            None => transfer(offset, pieces, write),
            Some(bypass) => bypass.transfer(Intent::Write, (offset, pieces), direct, write),
        };
        all_of(length, moved).map_err(|s| self.stopped("writing", offset, length, &s))
    }

    fn lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<()> {
        self.secure(offset, length, kind).map(drop)
    }

    fn try_lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<bool> {
        let range = lock::lockable(offset, length);
        if range.is_empty() {
            return Ok(true);
        }
        self.check_lock_kind(offset, length, kind)?;
        match lock::attempt(self.descriptor.as_fd(), &range, kind) {
            Ok(false) => Ok(false),
            outcome => self.locked(outcome.map(drop), offset, length).map(|()| true),
        }
    }

    fn unlock(&self, offset: u64, length: u64) {
        // Fails for lack of memory to split a lock, or for a server that does not answer. Somebody
        // may wait for the range, so it is asked for twice; then the lock ends with the opening.
        let range = lock::lockable(offset, length);
        let release = || lock::release(self.descriptor.as_fd(), &range);
        let _ = release().or_else(|_| release());
        self.own_locks.leave(&range);
    }

    fn size(&self) -> Result<u64> {
        size(self.descriptor.as_fd()).doing(|| format!("asking for the size of {}", self.path))
    }

    fn set_size(&self, size: u64) -> Result<()> {
        let doing = || format!("setting the size of {} to {size} bytes", self.path);
        let Ok(length) = libc::off_t::try_from(size) else {
            return Err(too_large(doing()));
        };
        // SAFETY: plain numbers, and the descriptor is open.
        let cut = || answer(unsafe { libc::ftruncate(self.descriptor.as_raw_fd(), length) });
        retry(cut).map_err(|cause| match cause.raw_os_error() {
            Some(libc::EINVAL) if !self.is_regular() => Error::new(
                Class::UnsupportedOperation,
                format!("{}: it is no regular file", doing()),
            ),
            _ => Error::system(&cause, doing()),
        })
    }

    fn preallocate(&self, size: u64) -> Result<()> {
        let doing = || format!("making room for {size} bytes in {}", self.path);
        if i64::try_from(size).is_err() {
            return Err(too_large(doing()));
        }
        let file = self.descriptor.as_fd();
        match allocate::allocate(file, size).doing(doing)? {
            allocate::Outcome::Done => Ok(()),
            allocate::Outcome::Unsupported => self.write_zeros_to(size),
        }
    }

    fn sync(&self) -> Result<()> {
        self.flush().doing(|| format!("sending {} to the device", self.path))
    }

    fn close(&self) -> Result<()> {
        let doing = || format!("closing {}", self.path);
        if !self.visible_immediately() {
            self.flush().doing(doing)?;
        }
        // Closing any descriptor of an opening makes the file system report what it kept, and
        // closing a second one leaves no number behind that another thread could still use.
        let raw = self.descriptor.as_raw_fd();
        // SAFETY: plain numbers, and the descriptor is open.
        let second = unsafe { libc::fcntl(raw, libc::F_DUPFD_CLOEXEC, 0) };
        if second < 0 {
            return self.flush().doing(doing); // no descriptors left: the longer way
        }
        // SAFETY: the descriptor was made above and is nobody else's.
        match answer(unsafe { libc::close(second) }) {
            // Linux has closed it in any case.
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => Ok(()),
            outcome => outcome.doing(doing),
        }
    }

    fn publish(&self, offset: u64, length: u64) -> Result<()> {
        if self.visible_immediately() {
            return Ok(());
        }
        let path = &self.path;
        self.flush().doing(|| format!("writing {length} bytes at offset {offset} of {path}"))
    }

    fn is_locked_by_program(&self) -> bool {
        let all = lock::lockable(0, u64::MAX);
        lock::keeps_some(self.descriptor.as_fd(), &all, LockKind::Exclusive)
    }

    fn inode(&self) -> Option<u64> {
        Some(self.in_use.inode())
    }

    fn readable(&self) -> bool {
        self.readable
    }

    fn visible_immediately(&self) -> bool {
        !self.advisor.as_ref().is_some_and(|advisor| advisor.defers_writes())
    }

    fn layout(&self) -> Layout {
        let shared_servers = self.advisor.as_ref().is_some_and(|advisor| advisor.shares_servers());
        Layout { shared_servers, ..self.layout }
    }

    fn listens(&self, ahead: Ahead, intent: Intent) -> bool {
        self.advisor.as_ref().is_some_and(|advisor| advisor.listens(ahead, intent))
    }

    fn will_access(&self, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) {
        if let Some(advisor) = &self.advisor {
            advisor.will_access(self.descriptor.as_fd(), ahead, intent, ranges);
        }
    }

    fn has_accessed(&self, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]) {
        if let Some(advisor) = &self.advisor {
            advisor.has_accessed(self.descriptor.as_fd(), ahead, intent, ranges);
        }
    }

    fn can_start_together(&self) -> bool {
        self.advisor.as_ref().is_some_and(|advisor| advisor.can_start_together())
    }

    fn start_together(&self, openings: usize) -> Option<io::Result<()>> {
        self.advisor.as_ref()?.start_together(self.descriptor.as_fd(), openings)
    }

    fn stay_apart(&self) {
        if let Some(advisor) = &self.advisor {
            advisor.stay_apart();
        }
    }

    fn stop_together(&self) -> Result<()> {
        let Some(advisor) = &self.advisor else { return Ok(()) };
        let stopped = advisor.stop_together(self.descriptor.as_fd());
        stopped.doing(|| format!("ending data shipping of {}", self.path))
    }

    fn reason(&self) -> Option<String> {
        self.advisor.as_ref()?.reason()
    }

    fn why_cached(&self) -> Option<String> {
        self.direct.as_ref()?.reason()
    }

    fn calls(&self) -> Calls {
        let counters = &self.counters;
        Calls {
            reads: counters.reads.load(Relaxed),
            read_bytes: counters.read_bytes.load(Relaxed),
            writes: counters.writes.load(Relaxed),
            write_bytes: counters.write_bytes.load(Relaxed),
            locks: counters.locks.load(Relaxed),
            lock_waits: counters.lock_waits.load(Relaxed),
            syncs: counters.syncs.load(Relaxed),
            uncached_bytes: self.direct.as_ref().map_or(0, Direct::moved),
            advised: match &self.advisor {
                Some(advisor) => advisor.advised(),
                None => Advised::default(),
            },
        }
    }
}

impl PosixFile {
    /// fsync, for the caller to say what it was for.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.counters.syncs.fetch_add(1, Relaxed);
        // SAFETY: plain numbers, and the descriptor is open.
        match retry(|| answer(unsafe { libc::fsync(self.descriptor.as_raw_fd()) })) {
            // A device such as /dev/null has nothing that could be sent anywhere.
            Err(cause) if cause.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            outcome => outcome,
        }
    }

    /// Agrees with the server without locks: sends what is here, and opens the file once more,
    /// which is when a client asks whether what it cached is still true.
    pub(super) fn reopen(&self) -> Result<()> {
        self.sync()?;
        let raw = self.descriptor.as_raw_fd();
        let name = format!("/proc/self/fd/{raw}\0");
        let access = if self.readable { libc::O_RDONLY } else { libc::O_WRONLY };
        // SAFETY: the name ends with a zero byte.
        let open = || unsafe { libc::open(name.as_ptr().cast(), access | libc::O_CLOEXEC) };
        retry(|| descriptor(open())).doing(|| format!("refreshing {}", self.path))?;
        self.ask_anew();
        Ok(())
    }

    /// Asks for the size, and forgets what is cached.
    pub(super) fn ask_anew(&self) {
        let raw = self.descriptor.as_raw_fd();
        // The size is another matter than what is in the file, and is asked for by itself. Where
        // that is not known, opening has done it.
        // SAFETY: all zeros is a valid `struct statx`, and the call fills it.
        let mut status: libc::statx = unsafe { std::mem::zeroed() };
        let how = libc::AT_EMPTY_PATH | libc::AT_STATX_FORCE_SYNC;
        // SAFETY: the name ends with a zero byte, and `status` is a local.
        let _ = unsafe { libc::statx(raw, c"".as_ptr(), how, libc::STATX_SIZE, &mut status) };
        page_cache::forget(self.descriptor.as_fd());
    }

    fn is_regular(&self) -> bool {
        status(self.descriptor.as_fd()).is_ok_and(|status| sort(&status) == libc::S_IFREG)
    }

    /// The length of all pieces together, if they end where offsets still exist.
    fn check_range(&self, verb: &str, offset: u64, pieces: &[Piece]) -> Result<u64> {
        let length = total_length(pieces);
        match offset.checked_add(length).map(i64::try_from) {
            Some(Ok(_)) => Ok(length),
            _ => {
                Err(too_large(format!("{verb} {length} bytes at offset {offset} of {}", self.path)))
            }
        }
    }

    fn stopped(&self, verb: &str, offset: u64, length: u64, stopped: &Stopped) -> Error {
        let (left, offset) = (length - stopped.moved, offset + stopped.moved);
        let doing = format_args!("{verb} {left} bytes at offset {offset} of {}", self.path);
        Error::system(&stopped.cause, doing)
    }

    /// As `lock`, and tells whether the system has given all of it; the rest is kept by an
    /// exclusive lock of the program itself.
    pub(super) fn secure(&self, offset: u64, length: u64, kind: LockKind) -> Result<bool> {
        if self.try_lock(offset, length, kind)? {
            return Ok(true);
        }
        let range = lock::lockable(offset, length);
        let kept = lock::kept_by_program(self.descriptor.as_fd(), &range, kind);
        if let Some(Taken { range, .. }) = kept.iter().find(|kept| kept.kind == LockKind::Shared) {
            let (bytes, start) = (range.end - range.start, range.start);
            let text = format!(
                "{}: the program itself keeps a shared lock on {bytes} bytes at offset {start}",
                self.locking(offset, length)
            );
            return Err(Error::new(Class::FileInUse, text));
        }
        match kept.is_empty() {
            true => self.wait_for(&range, kind).map(|()| true),
            false => self.lock_around(&kept, &range, kind).map(|()| false),
        }
    }

    /// Locks what the program does not keep of a range. In ascending order, so no two that do so
    /// wait for each other.
    fn lock_around(&self, kept: &[Taken], range: &Range<u64>, kind: LockKind) -> Result<()> {
        let mut place = range.start;
        let mut lock_up_to = |end: u64, next: u64| {
            let part = place..end;
            if !self.try_lock(part.start, end - part.start, kind)? {
                self.wait_for(&part, kind)?;
            }
            place = next;
            Ok(())
        };
        let outcome = kept.iter().try_for_each(|Taken { range: own, .. }| {
            lock_up_to(own.start, own.end)?;
            self.own_locks.enter(own, kind);
            Ok(())
        });
        let outcome = outcome.and_then(|()| lock_up_to(range.end, range.end));
        if outcome.is_err() {
            self.unlock(range.start, place - range.start);
        }
        outcome
    }

    /// Waits for a lock that could not be had at once.
    fn wait_for(&self, range: &Range<u64>, kind: LockKind) -> Result<()> {
        self.counters.lock_waits.fetch_add(1, Relaxed);
        let outcome = lock::wait(self.descriptor.as_fd(), range, kind);
        self.locked(outcome, range.start, range.end - range.start)
    }

    fn check_lock_kind(&self, offset: u64, length: u64, kind: LockKind) -> Result<()> {
        let missing = match kind {
            LockKind::Shared if !self.readable => "a shared lock needs a file open for reading",
            LockKind::Exclusive if !self.writable => {
                "an exclusive lock needs a file open for writing"
            }
            _ => return Ok(()),
        };
        let text = format!("{}: {missing}", self.locking(offset, length));
        Err(Error::new(Class::UnsupportedOperation, text))
    }

    /// Counts a lock that was given, and explains one that was not.
    fn locked(&self, outcome: io::Result<()>, offset: u64, length: u64) -> Result<()> {
        outcome.map_err(|cause| lock::refusal(&cause, &self.locking(offset, length)))?;
        self.counters.locks.fetch_add(1, Relaxed);
        Ok(())
    }

    fn locking(&self, offset: u64, length: u64) -> String {
        format!("locking {length} bytes at offset {offset} of {}", self.path)
    }

    /// Extends the file to `size` with zeros that are really written.
    fn write_zeros_to(&self, size: u64) -> Result<()> {
        let mut offset = self.size()?;
        if offset >= size {
            return Ok(());
        }
        let mut zeros = Scratch::new(allocate::ZERO_BLOCK)?;
        zeros.piece(allocate::ZERO_BLOCK).zero();
        while offset < size {
            let length = (size - offset).min(zeros.len() as u64);
            self.write_at(offset, &[zeros.piece(length as usize)])?;
            offset += length;
        }
        Ok(())
    }
}

/// fstat of an open file.
pub(super) fn status(file: BorrowedFd) -> io::Result<libc::stat> {
    // SAFETY: all zeros is a valid `struct stat`, and the call fills it.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and `status` is a local.
    retry(|| answer(unsafe { libc::fstat(file.as_raw_fd(), &mut status) }))?;
    Ok(status)
}

/// Whether it is a regular file, a device or something else.
fn sort(status: &libc::stat) -> libc::mode_t {
    status.st_mode & libc::S_IFMT
}

/// Bytes in an open file. Of a device with blocks fstat does not tell them.
pub(super) fn size(file: BorrowedFd) -> io::Result<u64> {
    let status = status(file)?;
    if sort(&status) != libc::S_IFBLK {
        return Ok(status.st_size as u64);
    }
    // No access goes by the place that this moves.
    // SAFETY: plain numbers, and the descriptor is open.
    let end = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_END) };
    u64::try_from(end).map_err(|_| io::Error::last_os_error())
}

/// A descriptor that a system call gave, or why it gave none.
pub(super) fn descriptor(raw: libc::c_int) -> io::Result<OwnedFd> {
    answer(raw)?;
    // SAFETY: the system just gave this number to the caller, who gives it to us.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// The C library's way to say that a call failed.
pub(super) fn answer(value: libc::c_int) -> io::Result<()> {
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn too_large(doing: impl fmt::Display) -> Error {
    Error::new(Class::Arg, format!("{doing}: the largest offset is {}", i64::MAX))
}

fn count(transferred: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(transferred).map_err(|_| io::Error::last_os_error())
}

// A `Piece` is handed to the system as a `struct iovec`.
const _: () = assert!(size_of::<Piece>() == size_of::<libc::iovec>());
const _: () = assert!(align_of::<Piece>() == align_of::<libc::iovec>());

fn read_call(file: BorrowedFd, offset: u64, batch: &[Piece]) -> io::Result<usize> {
    let (file, offset) = (file.as_raw_fd(), offset as libc::off_t);
    count(match batch {
        // SAFETY: a piece read into names memory that may be written (its maker's promise).
        [piece] => unsafe { libc::pread(file, piece.address().cast(), piece.len(), offset) },
        // SAFETY: as above, for each; pieces are laid out as `struct iovec`.
        many => unsafe {
            libc::preadv(file, many.as_ptr().cast(), many.len() as libc::c_int, offset)
        },
    })
}

fn write_call(file: BorrowedFd, offset: u64, batch: &[Piece]) -> io::Result<usize> {
    let (file, offset) = (file.as_raw_fd(), offset as libc::off_t);
    count(match batch {
        // SAFETY: a piece names memory that may be read (its maker's promise).
        [piece] => unsafe { libc::pwrite(file, piece.address().cast(), piece.len(), offset) },
        // SAFETY: as above, for each; pieces are laid out as `struct iovec`.
        many => unsafe {
            libc::pwritev(file, many.as_ptr().cast(), many.len() as libc::c_int, offset)
        },
    })
}

#[cfg(test)]
#[path = "posix_tests.rs"]
mod tests;
