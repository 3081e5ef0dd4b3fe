//! The only routines here that are not of a file: MPICH 4 does not look after generalized requests
//! when a program asks for the status of one, and MPICH 5 after none when it asks for that of some,
//! so what is done is completed before they do.

use std::ffi::{c_int, c_void};

use super::arguments::Given;
use crate::mpi::{self, Request};

routines! {
    fn MPI_Request_get_status(request: Given<Request>, flag: *mut c_int, status: *mut c_void)
        -> c_int = |_routine| {
            // SAFETY: the caller's own words.
            unsafe { mpi::request_get_status(request.handle().0, flag, status) }
        };
    fn MPI_Request_get_status_all(
        count: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void,
    ) -> c_int = |_routine| {
        // SAFETY: the caller's own words.
        unsafe { mpi::request_get_status_all(count, requests, flag, statuses) }
    };
    fn MPI_Request_get_status_any(
        count: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int,
        status: *mut c_void,
    ) -> c_int = |_routine| {
        // SAFETY: the caller's own words.
        unsafe { mpi::request_get_status_any(count, requests, index, flag, status) }
    };
    fn MPI_Request_get_status_some(
        count: c_int, requests: *mut c_void, found: *mut c_int, indices: *mut c_int,
        statuses: *mut c_void,
    ) -> c_int = |_routine| {
        // SAFETY: the caller's own words.
        unsafe { mpi::request_get_status_some(count, requests, found, indices, statuses) }
    };
}
