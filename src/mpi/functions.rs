//! The routines of the MPI library that this crate calls: name, arguments, result.
//!
//! Handles are machine words; a pointer to a handle is `*mut c_void`, because its width differs
//! between ABIs (see `handles::Slot`). All arguments are of integer class, so one signature
//! serves int and pointer handles alike.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::errhandler::Destructor;
use super::request::{CancelFunction, FreeFunction, QueryFunction};

/// Looks after a request: extra state, status.
pub(super) type PollFunction = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

/// Waits for requests: how many, their extra states, timeout, status.
pub(super) type WaitFunction =
    unsafe extern "C" fn(c_int, *mut *mut c_void, f64, *mut c_void) -> c_int;

/// Callback of MPICH's progress: an opaque thing.
pub(super) type AsyncFunction = extern "C" fn(*mut c_void) -> c_int;

/// Starts a request that MPICH's completion calls look after.
pub(super) type StartPolled = unsafe extern "C" fn(
    QueryFunction,
    FreeFunction,
    CancelFunction,
    PollFunction,
    WaitFunction,
    *mut c_void,
    *mut c_void,
) -> c_int;

/// Callback that copies an attribute: object, keyval, extra state, value, new value, flag.
pub(super) type CopyFunction = unsafe extern "C" fn(
    usize,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut *mut c_void,
    *mut c_int,
) -> c_int;

/// Callback that drops an attribute: object, keyval, value, extra state.
pub(super) type DeleteFunction =
    unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

/// Callback of an error handler, without the variable arguments that nobody passes.
pub(super) type HandlerFunction = unsafe extern "C" fn(*mut c_void, *mut c_int);

/// Callback of an error handler with an extra state.
pub(super) type StateHandlerFunction = unsafe extern "C" fn(usize, c_int, *mut c_void);

/// Callback that helps an MPI to look for messages: tells how many events it dealt with.
pub(super) type ProgressFunction = extern "C" fn() -> c_int;

macro_rules! functions {
    (
        required { $($field:ident = $symbol:literal ($($argument:ty),*);)* }
        optional { $($maybe:ident = $name:literal $types:tt -> $result:ty;)* }
    ) => {
        /// The table of functions, filled once from the library that the program brought.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
            $(pub(super) $maybe: Option<unsafe extern "C" fn $types -> $result>,)*
        }

        /// The symbols of the required functions, for messages.
        #[allow(non_upper_case_globals, dead_code)] // one name for each, needed or not
        pub(super) mod names {
            use std::ffi::CStr;
            $(pub(in crate::mpi) const $field: &CStr = $symbol;)*
        }

        impl Functions {
            /// Fills the table; fails with the name of the first required function not found.
            ///
            /// # Safety
            /// `find` must give the address of the MPI routine with the name it is given, or
            /// null.
            pub(super) unsafe fn find(
                find: impl Fn(&CStr) -> *mut c_void,
            ) -> Result<Functions, &'static CStr> {
                Ok(Functions {
                    $($field: {
                        let address = find($symbol);
                        if address.is_null() {
                            return Err($symbol);
                        }
                        // SAFETY: the standard gives the routine of this name this signature.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) -> c_int,
                            >(address)
                        }
                    },)*
                    // SAFETY: as above; null becomes None.
                    $($maybe: unsafe {
                        std::mem::transmute::<
                            *mut c_void,
                            Option<unsafe extern "C" fn $types -> $result>,
                        >(find($name))
                    },)*
                })
            }
        }
    };
}

