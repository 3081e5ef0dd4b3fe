//! Whether MPI can be called, and whether it is still the one that it was.
//!
//! A program with sessions need not call MPI_Init: it has no MPI_COMM_WORLD and no MPI_COMM_SELF
//! then, and its MPI may end with the last session and begin anew with the next. What the MPI has
//! given us before is worth nothing afterwards. Nobody tells when that happens, but while a file is
//! open it cannot.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use parking_lot::Mutex;

use super::handles::Comm;
use super::library::{call, library};

/// Counts how often MPI may have begun; never 0.
static EPOCH: AtomicU32 = AtomicU32::new(1);

static OPENINGS: Mutex<Openings> =
    Mutex::new(Openings { all: 0, without_world: 0, had_world: true, comms: Vec::new() });

struct Openings {
    all: usize,
    without_world: usize,
    /// Whether there was a world at the last beginning.
    had_world: bool,
    /// Of those without a world.
    comms: Vec<Comm>,
}

/// As long as it lives MPI is there.
#[derive(Debug)]
pub struct Running {
    world: bool,
}

impl Running {
    /// The caller has a communicator that is good until this is dropped.
    pub fn begin() -> Running {
        let world = has_world();
        let mut openings = OPENINGS.lock();
        if openings.all == 0 && !(world && openings.had_world) {
            EPOCH.fetch_add(1, SeqCst);
        }
        openings.had_world = world;
        openings.all += 1;
        openings.without_world += usize::from(!world);
        Running { world }
    }

    /// Lets others look for messages on the opening's own communicator.
    pub fn lend(&self, comm: Comm) {
        if !self.world {
            OPENINGS.lock().comms.push(comm);
        }
    }

    /// The communicator is about to go.
    pub fn withdraw(&self, comm: Comm) {
        if !self.world {
            OPENINGS.lock().comms.retain(|lent| *lent != comm);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut openings = OPENINGS.lock();
        openings.all -= 1;
        openings.without_world -= usize::from(!self.world);
    }
}

/// Does something with a communicator of this process, if there is one and nobody else does.
pub(super) fn with_any_comm(act: impl FnOnce(Comm)) {
    if has_world() {
        if let Ok(comm) = Comm::self_() {
            act(comm);
        }
    } else if let Some(openings) = OPENINGS.try_lock()
        && let Some(comm) = openings.comms.first()
    {
        act(*comm);
    }
}

/// Which MPI of this process it is: what was got from it is good in the same epoch only.
pub(super) fn epoch() -> u32 {
    EPOCH.load(SeqCst)
}

/// Whether MPI can be called. A file that was left open says nothing about a world that is gone.
pub fn is_running() -> bool {
    OPENINGS.lock().without_world > 0 || has_world()
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
