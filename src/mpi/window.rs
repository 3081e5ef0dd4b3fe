//! A number that all ranks can reach.

use std::sync::atomic::{AtomicU64, Ordering};

use super::handles::{Comm, Slot, Win};
use super::library::{Library, call, library};
use super::served::Served;
use crate::error::Result;
use crate::memory::Shared;

/// An i64 that all ranks of a communicator can fetch and add to at any time.
pub struct SharedWord(Place);

enum Place {
    /// In memory that all of them see.
    Node(Shared),
    /// Several nodes: with rank 0, by the MPI's one-sided operations. Whether rank 0 must call MPI
    /// for them to get on depends on the network.
    Nodes(Win),
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
    pub(super) fn apply(self, word: &AtomicU64, value: i64) -> i64 {
        let before = match self {
            Change::Add => word.fetch_add(value as u64, Ordering::SeqCst),
            Change::Read => word.load(Ordering::SeqCst),
            Change::Replace => word.swap(value as u64, Ordering::SeqCst),
        };
        before as i64
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

/// Enough for a cache line of its own.
const WORD_BYTES: i64 = 64;

impl SharedWord {
    /// A new one at the start of `memory`, which all ranks see. Only rank 0 gives a value, before
    /// the ranks meet next.
    pub fn on_node(memory: Shared, value: Option<i64>) -> SharedWord {
        if let Some(value) = value {
            Change::Replace.apply(memory.word(0), value);
        }
        SharedWord(Place::Node(memory))
    }

    /// A new one with the value that rank 0 gives, for use after the ranks have met. Collective
    /// over `comm`.
    pub fn on_nodes(comm: Comm, value: i64) -> Result<SharedWord> {
        on_several_nodes(library()?, comm, value).map(SharedWord)
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
        match self.0 {
            Place::Node(_) => {}
            Place::Served(served) => served.free(),
            Place::Nodes(win) => {
                if let Ok(library) = library() {
                    let _ = call!(library, win_unlock_all(win.0));
                }
                free(win);
            }
        }
    }

    fn change(&self, how: Change, value: i64) -> Result<i64> {
        match &self.0 {
            Place::Node(memory) => Ok(how.apply(memory.word(0), value)),
            Place::Nodes(win) => remote(*win, how, value),
            Place::Served(served) => served.change(how, value),
        }
    }
}

/// Gives a window back. Collective.
pub(super) fn free(win: Win) {
    if let Ok(library) = library() {
        let mut slot = Slot::new(library, win.0);
        let _ = call!(library, win_free(slot.pointer()));
    }
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
    Ok(Place::Nodes(win))
}

/// Errors on a new window end the program unless told otherwise.
pub(super) fn returning_errors(library: &Library, win: usize) -> Result<Win> {
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
