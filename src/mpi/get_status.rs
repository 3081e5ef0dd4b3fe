//! The routines that ask for the status of requests and leave them as they are. Not every MPI looks
//! after generalized requests when it is asked so, or after any: their names are ours too, and pass
//! on after completing what can be completed.

use std::ffi::{CStr, c_int, c_void};

use super::handles::Comm;
use super::library::{Library, library};
use super::request::complete_kept;
use super::running::has_world;
use crate::error::Class;

/// The answer of a routine where there is no MPI: MPI_ERR_OTHER in most.
const NO_MPI: c_int = 16;

/// Of a routine that this MPI lacks, and that has its name only from us: whoever waits with it does
/// not look at what it returns.
fn missing(library: &Library) -> c_int {
    let code = library.constants().class_code(Class::UnsupportedOperation);
    if has_world() {
        let _ = Comm::self_().and_then(|own| own.call_errhandler(code));
    }
    code
}

macro_rules! passed_on {
    ($($routine:ident = $symbol:literal ($($argument:ident: $type:ty),*);)*) => {
        /// The MPI's own.
        pub(super) struct Originals {
            $($routine: Option<unsafe extern "C-unwind" fn($($type),*) -> c_int>,)*
        }

        impl Originals {
            /// # Safety
            /// `find` must give the address of the MPI's own routine with the name it is given, or
            /// null.
            pub(super) unsafe fn find(find: impl Fn(&CStr) -> *mut c_void) -> Originals {
                Originals {
                    // SAFETY: the standard gives the routine of this name this signature; null
                    // becomes None.
                    $($routine: unsafe {
                        std::mem::transmute::<
                            *mut c_void,
                            Option<unsafe extern "C-unwind" fn($($type),*) -> c_int>,
                        >(find($symbol))
                    },)*
                }
            }
        }

        $(
            /// The MPI's routine, after completing what can be completed.
            ///
            /// # Safety
            /// The promises of a caller of that routine.
            pub unsafe fn $routine($($argument: $type),*) -> c_int {
                complete_kept();
                let Ok(library) = library() else { return NO_MPI };
                match library.get_status.$routine {
                    // SAFETY: the words of the program, as it gave them.
                    Some(original) => unsafe { original($($argument),*) },
                    None => missing(library),
                }
            }
        )*
    };
}

passed_on! {
    request_get_status = c"PMPI_Request_get_status"(
        request: usize, flag: *mut c_int, status: *mut c_void
    );
    // MPI 4.1
    request_get_status_all = c"PMPI_Request_get_status_all"(
        count: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void
    );
    request_get_status_any = c"PMPI_Request_get_status_any"(
        count: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int,
        status: *mut c_void
    );
    request_get_status_some = c"PMPI_Request_get_status_some"(
        count: c_int, requests: *mut c_void, found: *mut c_int, indices: *mut c_int,
        statuses: *mut c_void
    );
}
