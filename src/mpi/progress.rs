//! How a thread of the program comes by to complete requests while it is inside MPI.

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use parking_lot::Mutex;

use super::handles::Comm;
use super::library::{Library, ThreadLevel, library, thread_level};
use super::request::complete_kept;
use super::running::{epoch, with_any_comm};
use crate::error::Result;

/// Who completes requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hook {
    /// The thread that did the work: all threads may call MPI.
    Worker,
    /// MPICH since 4.3: a function that its progress calls until it says that it is done.
    Async,
    /// Open MPI: a function that its progress calls until it is told not to.
    Progress,
    /// The MPICH family: a function that its completion calls call for such requests.
    Poll,
    /// Nobody, so requests are complete when they are made.
    None,
}

/// Which of them this MPI has, at the thread level that the program asked for.
pub(super) fn hook() -> Hook {
    static HOOK: Mutex<Option<(u32, Hook)>> = Mutex::new(None);
    let mut known = HOOK.lock();
    match *known {
        Some((found, hook)) if found == epoch() => hook,
        _ => known.insert((epoch(), find_hook())).1,
    }
}

fn find_hook() -> Hook {
    let (Ok(library), Ok(level)) = (library(), thread_level()) else { return Hook::None };
    let functions = &library.functions;
    if level == ThreadLevel::Multiple {
        Hook::Worker
    } else if functions.async_start.is_some() {
        Hook::Async
    } else if functions.progress_register.is_some() && functions.progress_unregister.is_some() {
        Hook::Progress
    } else if functions.grequest_start_polled().is_some() {
        Hook::Poll
    } else {
        Hook::None
    }
}

/// What the MPI knows of us.
struct Registration {
    /// Requests that have not been completed.
    left: usize,
    /// In which epoch the function was registered, if it is.
    registered: Option<u32>,
}

static REGISTRATION: Mutex<Registration> = Mutex::new(Registration { left: 0, registered: None });

/// Whether the function is being called: completing a request comes here again.
static BUSY: AtomicBool = AtomicBool::new(false);

/// MPIX_STREAM_NULL, and the answers of a function for it.
const STREAM_NULL: c_int = 0x3c00_0000;
const PENDING: c_int = 0;
const DONE: c_int = 1;

/// One more request is to be completed later: from now on the MPI calls us. Nothing has changed if it
/// will not.
pub(super) fn one_more() -> Result<()> {
    let library = library()?;
    let mut registration = REGISTRATION.lock();
    if registration.registered != Some(epoch()) && register(library)? {
        registration.registered = Some(epoch());
    }
    registration.left += 1;
    Ok(())
}

/// Has the MPI call us from its progress; tells whether it is one that does.
fn register(library: &Library) -> Result<bool> {
    match (hook(), library.functions.async_start, library.functions.progress_register) {
        (Hook::Async, Some(start), _) => {
            // SAFETY: the function stays; it needs no state.
            let code = unsafe { start(called_until_done, std::ptr::null_mut(), STREAM_NULL) };
            library.check(c"MPIX_Async_start", code)?;
        }
        (Hook::Progress, _, Some(register)) => {
            // SAFETY: the function stays; it may be called at any time.
            unsafe { register(called) };
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// So many have been completed, or will never be.
pub(super) fn fewer(count: usize) {
    REGISTRATION.lock().left -= count;
}

/// Takes the function away from an MPI that would call it for nothing. Not while it is called.
pub fn rest() {
    if BUSY.load(SeqCst) || hook() != Hook::Progress {
        return;
    }
    let mut registration = REGISTRATION.lock();
    if registration.left == 0
        && registration.registered == Some(epoch())
        && let Ok(library) = library()
        && let Some(unregister) = library.functions.progress_unregister
    {
        // SAFETY: the function is registered.
        unsafe { unregister(called) };
        registration.registered = None;
    }
}

/// Called by Open MPI whenever it looks for messages; tells how many events it dealt with.
extern "C" fn called() -> c_int {
    if BUSY.swap(true, SeqCst) {
        return 0;
    }
    let completed = complete_kept();
    BUSY.store(false, SeqCst);
    completed as c_int
}

/// Called by MPICH whenever it looks for messages, until nothing is left.
extern "C" fn called_until_done(_thing: *mut c_void) -> c_int {
    called();
    // Whoever has the lock will be through when this is called next.
    match REGISTRATION.try_lock() {
        Some(mut registration) if registration.left == 0 => {
            registration.registered = None;
            DONE
        }
        _ => PENDING,
    }
}

/// Lets the MPI see to messages that others wait for.
pub(super) fn poke() {
    with_any_comm(Comm::progress);
}
