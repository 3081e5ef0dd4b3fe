//! Error handlers, as communicators of the MPI keep them.

use std::ffi::{c_int, c_void};

use super::handles::{Comm, Errhandler, Slot};
use super::library::{call, library};
use crate::error::{Class, Error, Result};

impl Errhandler {
    /// MPI_ERRORS_RETURN.
    pub fn errors_return() -> Result<Errhandler> {
        Ok(Errhandler(library()?.handles().errors_return))
    }

    /// MPI_ERRORS_ARE_FATAL.
    pub fn errors_are_fatal() -> Result<Errhandler> {
        Ok(Errhandler(library()?.handles().errors_are_fatal))
    }

    /// A new handle that the MPI counts references of, but that does nothing by itself: which
    /// function of the program belongs to it is known to whoever asked for it.
    pub fn create() -> Result<Errhandler> {
        let library = library()?;
        let mut slot = Slot::empty();
        call!(library, comm_create_errhandler(do_nothing, slot.pointer()))?;
        Ok(Errhandler(slot.word(library)))
    }

    /// As `create`, for a handler with an extra state: the MPI calls `destructor` with it when
    /// the last reference is given back. An MPI without such handlers never calls it.
    pub fn create_with_state(
        destructor: Option<Destructor>,
        extra_state: usize,
    ) -> Result<Errhandler> {
        let library = library()?;
        let Some(create) = library.functions.comm_create_errhandler_x else {
            return Errhandler::create();
        };
        let destructor = destructor.unwrap_or(keep); // a null pointer is refused
        let mut slot = Slot::empty();
        // SAFETY: the function takes what such handlers are given; the slot has room for one.
        let code = unsafe { create(do_nothing_x, destructor, extra_state, slot.pointer()) };
        library.check(c"PMPIX_Comm_create_errhandler_x", code)?;
        Ok(Errhandler(slot.word(library)))
    }

    /// Gives one reference back.
    pub fn free(self) {
        if let Ok(library) = library() {
            let mut slot = Slot::new(library, self.0);
            let _ = call!(library, errhandler_free(slot.pointer()));
        }
    }

    /// Its Fortran integer.
    pub fn to_fortran(self) -> Result<c_int> {
        let library = library()?;
        if library.constants().handle_width == 4 {
            return Ok(self.0 as c_int);
        }
        let convert = library.functions.errhandler_toint.or(library.functions.errhandler_c2f);
        let convert = convert.ok_or_else(no_conversion)?;
        // SAFETY: the handle came from this MPI.
        Ok(unsafe { convert(self.0) })
    }

    /// The handle of a Fortran integer.
    pub fn from_fortran(integer: c_int) -> Result<Errhandler> {
        let library = library()?;
        if library.constants().handle_width == 4 {
            return Ok(Errhandler(integer as u32 as usize));
        }
        let convert = library.functions.errhandler_fromint.or(library.functions.errhandler_f2c);
        let convert = convert.ok_or_else(no_conversion)?;
        // SAFETY: any integer is answered, at worst with a null handle.
        Ok(Errhandler(unsafe { convert(integer) }))
    }
}

pub(super) fn no_conversion() -> Error {
    Error::new(Class::Other, "this MPI has no conversion between C and Fortran handles")
}

/// An error handler for handles that nobody raises an error on.
unsafe extern "C" fn do_nothing(_object: *mut c_void, _code: *mut c_int) {}

/// The same for handlers with an extra state.
unsafe extern "C" fn do_nothing_x(_object: usize, _code: c_int, _extra_state: *mut c_void) {}

/// A destructor for an extra state that stays.
unsafe extern "C-unwind" fn keep(_extra_state: *mut c_void) {}

/// What is called with the extra state of a handler that is no longer used.
pub type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

impl Comm {
    /// Makes `errhandler` the one for errors on this communicator.
    pub fn set_errhandler(self, errhandler: Errhandler) -> Result<()> {
        call!(library()?, comm_set_errhandler(self.0, errhandler.0))
    }

    /// The communicator's handler, which the caller frees.
    pub fn errhandler(self) -> Result<Errhandler> {
        let library = library()?;
        let mut slot = Slot::empty();
        call!(library, comm_get_errhandler(self.0, slot.pointer()))?;
        Ok(Errhandler(slot.word(library)))
    }

    /// Raises an error on the communicator, as if one of its own calls had failed.
    pub fn call_errhandler(self, code: c_int) -> Result<()> {
        call!(library()?, comm_call_errhandler(self.0, code))
    }
}
