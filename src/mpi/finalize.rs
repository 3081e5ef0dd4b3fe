//! What is to be done when the program ends MPI.

use std::ffi::{c_int, c_void};

use super::library::{call, library};
use super::running::has_world;
use crate::error::{Class, Error, Result};

/// Calls `f` at the start of MPI_Finalize, while MPI still works; the last one registered goes
/// first. The standard promises that attributes of MPI_COMM_SELF are dropped there.
pub fn on_finalize(f: fn()) -> Result<()> {
    let library = library()?;
    if !has_world() {
        return Err(Error::new(Class::Other, "there is no MPI_COMM_SELF without MPI_Init"));
    }
    let (mut keyval, nothing) = (library.constants().keyval_invalid, std::ptr::null_mut());
    call!(library, comm_create_keyval(copy_nothing, run, &mut keyval, nothing))?;
    call!(library, comm_set_attr(library.handles().comm_self, keyval, f as *mut c_void))
}

/// The attribute stays with MPI_COMM_SELF: its duplicates do not get it.
unsafe extern "C" fn copy_nothing(
    _comm: usize,
    _keyval: c_int,
    _extra_state: *mut c_void,
    _value: *mut c_void,
    _copy: *mut *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the MPI passes a pointer to its own variable.
    unsafe { *flag = 0 };
    0
}

unsafe extern "C" fn run(
    _comm: usize,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: the attribute's value is the function given to `on_finalize`.
    let f = unsafe { std::mem::transmute::<*mut c_void, fn()>(value) };
    f();
    0
}
