//! Whether MPI can be called, and whether it is still the one that it was.
//!
//! A program with sessions need not call MPI_Init: it has no MPI_COMM_WORLD and no MPI_COMM_SELF
//! then, and its MPI may end with the last session and begin anew with the next. What the MPI has
//! given us before is worth nothing afterwards. Nobody tells when that happens, but while a file is
//! open it cannot.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

use parking_lot::Mutex;

use super::library::{call, library};

/// Openings of files.
static OPENINGS: AtomicUsize = AtomicUsize::new(0);

/// Counts how often MPI may have begun; never 0.
static EPOCH: AtomicU32 = AtomicU32::new(1);

/// Keeps the count right when two threads begin.
static BEGINNING: Mutex<()> = Mutex::new(());

/// As long as it lives MPI is there.
#[derive(Debug)]
pub struct Running(());

impl Running {
    /// The caller has a communicator that is good until this is dropped.
    pub fn begin() -> Running {
        let _alone = BEGINNING.lock();
        if OPENINGS.load(SeqCst) == 0 && !has_world() {
            EPOCH.fetch_add(1, SeqCst);
        }
        OPENINGS.fetch_add(1, SeqCst);
        Running(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        OPENINGS.fetch_sub(1, SeqCst);
    }
}

/// Which MPI of this process it is: what was got from it is good in the same epoch only.
pub(super) fn epoch() -> u32 {
    EPOCH.load(SeqCst)
}

/// Whether MPI can be called.
pub fn is_running() -> bool {
    OPENINGS.load(SeqCst) > 0 || has_world()
}

/// Whether there are MPI_COMM_WORLD and MPI_COMM_SELF: MPI_Init was called, MPI_Finalize was not.
pub fn has_world() -> bool {
    let Ok(library) = library() else { return false };
    let (mut initialized, mut finalized) = (0, 0);
    let answered = call!(library, initialized(&mut initialized))
        .and_then(|()| call!(library, finalized(&mut finalized)));
    answered.is_ok() && initialized != 0 && finalized == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_a_file_is_open_mpi_is_the_same() {
        assert!(!is_running() && !has_world());
        let (one, before) = (Running::begin(), epoch());
        let two = Running::begin();
        assert!(is_running() && epoch() == before);
        drop((one, two));
        assert!(!is_running());
        let _three = Running::begin();
        assert_ne!(epoch(), before);
    }
}
