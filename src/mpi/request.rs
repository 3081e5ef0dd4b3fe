//! Requests: generalized ones, so that all of the program's completion calls accept them.

use std::ffi::{c_int, c_void};

use super::handles::{Request, Slot};
use super::library::{call, library};
use super::status::set_status;
use crate::error::Result;

/// Fills the status of a request: extra state, status.
pub(super) type QueryFunction = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
/// Frees what belongs to a request: extra state.
pub(super) type FreeFunction = unsafe extern "C" fn(*mut c_void) -> c_int;
/// Asks a request to stop: extra state, whether it is complete.
pub(super) type CancelFunction = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// A request that is complete already, with a status that says `bytes` were transferred.
pub fn completed_request(bytes: u64) -> Result<Request> {
    let library = library()?;
    let mut slot = Slot::empty();
    // The count travels as the extra state itself, so nothing needs to be freed.
    let extra_state = bytes as usize as *mut c_void;
    let request = slot.pointer();
    call!(library, grequest_start(query, free, cancel, extra_state, request))?;
    let request = Request(slot.word(library));
    call!(library, grequest_complete(request.0))?;
    Ok(request)
}

unsafe extern "C" fn query(extra_state: *mut c_void, status: *mut c_void) -> c_int {
    // SAFETY: the MPI passes a status of its own, or the one that the program gave it.
    match unsafe { set_status(status, extra_state as usize as u64) } {
        Ok(()) => 0,
        Err(error) => library().map_or(1, |library| library.constants().class_code(error.class)),
    }
}

unsafe extern "C" fn free(_extra_state: *mut c_void) -> c_int {
    0
}

/// What is done cannot be undone: the operation completes as if nobody had asked.
unsafe extern "C" fn cancel(_extra_state: *mut c_void, _complete: c_int) -> c_int {
    0
}
