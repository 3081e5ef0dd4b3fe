//! The one routine here that is not of a file: MPICH 4 does not look after generalized requests
//! when a program asks for their status, so what is done is completed before it does.

use std::ffi::{c_int, c_void};

use super::arguments::Given;
use crate::mpi::{self, Request};

routines! {
    fn MPI_Request_get_status(request: Given<Request>, flag: *mut c_int, status: *mut c_void)
        -> c_int = |_routine| {
            // SAFETY: the caller's own words.
            unsafe { mpi::request_get_status(request.handle(), flag, status) }
        };
}
