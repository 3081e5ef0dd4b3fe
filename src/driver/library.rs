//! Libraries of file systems, looked for when a file of theirs is opened.

use std::ffi::{CStr, c_void};

/// The address of a function of the first of these libraries that is there. They stay loaded.
pub(super) fn function(libraries: &[&CStr], name: &CStr) -> Option<*mut c_void> {
    libraries.iter().find_map(|library| {
        // SAFETY: the names end with zero bytes. Loading runs the library's own start, which is
        // what its users ask for.
        let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return None;
        }
        // SAFETY: the handle was just given and is never closed.
        let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    })
}
