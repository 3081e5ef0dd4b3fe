//! Byte-range locks that belong to an opening of the file, not to a process.
//!
//! Locks of the process (F_SETLK) would be shared by all openings of a file in it, and lost as
//! soon as any one of them is closed, by whatever library.

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::LockKind;
use super::posix::answer;
use super::ranges::without;
use super::transfer::retry;
use crate::error::{Class, Error};

/// The bytes of a range that can exist in a file: offsets end at the largest `off_t`.
pub(super) fn lockable(offset: u64, length: u64) -> Range<u64> {
    let limit = i64::MAX as u64;
    offset.min(limit)..offset.saturating_add(length).min(limit)
}

/// Takes the lock, waiting for it.
pub(super) fn wait(file: BorrowedFd, range: &Range<u64>, kind: LockKind) -> io::Result<()> {
    retry(|| control(file, libc::F_OFD_SETLKW, range, type_of(kind)))
}

/// Takes the lock if it is free, and says whether it was.
pub(super) fn attempt(file: BorrowedFd, range: &Range<u64>, kind: LockKind) -> io::Result<bool> {
    match retry(|| control(file, libc::F_OFD_SETLK, range, type_of(kind))) {
        Ok(()) => Ok(true),
        Err(cause) if matches!(cause.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {
            Ok(false)
        }
        Err(cause) => Err(cause),
    }
}

/// Gives the range back.
pub(super) fn release(file: BorrowedFd, range: &Range<u64>) -> io::Result<()> {
    retry(|| control(file, libc::F_OFD_SETLK, range, libc::F_UNLCK as libc::c_short))
}

/// Bytes of which somebody else has a lock.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) range: Range<u64>,
    pub(super) kind: LockKind,
    /// -1 for a lock that belongs to an opening.
    process: libc::pid_t,
}

/// What locks of this very process, taken by the program with F_SETLK, keep of a range that could
/// not be locked, in order. Where the system cannot tell it is nothing.
pub(super) fn kept_by_program(file: BorrowedFd, range: &Range<u64>, kind: LockKind) -> Vec<Taken> {
    let mut kept: Vec<Taken> = locks_of_program(file, range, kind).collect();
    kept.sort_by_key(|taken| taken.range.start);
    kept
}

/// Whether there are any.
pub(super) fn keeps_some(file: BorrowedFd, range: &Range<u64>, kind: LockKind) -> bool {
    locks_of_program(file, range, kind).next().is_some()
}

fn locks_of_program(
    file: BorrowedFd,
    range: &Range<u64>,
    kind: LockKind,
) -> impl Iterator<Item = Taken> {
    let mut parts = vec![range.clone()];
    let taken = std::iter::from_fn(move || {
        loop {
            let part = parts.pop()?;
            let Some(taken) = ask(file, libc::F_OFD_GETLK, &part, kind) else { continue };
            parts.extend(without(vec![part], &taken.range));
            return Some(taken);
        }
    });
    taken.filter(move |taken| is_own(file, taken, kind))
}

/// Whether it is this process that has taken a lock. File systems in user space may tell the
/// number that a process has on another machine; but to the process itself its own lock is no
/// obstacle.
fn is_own(file: BorrowedFd, taken: &Taken, kind: LockKind) -> bool {
    let own = std::process::id();
    let is = |taken: &Taken| u32::try_from(taken.process) == Ok(own);
    is(taken) && !ask(file, libc::F_GETLK, &taken.range, kind).is_some_and(|other| is(&other))
}

/// Who is in the way of a lock on `range`: what one of them has of it.
fn ask(
    file: BorrowedFd,
    command: libc::c_int,
    range: &Range<u64>,
    kind: LockKind,
) -> Option<Taken> {
    let mut lock = described(range, type_of(kind));
    // SAFETY: the descriptor is open for as long as it is borrowed, and `lock` is a local.
    retry(|| answer(unsafe { libc::fcntl(file.as_raw_fd(), command, &mut lock) })).ok()?;
    let kind = match libc::c_int::from(lock.l_type) {
        libc::F_RDLCK => LockKind::Shared,
        libc::F_WRLCK => LockKind::Exclusive,
        _ => return None,
    };
    let start = lock.l_start as u64;
    let end = if lock.l_len == 0 { range.end } else { start + lock.l_len as u64 };
    let range = start.max(range.start)..end.min(range.end);
    (!range.is_empty()).then_some(Taken { range, kind, process: lock.l_pid })
}

/// What to tell of a lock that the system refused.
pub(super) fn refusal(cause: &io::Error, doing: &str) -> Error {
    match cause.raw_os_error() {
        Some(libc::ENOLCK | libc::ENOSYS | libc::EOPNOTSUPP | libc::EINVAL) => Error::new(
            Class::UnsupportedOperation,
            format!("{doing}: the file system gives no locks: {cause}"),
        ),
        _ => Error::system(cause, doing),
    }
}

fn type_of(kind: LockKind) -> libc::c_short {
    match kind {
        LockKind::Shared => libc::F_RDLCK as libc::c_short,
        LockKind::Exclusive => libc::F_WRLCK as libc::c_short,
    }
}

/// One fcntl call. A range of no bytes is left alone: to the system a length of zero means
/// everything from the offset on.
fn control(
    file: BorrowedFd,
    command: libc::c_int,
    range: &Range<u64>,
    lock_type: libc::c_short,
) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let lock = described(range, lock_type);
    // SAFETY: the descriptor is open for as long as it is borrowed, and `lock` is a local.
    answer(unsafe { libc::fcntl(file.as_raw_fd(), command, &lock) })
}

fn described(range: &Range<u64>, lock_type: libc::c_short) -> libc::flock {
    // SAFETY: all zeros is a valid `struct flock`; the process id must be zero here.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = lock_type;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = range.start as libc::off_t;
    lock.l_len = (range.end - range.start) as libc::off_t;
    lock
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_with_the_largest_offset() {
        let limit = i64::MAX as u64;
        for (offset, length, expected) in [
            (0, 0, 0..0),
            (7, 0, 7..7),
            (0, 10, 0..10),
            (0, u64::MAX, 0..limit),
            (5, limit, 5..limit),
            (limit, 1, limit..limit),
            (u64::MAX, u64::MAX, limit..limit),
        ] {
            assert_eq!(lockable(offset, length), expected);
        }
    }

    #[test]
    fn a_file_system_without_locks_is_named_as_such() {
        for (errno, class) in [
            (libc::ENOLCK, Class::UnsupportedOperation),
            (libc::ENOSYS, Class::UnsupportedOperation),
            (libc::EOPNOTSUPP, Class::UnsupportedOperation),
            (libc::EINVAL, Class::UnsupportedOperation),
            (libc::EIO, Class::Io),
        ] {
            let cause = io::Error::from_raw_os_error(errno);
            let error = refusal(&cause, "locking 4 bytes at offset 8 of /a/b");
            assert_eq!(error.class, class);
            assert!(error.text().starts_with("locking 4 bytes at offset 8 of /a/b: "));
            assert!(error.text().ends_with(&cause.to_string()));
        }
    }
}
