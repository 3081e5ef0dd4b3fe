//! Finds the MPI library of this process and learns its ABI.

use std::ffi::{CStr, CString, c_int, c_void};

use super::constants::{Abi, Constants, Handles};
use super::functions::Functions;
use super::get_status::Originals;
use once_cell::sync::OnceCell;

use crate::error::{Class, Error, Result};

/// The MPI library underneath: its functions and its constants.
pub struct Library {
    pub(super) functions: Functions,
    constants: Constants,
    /// Those whose names are ours too.
    pub(super) get_status: Originals,
}

/// Calls a required function of the table and turns a bad return code into an error.
macro_rules! call {
    ($library:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let library: &$crate::mpi::Library = $library;
        // SAFETY: this room passes handles that came from this MPI, and pointers to variables
        // and buffers of the sizes the routine expects, which live until it has finished.
        let code = unsafe { (library.functions.$function)($($argument),*) };
        library.check($crate::mpi::functions::names::$function, code)
    }};
}
pub(super) use call;

/// Of once_cell, whose initialisation may fail and be tried again.
static LIBRARY: OnceCell<Library> = OnceCell::new();

/// The MPI library of this process, found at the first call.
///
/// Fails where there is none: a preloaded library also comes into shells and launchers. It is
/// looked for again next time, because Python may load an MPI at any moment.
pub fn library() -> Result<&'static Library> {
    LIBRARY.get_or_try_init(Library::find)
}

impl Library {
    /// Which ABI it has.
    pub fn abi(&self) -> Abi {
        self.constants.abi
    }

    /// The values of its constants.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    pub(super) fn handles(&self) -> &Handles {
        &self.constants.handles
    }

    fn find() -> Result<Library> {
        let scope = Scope::global()
            .or_else(Scope::local)
            .ok_or_else(|| Error::new(Class::Other, "no MPI library is loaded in this process"))?;
        // SAFETY: the scope is one that has an MPI library in it.
        let functions = unsafe { Functions::find(|name| scope.address(name)) };
        let functions = functions.map_err(|missing| {
            let missing = missing.to_string_lossy();
            Error::new(Class::Other, format!("the MPI library of this process has no {missing}"))
        })?;
        let constants = detect(&scope, &functions);
        // SAFETY: as above, and what it finds is not this library's own.
        let get_status = unsafe { Originals::find(|name| scope.address_behind(name)) };
        Ok(Library { functions, constants, get_status })
    }

    /// Turns a return code into an error that names the routine and the MPI's own words.
    pub(super) fn check(&self, routine: &CStr, code: c_int) -> Result<()> {
        if code == self.constants.success {
            return Ok(());
        }
        let routine = routine.to_string_lossy();
        let text = self.error_string(code);
        Err(Error::new(self.class_of_code(code), format!("{routine}: {text}")))
    }

    /// The class of any error code of this MPI.
    pub(super) fn class_of_code(&self, code: c_int) -> Class {
        let mut class = code;
        // SAFETY: the pointer is to a living int; the routine may be called at any time.
        let failed = unsafe { (self.functions.error_class)(code, &mut class) } != 0;
        let known = self.constants.class_of(class).filter(|_| !failed);
        known.unwrap_or(Class::Other)
    }

    /// What the MPI says about an error code.
    pub(super) fn error_string(&self, code: c_int) -> String {
        let mut text = vec![0u8; self.constants.max_error_string + 1];
        let mut length = 0;
        // SAFETY: the buffer holds MPI_MAX_ERROR_STRING characters.
        let failed = unsafe {
            (self.functions.error_string)(code, text.as_mut_ptr().cast(), &mut length) != 0
        };
        if failed { format!("error {code}") } else { until_nul(&text) }
    }
}