functions! {
    required {
        initialized = c"PMPI_Initialized"(*mut c_int);
        finalized = c"PMPI_Finalized"(*mut c_int);
        query_thread = c"PMPI_Query_thread"(*mut c_int);
        get_library_version = c"PMPI_Get_library_version"(*mut c_char, *mut c_int);
        abort = c"PMPI_Abort"(usize, c_int);

        error_class = c"PMPI_Error_class"(c_int, *mut c_int);
        error_string = c"PMPI_Error_string"(c_int, *mut c_char, *mut c_int);
        add_error_code = c"PMPI_Add_error_code"(c_int, *mut c_int);
        add_error_string = c"PMPI_Add_error_string"(c_int, *const c_char);

        comm_rank = c"PMPI_Comm_rank"(usize, *mut c_int);
        comm_size = c"PMPI_Comm_size"(usize, *mut c_int);
        comm_test_inter = c"PMPI_Comm_test_inter"(usize, *mut c_int);
        comm_dup = c"PMPI_Comm_dup"(usize, *mut c_void);
        comm_free = c"PMPI_Comm_free"(*mut c_void);
        comm_group = c"PMPI_Comm_group"(usize, *mut c_void);
        comm_create_group = c"PMPI_Comm_create_group"(usize, usize, c_int, *mut c_void);
        comm_split = c"PMPI_Comm_split"(usize, c_int, c_int, *mut c_void);
        comm_split_type = c"PMPI_Comm_split_type"(usize, c_int, c_int, usize, *mut c_void);
        comm_create_errhandler = c"PMPI_Comm_create_errhandler"(HandlerFunction, *mut c_void);
        comm_set_errhandler = c"PMPI_Comm_set_errhandler"(usize, usize);
        comm_get_errhandler = c"PMPI_Comm_get_errhandler"(usize, *mut c_void);
        comm_call_errhandler = c"PMPI_Comm_call_errhandler"(usize, c_int);
        comm_create_keyval = c"PMPI_Comm_create_keyval"(
            CopyFunction, DeleteFunction, *mut c_int, *mut c_void
        );
        comm_set_attr = c"PMPI_Comm_set_attr"(usize, c_int, *mut c_void);
        errhandler_free = c"PMPI_Errhandler_free"(*mut c_void);
        group_free = c"PMPI_Group_free"(*mut c_void);
        group_incl = c"PMPI_Group_incl"(usize, c_int, *const c_int, *mut c_void);

        allreduce = c"PMPI_Allreduce"(usize, *mut c_void, c_int, usize, usize, usize);
        bcast = c"PMPI_Bcast"(*mut c_void, c_int, usize, c_int, usize);
        iallreduce = c"PMPI_Iallreduce"(
            usize, *mut c_void, c_int, usize, usize, usize, *mut c_void
        );
        iallgather = c"PMPI_Iallgather"(
            usize, c_int, usize, *mut c_void, c_int, usize, usize, *mut c_void
        );
        iprobe = c"PMPI_Iprobe"(c_int, c_int, usize, *mut c_int, usize);
        ibcast = c"PMPI_Ibcast"(*mut c_void, c_int, usize, c_int, usize, *mut c_void);
        isend = c"PMPI_Isend"(*const c_void, c_int, usize, c_int, c_int, usize, *mut c_void);
        issend = c"PMPI_Issend"(*const c_void, c_int, usize, c_int, c_int, usize, *mut c_void);
        irecv = c"PMPI_Irecv"(*mut c_void, c_int, usize, c_int, c_int, usize, *mut c_void);
        test = c"PMPI_Test"(*mut c_void, *mut c_int, usize);
        wait = c"PMPI_Wait"(*mut c_void, usize);

        info_create = c"PMPI_Info_create"(*mut c_void);
        info_free = c"PMPI_Info_free"(*mut c_void);
        info_set = c"PMPI_Info_set"(usize, *const c_char, *const c_char);
        info_get_nkeys = c"PMPI_Info_get_nkeys"(usize, *mut c_int);
        info_get_nthkey = c"PMPI_Info_get_nthkey"(usize, c_int, *mut c_char);

        type_dup = c"PMPI_Type_dup"(usize, *mut c_void);
        type_free = c"PMPI_Type_free"(*mut c_void);
        type_get_name = c"PMPI_Type_get_name"(usize, *mut c_char, *mut c_int);
        type_get_envelope = c"PMPI_Type_get_envelope"(
            usize, *mut c_int, *mut c_int, *mut c_int, *mut c_int
        );
        type_get_contents = c"PMPI_Type_get_contents"(
            usize, c_int, c_int, c_int, *mut c_int, *mut i64, *mut c_void
        );
        type_create_keyval = c"PMPI_Type_create_keyval"(
            CopyFunction, DeleteFunction, *mut c_int, *mut c_void
        );
        type_set_attr = c"PMPI_Type_set_attr"(usize, c_int, *mut c_void);
        type_get_attr = c"PMPI_Type_get_attr"(usize, c_int, *mut *mut c_void, *mut c_int);

        grequest_start = c"PMPI_Grequest_start"(
            QueryFunction, FreeFunction, CancelFunction, *mut c_void, *mut c_void
        );
        grequest_complete = c"PMPI_Grequest_complete"(usize);
        status_set_cancelled = c"PMPI_Status_set_cancelled"(*mut c_void, c_int);

        win_allocate = c"PMPI_Win_allocate"(
            i64, c_int, usize, usize, *mut *mut c_void, *mut c_void
        );
        win_set_errhandler = c"PMPI_Win_set_errhandler"(usize, usize);
        win_lock_all = c"PMPI_Win_lock_all"(c_int, usize);
        win_unlock_all = c"PMPI_Win_unlock_all"(usize);
        win_flush = c"PMPI_Win_flush"(c_int, usize);
        win_fence = c"PMPI_Win_fence"(c_int, usize);
        win_sync = c"PMPI_Win_sync"(usize);
        put = c"PMPI_Put"(*const c_void, c_int, usize, c_int, i64, c_int, usize, usize);
        win_free = c"PMPI_Win_free"(*mut c_void);
        fetch_and_op = c"PMPI_Fetch_and_op"(
            *const c_void, *mut c_void, usize, c_int, i64, usize, usize
        );
    }
    optional {
        abi_get_version = c"PMPI_Abi_get_version"(*mut c_int, *mut c_int) -> c_int;

        // MPI-4 deprecates what MPI-3 introduced: one of each pair is always there.
        status_set_elements_x = c"PMPI_Status_set_elements_x"(*mut c_void, usize, i64) -> c_int;
        status_set_elements_c = c"PMPI_Status_set_elements_c"(*mut c_void, usize, i64) -> c_int;
        type_size_x = c"PMPI_Type_size_x"(usize, *mut i64) -> c_int;
        type_size_c = c"PMPI_Type_size_c"(usize, *mut i64) -> c_int;
        type_get_extent_x = c"PMPI_Type_get_extent_x"(usize, *mut i64, *mut i64) -> c_int;
        type_get_extent_c = c"PMPI_Type_get_extent_c"(usize, *mut i64, *mut i64) -> c_int;
        info_get_valuelen = c"PMPI_Info_get_valuelen"(
            usize, *const c_char, *mut c_int, *mut c_int
        ) -> c_int;
        info_get = c"PMPI_Info_get"(
            usize, *const c_char, c_int, *mut c_char, *mut c_int
        ) -> c_int;
        info_get_string = c"PMPI_Info_get_string"(
            usize, *const c_char, *mut c_int, *mut c_char, *mut c_int
        ) -> c_int;

        // Types that were made with MPI_Count arguments tell their contents only to these.
        type_get_envelope_c = c"PMPI_Type_get_envelope_c"(
            usize, *mut i64, *mut i64, *mut i64, *mut i64, *mut c_int
        ) -> c_int;
        type_get_contents_c = c"PMPI_Type_get_contents_c"(
            usize, i64, i64, i64, i64, *mut c_int, *mut i64, *mut i64, *mut c_void
        ) -> c_int;

        // MPICH 5: error handlers with an extra state, and what frees it.
        comm_create_errhandler_x = c"PMPIX_Comm_create_errhandler_x"(
            StateHandlerFunction, Destructor, usize, *mut c_void
        ) -> c_int;

        // The MPICH family's own way to a code with a text, which its file routines use too:
        // last code, fatal, routine, line, class, generic message, format, arguments.
        mpir_err_create_code = c"MPIR_Err_create_code"(
            c_int, c_int, *const c_char, c_int, c_int, *const c_char, *const c_char, ...
        ) -> c_int;

        // Open MPI: functions that it calls whenever it looks for messages.
        progress_register = c"opal_progress_register_lp"(ProgressFunction) -> c_int;
        progress_unregister = c"opal_progress_unregister"(ProgressFunction) -> c_int;

        // The MPICH family: functions that completion calls or the progress call. The profiling name
        // of the first is missing in the standard ABI.
        pmpix_grequest_start = c"PMPIX_Grequest_start"(
            QueryFunction, FreeFunction, CancelFunction, PollFunction, WaitFunction, *mut c_void,
            *mut c_void
        ) -> c_int;
        mpix_grequest_start = c"MPIX_Grequest_start"(
            QueryFunction, FreeFunction, CancelFunction, PollFunction, WaitFunction, *mut c_void,
            *mut c_void
        ) -> c_int;
        async_start = c"MPIX_Async_start"(AsyncFunction, *mut c_void, c_int) -> c_int;

        // Fortran integers: functions in Open MPI, other names in the standard ABI, and nothing
        // but a cast in the MPICH family.
        type_c2f = c"PMPI_Type_c2f"(usize) -> c_int;
        type_f2c = c"PMPI_Type_f2c"(c_int) -> usize;
        type_toint = c"PMPI_Type_toint"(usize) -> c_int;
        type_fromint = c"PMPI_Type_fromint"(c_int) -> usize;
        errhandler_c2f = c"PMPI_Errhandler_c2f"(usize) -> c_int;
        errhandler_f2c = c"PMPI_Errhandler_f2c"(c_int) -> usize;
        errhandler_toint = c"PMPI_Errhandler_toint"(usize) -> c_int;
        errhandler_fromint = c"PMPI_Errhandler_fromint"(c_int) -> usize;
    }
}

impl Functions {
    /// What starts a request that completion calls look after, under either name.
    pub(super) fn grequest_start_polled(&self) -> Option<StartPolled> {
        self.pmpix_grequest_start.or(self.mpix_grequest_start)
    }
}
