//! A number that all ranks of a communicator can read and change at any time.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI64, Ordering};

use super::comm::NodeInfo;
use super::handles::{Comm, Slot, Win};
use super::library::{Library, call, library};
use super::served::Served;
use crate::error::Result;

/// An i64 that lives with rank 0 and that all ranks of a communicator can fetch and add to,
/// without rank 0 doing anything for it where they share memory.
#[derive(Debug)]
pub struct SharedWord(Place);

#[derive(Debug)]
enum Place {
    /// One rank: plain memory of the process.
    Process(Box<AtomicI64>),
    /// One node: memory that the ranks share, and the processor's own atomics.
    Node { win: Win, word: *const AtomicI64 },
    /// Several nodes: the MPI's one-sided operations. Whether rank 0 must call MPI for them to
    /// get on depends on the network.
    Nodes { win: Win },
    /// Several nodes, and an MPI without one-sided operations between them.
    Served(Served),
}

/// What can happen to the word. The numbers travel between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A value is added.
    Add,
    /// None.
    Read,
    /// Another value is put there.
    Replace,
}

impl Change {
    /// The one with this number.
    pub(super) fn of(number: i64) -> Change {
        let all = [Change::Add, Change::Read, Change::Replace];
        all.into_iter().find(|change| *change as i64 == number).unwrap_or(Change::Read)
    }

    /// Does it, and returns what was there before.
    pub(super) fn apply(self, word: &AtomicI64, value: i64) -> i64 {
        match self {
            Change::Add => word.fetch_add(value, Ordering::SeqCst),
            Change::Read => word.load(Ordering::SeqCst),
            Change::Replace => word.swap(value, Ordering::SeqCst),
        }
    }

    /// The MPI's operation for it.
    fn operation(self, library: &Library) -> usize {
        match self {
            Change::Add => library.handles().sum,
            Change::Read => library.handles().no_op,
            Change::Replace => library.handles().replace,
        }
    }
}

// SAFETY: the word is atomic and lives until `free` takes the value.
unsafe impl Send for SharedWord {}
// SAFETY: as above.
unsafe impl Sync for SharedWord {}

/// Enough for a cache line of its own.
const WORD_BYTES: i64 = 64;

impl SharedWord {
    /// A new one with the value that rank 0 gives. Collective over `comm`, whose spread over the
    /// nodes is `node`.
    pub fn new(comm: Comm, node: NodeInfo, value: i64) -> Result<SharedWord> {
        let library = library()?;
        let place = if comm.size()? == 1 {
            Place::Process(Box::new(AtomicI64::new(value)))
        } else if node.node_count == 1 {
            on_one_node(library, comm, value)?
        } else {
            on_several_nodes(library, comm, value)?
        };
        Ok(SharedWord(place))
    }

    /// Adds and returns what was there before.
    pub fn fetch_add(&self, value: i64) -> Result<i64> {
        self.change(Change::Add, value)
    }

    /// What is there now.
    pub fn load(&self) -> Result<i64> {
        self.change(Change::Read, 0)
    }

    /// Puts another value there.
    pub fn store(&self, value: i64) -> Result<()> {
        self.change(Change::Replace, value).map(drop)
    }

    /// Gives it back. Collective.
    pub fn free(self) {
        let Ok(library) = library() else { return };
        let win = match self.0 {
            Place::Process(_) => return,
            Place::Served(served) => return served.free(),
            Place::Node { win, .. } => win,
            Place::Nodes { win } => {
                let _ = call!(library, win_unlock_all(win.0));
                win
            }
        };
        let mut slot = Slot::new(library, win.0);
        let _ = call!(library, win_free(slot.pointer()));
    }

    fn change(&self, how: Change, value: i64) -> Result<i64> {
        match &self.0 {
            Place::Process(word) => Ok(how.apply(word, value)),
            // SAFETY: the window's memory is there until `free`, which takes the value.
            Place::Node { word, .. } => Ok(how.apply(unsafe { &**word }, value)),
            Place::Nodes { win } => remote(*win, how, value),
            Place::Served(served) => served.change(how, value),
        }
    }
}

fn on_one_node(library: &Library, comm: Comm, value: i64) -> Result<Place> {
    let first = comm.rank()? == 0;
    let size = if first { WORD_BYTES } else { 0 };
    let info = library.handles().info_null;
    let (mut slot, mut mine) = (Slot::empty(), std::ptr::null_mut());
    let win = slot.pointer();
    call!(library, win_allocate_shared(size, 1, info, comm.0, &mut mine, win))?;
    let win = returning_errors(library, slot.word(library))?;
    let (mut length, mut unit, mut address): (i64, c_int, *mut c_void) = (0, 0, mine);
    call!(library, win_shared_query(win.0, 0, &mut length, &mut unit, &mut address))?;
    let word = address.cast::<AtomicI64>().cast_const();
    if first {
        // SAFETY: the window has 64 bytes for rank 0, which the MPI aligns for any type.
        unsafe { &*word }.store(value, Ordering::SeqCst);
    }
    comm.barrier()?;
    Ok(Place::Node { win, word })
}

fn on_several_nodes(library: &Library, comm: Comm, value: i64) -> Result<Place> {
    let first = comm.rank()? == 0;
    let size = if first { WORD_BYTES } else { 0 };
    let info = library.handles().info_null;
    let (mut slot, mut mine) = (Slot::empty(), std::ptr::null_mut());
    let win = slot.pointer();
    // An MPI that cannot do it says so on all ranks.
    if let Err(refusal) = call!(library, win_allocate(size, 1, info, comm.0, &mut mine, win)) {
        return Served::new(comm, value, refusal).map(Place::Served);
    }
    let win = returning_errors(library, slot.word(library))?;
    call!(library, win_lock_all(0, win.0))?;
    if first {
        remote(win, Change::Replace, value)?;
    }
    comm.barrier()?;
    Ok(Place::Nodes { win })
}

/// Errors on a new window end the program unless told otherwise.
fn returning_errors(library: &Library, win: usize) -> Result<Win> {
    call!(library, win_set_errhandler(win, library.handles().errors_return))?;
    Ok(Win(win))
}

/// One atomic operation on rank 0's word; gives what was there before.
fn remote(win: Win, how: Change, value: i64) -> Result<i64> {
    let library = library()?;
    let (datatype, operation) = (library.handles().int64_t, how.operation(library));
    let mut before = 0i64;
    let (from, into) = ((&raw const value).cast(), (&raw mut before).cast());
    call!(library, fetch_and_op(from, into, datatype, 0, 0, operation, win.0))?;
    call!(library, win_flush(0, win.0))?;
    Ok(before)
}
