//! Statuses: the layout is the MPI's secret, so they are only written through its routines.

use std::ffi::{c_int, c_void};

use super::library::{Library, call, library};
use crate::error::Result;

/// Says in the caller's status that `bytes` were transferred; nothing for MPI_STATUS_IGNORE.
///
/// # Safety
/// `status` must be the caller's MPI_STATUS_IGNORE or point to a status of the MPI underneath.
pub unsafe fn set_status(status: *mut c_void, bytes: u64) -> Result<()> {
    let library = library()?;
    if status.is_null() || status as usize == library.constants().status_ignore {
        return Ok(());
    }
    set_elements(library, status, bytes)?;
    call!(library, status_set_cancelled(status, 0))
}

fn set_elements(library: &Library, status: *mut c_void, bytes: u64) -> Result<()> {
    let functions = &library.functions;
    let set = functions.status_set_elements_c.or(functions.status_set_elements_x);
    let code: c_int = match set {
        // SAFETY: the caller's status, a predefined datatype and a number.
        Some(set) => unsafe { set(status, library.handles().byte, bytes as i64) },
        None => library.constants().class_code(crate::error::Class::Other),
    };
    library.check(c"PMPI_Status_set_elements_x", code)
}

/// Says in the caller's status that the operation failed; nothing for MPI_STATUS_IGNORE.
///
/// # Safety
/// As for `set_status`.
pub(super) unsafe fn set_error(status: *mut c_void, code: c_int) {
    let Ok(library) = library() else { return };
    if !status.is_null() && status as usize != library.constants().status_ignore {
        let place = status.cast::<u8>().wrapping_add(library.constants().status_error);
        // SAFETY: the standard makes MPI_ERROR a field of the status that programs may set.
        unsafe { place.cast::<c_int>().write_unaligned(code) };
    }
}
