//! Error handlers in C++. Open MPI 4 makes them without any routine of the standard, and only its
//! C++ bindings know what an `MPI::File` looks like.

use std::ffi::{c_char, c_int, c_void};

use super::errhandlers::{self, UserFunction};
use super::handles::MPI_File;
use crate::error::{Class, Error};
use crate::mpi::Errhandler;

/// Calls a function in C++ with an `MPI::File` made of the handle: file, code, a text, function.
pub(super) type Invoke =
    unsafe extern "C-unwind" fn(*mut MPI_File, *mut c_int, *const c_char, *mut c_void);

/// Stands in for the function of the bindings behind `MPI::File::Create_errhandler`, whose
/// handlers no communicator would take.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ompi_cxx_errhandler_create_file(function: *mut c_void) -> usize {
    let created = invoke()
        .ok_or_else(|| Error::new(Class::Other, "the C++ bindings of Open MPI are not loaded"))
        .and_then(|invoke| errhandlers::create(UserFunction::Cxx(invoke, function.addr())));
    // The caller looks for no error; what a file has by default harms least.
    created.or_else(|_| Errhandler::errors_return()).map_or(0, |errhandler| errhandler.0)
}

/// The bindings' own function that calls a handler.
fn invoke() -> Option<Invoke> {
    let name = c"ompi_mpi_cxx_file_errhandler_invoke";
    // SAFETY: asks for an address by a name that ends in a zero byte.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: either null or the function of this name, which has this signature.
    unsafe { std::mem::transmute::<*mut c_void, Option<Invoke>>(symbol) }
}
