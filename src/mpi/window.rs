//! A number that all ranks of a communicator can read and change at any time.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI64, Ordering};

use super::comm::NodeInfo;
use super::handles::{Comm, Slot, Win};
use super::library::{Library, call, library};
use crate::error::{Doing, Result};

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
}

// SAFETY: the word is atomic and lives until `free` takes the value.
unsafe impl Send for SharedWord {}
// SAFETY: as above.
unsafe impl Sync for SharedWord {}

/// Enough for a cache line of its own.
const WORD_BYTES: i64 = 64;

impl SharedWord {
    /// Fails where this process has no descriptors left for the memory that ranks share. To be
    /// asked on all ranks before `new`: a rank on which the MPI fails there leaves the others
    /// waiting within it.
    pub fn is_possible() -> Result<()> {
        std::io::pipe().map(drop).doing(|| "keeping descriptors for the shared file pointer")
    }

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
        match self.local() {
            Ok(word) => Ok(word.fetch_add(value, Ordering::SeqCst)),
            Err(win) => remote(win, value, |library| library.handles().sum),
        }
    }

    /// What is there now.
    pub fn load(&self) -> Result<i64> {
        match self.local() {
            Ok(word) => Ok(word.load(Ordering::SeqCst)),
            Err(win) => remote(win, 0, |library| library.handles().no_op),
        }
    }

    /// Puts another value there.
    pub fn store(&self, value: i64) -> Result<()> {
        match self.local() {
            Ok(word) => word.store(value, Ordering::SeqCst),
            Err(win) => remote(win, value, |library| library.handles().replace).map(drop)?,
        }
        Ok(())
    }

    /// Gives it back. Collective.
    pub fn free(self) {
        let Ok(library) = library() else { return };
        let win = match self.0 {
            Place::Process(_) => return,
            Place::Node { win, .. } => win,
            Place::Nodes { win } => {
                let _ = call!(library, win_unlock_all(win.0));
                win
            }
        };
        let mut slot = Slot::new(library, win.0);
        let _ = call!(library, win_free(slot.pointer()));
    }

    /// The word where this process can reach it, else the window it is behind.
    fn local(&self) -> std::result::Result<&AtomicI64, Win> {
        match &self.0 {
            Place::Process(word) => Ok(word),
            // SAFETY: the window's memory is there until `free`, which takes the value.
            Place::Node { word, .. } => Ok(unsafe { &**word }),
            Place::Nodes { win } => Err(*win),
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
    call!(library, win_allocate(size, 1, info, comm.0, &mut mine, win))?;
    let win = returning_errors(library, slot.word(library))?;
    call!(library, win_lock_all(0, win.0))?;
    if first {
        remote(win, value, |library| library.handles().replace)?;
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
fn remote(win: Win, value: i64, operation: impl Fn(&Library) -> usize) -> Result<i64> {
    let library = library()?;
    let (datatype, operation) = (library.handles().int64_t, operation(library));
    let mut before = 0i64;
    let (from, into) = ((&raw const value).cast(), (&raw mut before).cast());
    call!(library, fetch_and_op(from, into, datatype, 0, 0, operation, win.0))?;
    call!(library, win_flush(0, win.0))?;
    Ok(before)
}
