//! Error handlers in C++. The C++ bindings of Open MPI 4 and of MPICH hand them over in ways of
//! their own, and only they know what an `MPI::File` looks like.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::arguments::Given;
use super::errhandlers::{self, UserFunction};
use super::handles::MPI_File;
use crate::error::{Class, Error};
use crate::mpi::Errhandler;

/// `void (MPI::File &, int *, ...)` as an address, and what calls it with an `MPI::File`.
#[derive(Clone, Copy)]
pub(super) enum CxxFunction {
    OpenMpi(OpenMpiCaller, usize),
    Mpich(MpichCaller, usize),
}

/// File, code, an optional text, function.
type OpenMpiCaller =
    unsafe extern "C-unwind" fn(*mut MPI_File, *mut c_int, *const c_char, *mut c_void);
/// Kind of handle, handle, code, function.
type MpichCaller = unsafe extern "C-unwind" fn(c_int, *mut MPI_File, *mut c_int, *mut c_void);

/// What MPICH calls the kind of a file.
const MPICH_FILE: c_int = 1;

impl CxxFunction {
    /// Calls it; it may change the code.
    pub(super) fn call(self, mut fh: MPI_File, code: &mut c_int) {
        match self {
            // SAFETY: the bindings gave both functions for this use; the places live until then.
            CxxFunction::OpenMpi(caller, function) => unsafe {
                caller(&mut fh, code, std::ptr::null(), function as *mut c_void);
            },
            CxxFunction::Mpich(caller, function) => {
                // SAFETY: as above.
                unsafe { caller(MPICH_FILE, &mut fh, code, function as *mut c_void) };
                // For any other code these bindings call the handler once more.
                *code = 0;
            }
        }
    }
}

/// Stands in for the function of Open MPI's bindings behind `MPI::File::Create_errhandler`, whose
/// handlers no communicator would take.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ompi_cxx_errhandler_create_file(function: *mut c_void) -> usize {
    let caller = symbol(libc::RTLD_DEFAULT, c"ompi_mpi_cxx_file_errhandler_invoke");
    // SAFETY: either null or the function of this name, which has this signature.
    let caller = unsafe { std::mem::transmute::<*mut c_void, Option<OpenMpiCaller>>(caller) };
    let created = caller
        .ok_or_else(|| Error::new(Class::Other, "the C++ bindings of Open MPI are not loaded"))
        .map(|caller| UserFunction::Cxx(CxxFunction::OpenMpi(caller, function.addr())))
        .and_then(errhandlers::create);
    // The caller looks for no error; what a file has by default harms least.
    created.or_else(|_| Errhandler::errors_return()).map_or(0, |errhandler| errhandler.0)
}

type SetCxx = unsafe extern "C-unwind" fn(Given<Errhandler>, MpichCaller);

/// Listens to MPICH's bindings, which say this of a handler that they made with a routine for C.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn MPII_Errhandler_set_cxx(
    errhandler: Given<Errhandler>,
    caller: MpichCaller,
) {
    errhandlers::change(errhandler.handle(), |function| match function {
        UserFunction::C(c) => UserFunction::Cxx(CxxFunction::Mpich(caller, c as usize)),
        other => other,
    });
    let next = symbol(libc::RTLD_NEXT, c"MPII_Errhandler_set_cxx");
    // SAFETY: either null or MPICH's function of this name, which has this signature.
    let next = unsafe { std::mem::transmute::<*mut c_void, Option<SetCxx>>(next) };
    if let Some(next) = next {
        // SAFETY: the arguments are those that it was meant to get.
        unsafe { next(errhandler, caller) };
    }
}

fn symbol(scope: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: asks for an address by a name that ends in a zero byte.
    unsafe { libc::dlsym(scope, name.as_ptr()) }
}