/// The text before the first NUL.
pub(super) fn until_nul(bytes: &[u8]) -> String {
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

/// Recognises the ABI. Only Open MPI has its predefined handles as data symbols; only a library
/// of the standard ABI gives itself a version of it.
fn detect(scope: &Scope, functions: &Functions) -> Constants {
    let address_of = |name: &CStr| scope.address(name) as usize;
    if address_of(c"ompi_mpi_comm_world") != 0 {
        return Constants::open_mpi(Handles::open_mpi(address_of));
    }
    let (mut major, mut minor) = (-1, -1);
    if let Some(abi_get_version) = functions.abi_get_version {
        // SAFETY: two living ints; the routine may be called before MPI_Init.
        unsafe { abi_get_version(&mut major, &mut minor) };
    }
    let mut constants = match (major >= 1, library_version(functions).contains("Intel")) {
        (false, _) => Constants::mpich(),
        (true, false) => Constants::standard(),
        (true, true) => Constants::standard().with_intel_draft(),
    };
    // The class came with the large counts of MPI-4.
    constants.has_value_too_large = functions.type_get_envelope_c.is_some();
    constants
}

/// What the library says about itself. No MPI has a longer text than MPICH's 8192 bytes.
fn library_version(functions: &Functions) -> String {
    let (mut text, mut length) = (vec![0u8; 8193], 0);
    // SAFETY: the buffer is long enough; the routine may be called before MPI_Init.
    unsafe { (functions.get_library_version)(text.as_mut_ptr().cast(), &mut length) };
    until_nul(&text)
}

/// Where symbols are looked up.
struct Scope(*mut c_void);

/// Every MPI has it, and so has nothing else.
const WITNESS: &CStr = c"PMPI_Initialized";

impl Scope {
    /// The program's own scope: an MPI that the program is linked with. Open MPI's predefined
    /// handles must come from here, since the program may have its own copies of the symbols.
    fn global() -> Option<Scope> {
        Scope(libc::RTLD_DEFAULT).with_mpi()
    }

    /// An MPI that a plugin loaded for itself, as Python's modules do.
    fn local() -> Option<Scope> {
        loaded_libraries().iter().filter(|path| may_be_mpi(path)).find_map(|path| {
            // SAFETY: the flag forbids loading anything, so no foreign code runs.
            let handle =
                unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
            if handle.is_null() { None } else { Scope(handle).with_mpi() }
        })
    }

    fn with_mpi(self) -> Option<Scope> {
        let found = !self.address(WITNESS).is_null();
        found.then_some(self)
    }

    /// The same for a name that this library has as well.
    fn address_behind(&self, name: &CStr) -> *mut c_void {
        match self.0 {
            // SAFETY: it only looks the name up, in what was loaded after this library.
            libc::RTLD_DEFAULT => unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) },
            _ => self.address(name),
        }
    }

    fn address(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the scope is RTLD_DEFAULT or a handle that is never closed.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }
}

/// libmpi.so, libmpich.so, libmpi_abi.so, and what vendors make of these names.
fn may_be_mpi(path: &CStr) -> bool {
    let path = path.to_bytes();
    let start = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    path[start..].starts_with(b"libmpi")
}

/// Paths of all libraries in this process.
fn loaded_libraries() -> Vec<CString> {
    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: the callback gets the address of `paths`, which lives across the call.
    unsafe { libc::dl_iterate_phdr(Some(collect_path), (&raw mut paths).cast()) };
    paths
}

unsafe extern "C" fn collect_path(
    library: *mut libc::dl_phdr_info,
    _size: usize,
    paths: *mut c_void,
) -> c_int {
    // SAFETY: `paths` is the vector of `loaded_libraries`; the loader passes a valid record.
    let (paths, name) = unsafe { (&mut *paths.cast::<Vec<CString>>(), (*library).dlpi_name) };
    if !name.is_null() {
        // SAFETY: the loader keeps the name as a C string.
        paths.push(unsafe { CStr::from_ptr(name) }.to_owned());
    }
    0
}

/// How many threads may call MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the names are the standard's
pub enum ThreadLevel {
    Single,
    Funneled,
    Serialized,
    Multiple,
}

/// What the program was granted at initialisation.
pub fn thread_level() -> Result<ThreadLevel> {
    let library = library()?;
    let constants = library.constants();
    let mut provided = constants.thread_single;
    call!(library, query_thread(&mut provided))?;
    Ok(match provided {
        level if level == constants.thread_multiple => ThreadLevel::Multiple,
        level if level == constants.thread_serialized => ThreadLevel::Serialized,
        level if level == constants.thread_funneled => ThreadLevel::Funneled,
        _ => ThreadLevel::Single,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_mpi_gets_an_error() {
        let error = library().err().expect("the unit tests are not linked with an MPI");
        assert_eq!(error.class, Class::Other);
    }

    #[test]
    fn an_mpi_is_known_by_its_file_name() {
        for path in [c"/usr/lib/libmpi.so.40", c"libmpich.so.12", c"/opt/lib/libmpi_abi.so.1"] {
            assert!(may_be_mpi(path));
        }
        for path in [c"", c"/usr/lib/libmpi/libc.so.6", c"libopen-pal.so.40"] {
            assert!(!may_be_mpi(path));
        }
    }

    #[test]
    fn the_loaded_libraries_are_listed() {
        let listed = loaded_libraries();
        assert!(listed.iter().any(|path| path.to_string_lossy().contains("libc.so")));
    }
}
