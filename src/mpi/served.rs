//! A shared number for an MPI that has no one-sided operations between nodes.
//!
//! Debian configures Open MPI 4 so: over TCP no window can be made. Rank 0 has the number then,
//! and answers messages from within the progress of its MPI. As with most windows, the others
//! wait until rank 0 calls MPI.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;

use super::finalize::on_finalize;
use super::handles::{Comm, Slot};
use super::library::{Library, call, library};
use super::running::has_world;
use super::window::Change;
use crate::error::{Error, Result};

/// This rank's end: the number itself, or the way to ask for it.
#[derive(Debug)]
pub(super) struct Served {
    comm: Comm,
    desk: Option<Arc<Desk>>,
}

/// Where rank 0 answers.
#[derive(Debug)]
struct Desk {
    comm: Comm,
    word: AtomicU64,
}

/// Those that this process answers at.
static DESKS: Mutex<Vec<Arc<Desk>>> = Mutex::new(Vec::new());

const QUESTION: c_int = 1;
const ANSWER: c_int = 2;

/// Who asks, what is to happen, and with which value.
type Question = [i64; 3];

impl Served {
    /// The number, with the value that rank 0 gives, unless this MPI has no place for us in its
    /// progress: then `refusal` is the answer on all ranks. Collective.
    pub(super) fn new(comm: Comm, value: i64, refusal: Error) -> Result<Served> {
        let mut impossible = [i64::from(library()?.functions.progress_register.is_none())];
        comm.allreduce_max(&mut impossible)?;
        if impossible != [0] {
            return Err(refusal);
        }
        // Of its own, so that no message of others is taken for a question.
        let comm = comm.dup()?;
        let first = comm.rank()? == 0;
        let desk = first.then(|| Arc::new(Desk { comm, word: AtomicU64::new(value as u64) }));
        if let Some(desk) = &desk {
            open(desk.clone())?;
        }
        Ok(Served { comm, desk })
    }

    /// Changes the number and returns what was there before.
    pub(super) fn change(&self, how: Change, value: i64) -> Result<i64> {
        if let Some(desk) = &self.desk {
            return Ok(how.apply(&desk.word, value));
        }
        let library = library()?;
        let mut question: Question = [self.comm.rank()? as i64, how as i64, value];
        send(library, self.comm, &mut question, 0, QUESTION)?;
        let mut answer = [0];
        receive(library, self.comm, &mut answer, 0, ANSWER)?;
        Ok(answer[0])
    }

    /// Gives it back, when nobody asks any more. Collective.
    pub(super) fn free(self) {
        if let Some(desk) = &self.desk {
            close(|other| Arc::ptr_eq(other, desk));
        }
        self.comm.free();
    }
}

fn open(desk: Arc<Desk>) -> Result<()> {
    let mut desks = DESKS.lock();
    if desks.is_empty()
        && let Some(register) = library()?.functions.progress_register
    {
        // SAFETY: the function stays; it may be called at any time.
        unsafe { register(answer_all) };
        // The MPI looks for messages after it has forbidden to call it: nobody is to ask then,
        // also where a file stays open.
        if has_world() {
            on_finalize(|| close(|_| true))?;
        }
    }
    desks.push(desk);
    Ok(())
}

fn close(which: impl Fn(&Arc<Desk>) -> bool) {
    let mut desks = DESKS.lock();
    let before = desks.len();
    desks.retain(|desk| !which(desk));
    let Ok(library) = library() else { return };
    if before > 0
        && desks.is_empty()
        && let Some(unregister) = library.functions.progress_unregister
    {
        // SAFETY: the function is registered while there are desks.
        unsafe { unregister(answer_all) };
    }
}

/// Called by the MPI whenever it looks for messages; tells how many it dealt with.
extern "C" fn answer_all() -> c_int {
    // Waiting below comes here again.
    let (Some(desks), Ok(library)) = (DESKS.try_lock(), library()) else { return 0 };
    desks.iter().filter(|desk| answer(library, desk).unwrap_or(false)).count() as c_int
}

/// Answers one question, if there is one.
fn answer(library: &Library, desk: &Desk) -> Result<bool> {
    let constants = library.constants();
    let mut waiting = 0;
    let (any, ignore) = (constants.any_source, constants.status_ignore);
    call!(library, iprobe(any, QUESTION, desk.comm.0, &mut waiting, ignore))?;
    if waiting == 0 {
        return Ok(false);
    }
    let mut question: Question = [0; 3];
    receive(library, desk.comm, &mut question, any, QUESTION)?;
    let [rank, how, value] = question;
    let mut answer = [Change::of(how).apply(&desk.word, value)];
    send(library, desk.comm, &mut answer, rank as c_int, ANSWER)?;
    Ok(true)
}

/// So short that no MPI waits for the receiver.
fn send(library: &Library, comm: Comm, words: &mut [i64], to: c_int, tag: c_int) -> Result<()> {
    let (address, count, datatype) = message(library, words);
    let mut slot = Slot::empty();
    call!(library, isend(address, count, datatype, to, tag, comm.0, slot.pointer()))?;
    call!(library, wait(slot.pointer(), library.constants().status_ignore))
}

fn receive(
    library: &Library,
    comm: Comm,
    words: &mut [i64],
    from: c_int,
    tag: c_int,
) -> Result<()> {
    let (address, count, datatype) = message(library, words);
    let mut slot = Slot::empty();
    call!(library, irecv(address, count, datatype, from, tag, comm.0, slot.pointer()))?;
    call!(library, wait(slot.pointer(), library.constants().status_ignore))
}

fn message(library: &Library, words: &mut [i64]) -> (*mut std::ffi::c_void, c_int, usize) {
    (words.as_mut_ptr().cast(), words.len() as c_int, library.handles().int64_t)
}
