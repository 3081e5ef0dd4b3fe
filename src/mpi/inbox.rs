//! Memory of each rank that the others put bytes into.

use std::ffi::c_int;
use std::ptr::NonNull;

use parking_lot::Mutex;

use super::handles::{Comm, Slot, Win};
use super::library::{call, library};
use super::window::{free, returning_errors};
use crate::error::{Class, Error, Result};
use crate::memory::Shared;

/// One rank's inbox, and the way to all others.
pub struct Inbox {
    win: Win,
    memory: Shared,
    /// Whether fences complete the puts; else flushes under a lock that all ranks share do.
    fenced: bool,
    /// What is being put, and to whom: the MPI reads it until then.
    underway: Mutex<Vec<(usize, Box<[u8]>)>>,
}

impl Inbox {
    /// One of `boxes` with `each` bytes for each rank, closed until `open`. Collective.
    pub fn new(comm: Comm, boxes: usize, each: usize, fenced: bool) -> Result<Inbox> {
        let library = library()?;
        let size = boxes * each;
        let info = library.handles().info_null;
        let (mut slot, mut mine) = (Slot::empty(), std::ptr::null_mut());
        let win = slot.pointer();
        call!(library, win_allocate(size as i64, 1, info, comm.0, &mut mine, win))?;
        let win = returning_errors(library, slot.word(library))?;
        let none = || Error::new(Class::NoMem, format!("no window of {size} bytes"));
        let base = NonNull::new(mine.cast::<u8>()).ok_or_else(none)?;
        // SAFETY: the MPI aligns the window for any type, and it is there until `free`.
        let memory = unsafe { Shared::new(base, size) };
        // A box that nothing could be put into must not look as if there were a letter in it, whose
        // length stands first. The rest is not touched: there may be no memory behind it.
        for number in 0..boxes {
            memory.piece(number * each, size_of::<u64>()).zero();
        }
        Ok(Inbox { win, memory, fenced, underway: Mutex::new(Vec::new()) })
    }

    /// Lets all ranks put from now on. Collective.
    pub fn open(&self) -> Result<()> {
        let library = library()?;
        match self.fenced {
            true => call!(library, win_fence(0, self.win.0)),
            false => call!(library, win_lock_all(0, self.win.0)),
        }
    }

    /// This rank's own memory.
    pub fn memory(&self) -> &Shared {
        &self.memory
    }

    /// Begins to put bytes at `place` of rank `to`.
    pub fn put(&self, to: usize, place: usize, bytes: Vec<u8>) -> Result<()> {
        let library = library()?;
        let bytes = bytes.into_boxed_slice();
        let (address, count) = (bytes.as_ptr().cast(), bytes.len() as c_int);
        let (byte, place) = (library.handles().byte, place as i64);
        call!(library, put(address, count, byte, to as c_int, place, count, byte, self.win.0))?;
        self.underway.lock().push((to, bytes));
        Ok(())
    }

    /// Completes the puts of all ranks. Collective.
    pub fn fence(&self) -> Result<()> {
        call!(library()?, win_fence(0, self.win.0))?;
        self.underway.lock().clear();
        Ok(())
    }

    /// Completes this rank's puts to rank `to`.
    pub fn flush(&self, to: usize) -> Result<()> {
        call!(library()?, win_flush(to as c_int, self.win.0))?;
        self.underway.lock().retain(|&(other, _)| other != to);
        Ok(())
    }

    /// What others have completed can be seen now.
    pub fn look(&self) {
        if let Ok(library) = library()
            && !self.fenced
        {
            let _ = call!(library, win_sync(self.win.0));
        }
    }

    /// Gives it back. Collective.
    pub fn free(&self) {
        if let Ok(library) = library()
            && !self.fenced
        {
            let _ = call!(library, win_unlock_all(self.win.0));
        }
        free(self.win);
    }
}
