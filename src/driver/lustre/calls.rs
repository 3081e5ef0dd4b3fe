//! Requests to Lustre: through its library where that is installed, else by ioctl.

use std::ffi::{CStr, c_int, c_ulonglong};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::OnceLock;

use super::abi::{self, Ladvise, LadviseHeader, LovUserMd, MOST_ADVICES};
use crate::driver::library;
use crate::driver::posix::answer;

type LadviseFunction = unsafe extern "C" fn(c_int, c_ulonglong, c_int, *mut Ladvise) -> c_int;

/// Up to 2.10 the library has no version in its name.
const LIBRARIES: [&CStr; 2] = [c"liblustreapi.so.1", c"liblustreapi.so"];

fn ladvise_function() -> Option<LadviseFunction> {
    static FOUND: OnceLock<Option<LadviseFunction>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let address = library::function(&LIBRARIES, c"llapi_ladvise")?;
        // SAFETY: the function of this name has this type in every release that has it.
        Some(unsafe { std::mem::transmute::<*mut std::ffi::c_void, LadviseFunction>(address) })
    })
}

/// Gives as many advices as one call takes. What each came to stands in it afterwards.
pub(super) fn advise(file: BorrowedFd, advices: &mut [Ladvise]) -> io::Result<()> {
    debug_assert!(!advices.is_empty() && advices.len() <= MOST_ADVICES);
    if let Some(function) = ladvise_function() {
        let (count, first) = (advices.len() as c_int, advices.as_mut_ptr());
        // SAFETY: as many advices as said, which the call may change.
        return answer(unsafe { function(file.as_raw_fd(), 0, count, first) });
    }
    let header = LadviseHeader {
        magic: abi::LADVISE_MAGIC,
        count: advices.len() as u32,
        ..LadviseHeader::default()
    };
    // The header is as long as an advice, so a list of advices has its alignment.
    let mut list = vec![Ladvise::default(); advices.len() + 1];
    // SAFETY: both are plain numbers of 32 bytes with the same alignment.
    list[0] = unsafe { std::mem::transmute::<LadviseHeader, Ladvise>(header) };
    list[1..].copy_from_slice(advices);
    // SAFETY: a header and as many advices as it says. A result above zero is no failure.
    let outcome =
        answer(unsafe { libc::ioctl(file.as_raw_fd(), abi::LL_IOC_LADVISE, list.as_mut_ptr()) });
    advices.copy_from_slice(&list[1..]);
    outcome
}

/// Takes the group lock of the whole file and gives it back: every other lock is gone then, and
/// every part of the layout has its objects.
pub(super) fn clear_locks(file: BorrowedFd, group: libc::c_ulong) -> io::Result<()> {
    let raw = file.as_raw_fd();
    // SAFETY: the argument is a number.
    answer(unsafe { libc::ioctl(raw, abi::LL_IOC_GROUP_LOCK, group) })?;
    // SAFETY: as above.
    answer(unsafe { libc::ioctl(raw, abi::LL_IOC_GROUP_UNLOCK, group) })
}

/// Gives a file without objects its layout.
pub(super) fn set_stripes(file: BorrowedFd, stripes: &LovUserMd) -> io::Result<()> {
    let argument: *const LovUserMd = stripes;
    // SAFETY: the structure that this number asks for; it is only read.
    answer(unsafe { libc::ioctl(file.as_raw_fd(), abi::LL_IOC_LOV_SETSTRIPE, argument) })
}
