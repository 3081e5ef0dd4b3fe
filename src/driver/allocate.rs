//! Room for a file on its device before it is written.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::posix::answer;
use super::transfer::retry;
use crate::memory::without_signals;

/// Bytes of one write where room is made by writing zeros.
pub(super) const ZERO_BLOCK: usize = 4 << 20;

/// What became of a request for room.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The first bytes are there, and the file is at least as long.
    Done,
    /// The file system has no such call, and nothing was changed.
    Unsupported,
}

/// Asks the file system for the first `size` bytes, in one call that leaves alone what is there.
///
/// posix_fallocate is not used: where the file system has no such call the C library reads and
/// rewrites a byte of every block, and what another process wrote in between is lost.
pub(super) fn allocate(file: BorrowedFd, size: u64) -> io::Result<Outcome> {
    if size == 0 {
        return Ok(Outcome::Done); // to the system no bytes are a mistake
    }
    let length = size as libc::off_t;
    // SAFETY: plain numbers, and the descriptor is open.
    let call = || answer(unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, length) });
    outcome(match call() {
        // Some give back all they had got, so that with a timer it would never come to an end.
        Err(cause) if cause.kind() == io::ErrorKind::Interrupted => without_signals(|| retry(call)),
        answer => answer,
    })
}

fn outcome(answer: io::Result<()>) -> io::Result<Outcome> {
    match answer {
        Ok(()) => Ok(Outcome::Done),
        Err(cause) => match cause.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => Ok(Outcome::Unsupported),
            _ => Err(cause),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_call_is_made_up_for() {
        assert_eq!(outcome(Ok(())).unwrap(), Outcome::Done);
        for errno in [libc::EOPNOTSUPP, libc::ENOSYS, libc::EINVAL] {
            let failed = Err(io::Error::from_raw_os_error(errno));
            assert_eq!(outcome(failed).unwrap(), Outcome::Unsupported);
        }
        for errno in [libc::ENOSPC, libc::EDQUOT, libc::EFBIG, libc::EIO] {
            let failed = Err(io::Error::from_raw_os_error(errno));
            assert_eq!(outcome(failed).unwrap_err().raw_os_error(), Some(errno));
        }
    }
}
