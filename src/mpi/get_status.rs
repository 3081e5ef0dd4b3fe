//! The routines that ask for the status of requests and leave them as they are. Not every MPI looks
//! after generalized requests when it is asked so, or after any: their names are ours too, and pass
//! on after completing what can be completed. Where the MPI is older than some of them, a program
//! that looks whether they are there finds ours, so they ask for one status after the other then.

use std::ffi::{CStr, c_int, c_void};

use super::handles::Slot;
use super::library::{Library, library};
use super::request::complete_kept;
use super::status::set_error;

/// The answer of a routine where there is no MPI: MPI_ERR_OTHER in most.
const NO_MPI: c_int = 16;

macro_rules! passed_on {
    ($($routine:ident = $symbol:literal ($($argument:ident: $type:ty),*) or $other:expr;)*) => {
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
                    // SAFETY: the same.
                    None => unsafe { $other(library, $($argument),*) },
                }
            }
        )*
    };
}

passed_on! {
    request_get_status = c"PMPI_Request_get_status"(
        request: usize, flag: *mut c_int, status: *mut c_void
    ) or nothing;
    // MPI 4.1
    request_get_status_all = c"PMPI_Request_get_status_all"(
        count: c_int, requests: *mut c_void, flag: *mut c_int, statuses: *mut c_void
    ) or status_of_all;
    request_get_status_any = c"PMPI_Request_get_status_any"(
        count: c_int, requests: *mut c_void, index: *mut c_int, flag: *mut c_int,
        status: *mut c_void
    ) or status_of_any;
    request_get_status_some = c"PMPI_Request_get_status_some"(
        count: c_int, requests: *mut c_void, found: *mut c_int, indices: *mut c_int,
        statuses: *mut c_void
    ) or status_of_some;
}

/// MPI_Request_get_status, which every MPI has.
unsafe fn nothing(_: &Library, _: usize, _: *mut c_int, _: *mut c_void) -> c_int {
    NO_MPI
}

/// A program's array of requests.
struct Requests<'a> {
    library: &'a Library,
    array: *const c_void,
    count: c_int,
}

impl Requests<'_> {
    /// The handle at a place of the array.
    ///
    /// # Safety
    /// The array must be as long as `count` says, and `place` in it.
    unsafe fn at(&self, place: c_int) -> usize {
        let width = self.library.constants().handle_width;
        let mut slot = Slot::empty();
        let handle = self.array.cast::<u8>().wrapping_add(place as usize * width);
        // SAFETY: the caller's promise; a slot takes any handle.
        unsafe { handle.copy_to(slot.pointer().cast(), width) };
        slot.word(self.library)
    }

    /// The places whose requests may be under way.
    ///
    /// # Safety
    /// As above.
    unsafe fn active(&self) -> Vec<c_int> {
        let null = self.library.handles().request_null;
        // SAFETY: the caller's promise.
        (0..self.count).filter(|&place| unsafe { self.at(place) } != null).collect()
    }

    /// The place number `index` in the caller's array of statuses.
    fn status(&self, statuses: *mut c_void, index: usize) -> *mut c_void {
        let constants = self.library.constants();
        match statuses as usize == constants.statuses_ignore {
            true => std::ptr::without_provenance_mut(constants.status_ignore),
            false => statuses.cast::<u8>().wrapping_add(index * constants.status_size).cast(),
        }
    }
}

/// What became of a request.
enum State {
    UnderWay,
    /// Complete, with this code.
    Complete(c_int),
    /// Nothing can be said of it, for this reason.
    Unknown(c_int),
}

/// Asks for the status of one request.
///
/// # Safety
/// A request and the place of a status, as the program gave them.
unsafe fn state(library: &Library, request: usize, status: *mut c_void) -> State {
    let Some(ask) = library.get_status.request_get_status else { return State::Unknown(NO_MPI) };
    let mut flag = 0;
    // SAFETY: the caller's promise, and a local.
    match (unsafe { ask(request, &raw mut flag, status) }, flag) {
        (0, 0) => State::UnderWay,
        (code, 0) => State::Unknown(code),
        // An access that has failed is complete too.
        (code, _) => State::Complete(code),
    }
}

/// Puts the codes of several requests into their statuses, if any has failed and only then, and
/// gives what the routine returns.
///
/// # Safety
/// The places of as many statuses, as the program gave them.
unsafe fn tell(requests: &Requests<'_>, statuses: *mut c_void, codes: &[c_int]) -> c_int {
    if codes.iter().all(|&code| code == 0) {
        return 0;
    }
    for (index, &code) in codes.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { set_error(requests.status(statuses, index), code) };
    }
    requests.library.constants().err_in_status
}

/// MPI_Request_get_status_all.
unsafe fn status_of_all(
    library: &Library,
    count: c_int,
    array: *mut c_void,
    flag: *mut c_int,
    statuses: *mut c_void,
) -> c_int {
    let requests = Requests { library, array, count };
    let mut codes = Vec::new();
    for place in 0..count {
        let status = requests.status(statuses, place as usize);
        // SAFETY: the words of the program, as it gave them.
        match unsafe { state(library, requests.at(place), status) } {
            State::UnderWay => {}
            State::Complete(code) => codes.push(code),
            State::Unknown(code) => return code,
        }
    }
    let all = codes.len() == count as usize;
    // SAFETY: as above; until all are complete no status means anything.
    unsafe {
        flag.write(all.into());
        if all { tell(&requests, statuses, &codes) } else { 0 }
    }
}

/// MPI_Request_get_status_any.
unsafe fn status_of_any(
    library: &Library,
    count: c_int,
    array: *mut c_void,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut c_void,
) -> c_int {
    let requests = Requests { library, array, count };
    // SAFETY: the words of the program, as it gave them.
    let active = unsafe { requests.active() };
    let undefined = library.constants().undefined;
    // Of no request the status is empty.
    let null = active.is_empty().then(|| (undefined, library.handles().request_null));
    // SAFETY: as above.
    let handles = active.iter().map(|&place| (place, unsafe { requests.at(place) }));
    let (mut found, mut answer) = (undefined, (false, 0));
    for (place, request) in handles.chain(null) {
        // SAFETY: as above.
        match unsafe { state(library, request, status) } {
            State::UnderWay => {}
            State::Complete(code) => {
                (found, answer) = (place, (true, code));
                break;
            }
            State::Unknown(code) => return code,
        }
    }
    let (complete, code) = answer;
    // SAFETY: as above.
    unsafe {
        index.write(found);
        flag.write(complete.into());
    }
    code
}

/// MPI_Request_get_status_some.
unsafe fn status_of_some(
    library: &Library,
    count: c_int,
    array: *mut c_void,
    found: *mut c_int,
    indices: *mut c_int,
    statuses: *mut c_void,
) -> c_int {
    let requests = Requests { library, array, count };
    // SAFETY: the words of the program, as it gave them.
    let active = unsafe { requests.active() };
    let mut codes = Vec::new();
    for &place in &active {
        let status = requests.status(statuses, codes.len());
        // SAFETY: as above; at most as many are found as there are requests.
        match unsafe { state(library, requests.at(place), status) } {
            State::UnderWay => {}
            State::Complete(code) => {
                // SAFETY: as above.
                unsafe { indices.add(codes.len()).write(place) };
                codes.push(code);
            }
            State::Unknown(code) => return code,
        }
    }
    let count = match active.is_empty() {
        true => library.constants().undefined,
        false => codes.len() as c_int,
    };
    // SAFETY: as above.
    unsafe {
        found.write(count);
        tell(&requests, statuses, &codes)
    }
}
