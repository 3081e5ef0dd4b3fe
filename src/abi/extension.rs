//! What programs may ask of this library beyond MPI. `include/mpiio_rs.h` is made from this file.

use std::ffi::{CStr, c_char, c_int, c_void};

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => unreachable!(),
    };

/// Version of this library, such as "0.1.0". The string lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mpiio_rs_version() -> *const c_char {
    VERSION.as_ptr()
}

/// 1 if MPI_File_* calls of this process are served by this library, 0 if another library answers
/// them. A tool that is loaded first and passes calls on, as Darshan does, leaves it at 1.
#[unsafe(no_mangle)]
pub extern "C" fn mpiio_rs_active() -> c_int {
    // Tools wrap MPI_File_open and pass on to PMPI_File_open, so that name tells who does the work.
    // SAFETY: dlsym only reads the nul-terminated name.
    let answering = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PMPI_File_open".as_ptr()) };
    let own = mpiio_rs_version as *const c_void;
    let same = !answering.is_null() && object_of(answering) == object_of(own);
    c_int::from(same)
}

/// Where the loaded object that holds `address` begins.
fn object_of(address: *const c_void) -> *mut c_void {
    // SAFETY: all fields of Dl_info are pointers, for which zero is a value.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: dladdr looks `address` up in the list of loaded objects and writes only to `found`.
    unsafe { libc::dladdr(address, &mut found) };
    found.dli_fbase
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_package_version() {
        // SAFETY: the pointer is VERSION's.
        let version = unsafe { CStr::from_ptr(mpiio_rs_version()) };
        assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn the_committed_header_is_what_cbindgen_makes() {
        let committed = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/include/mpiio_rs.h"));
        let made = include_str!(concat!(env!("OUT_DIR"), "/mpiio_rs.h"));
        assert!(committed == made, "include/mpiio_rs.h is stale: run scripts/build --header");
    }
}
