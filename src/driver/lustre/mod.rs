//! Lustre: how a file is striped over its servers, and locks that are asked for ahead.

pub mod abi;

mod calls;
mod layout;
mod lockahead;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

pub(super) use self::layout::{Stripes, stripes};
pub(super) use self::lockahead::Lockahead;
use super::advice::Tuning;

/// Whether a new file in this directory is to have a layout of its own. Where somebody has given
/// the directory one, nobody has to choose for a file in it.
pub(super) fn wants_stripes(tuning: &Tuning, directory: &CStr) -> bool {
    tuning.stripe_size.is_some()
        || tuning.stripe_count.is_some()
        || tuning.first_server.is_some()
        || tuning.fitting_count > 0 && !layout::has_layout(directory)
}

/// Flags for creating a file whose layout is set afterwards.
pub(super) const DELAYED: libc::c_int = abi::O_LOV_DELAY_CREATE;

/// Gives a file that was created with `DELAYED` its layout. What it is then is read, not
/// believed: an administrator may have the request ignored, and another rank may have been here.
pub(super) fn give_stripes(file: &impl AsFd, tuning: &Tuning) -> io::Result<()> {
    let descriptor: BorrowedFd = file.as_fd();
    let count = match tuning.stripe_count {
        Some(-1) => u16::MAX,
        Some(count) => u16::try_from(count).unwrap_or(0),
        None => tuning.fitting_count as u16,
    };
    // Stripes are whole multiples of the smallest; the default is better than a refusal.
    let size = tuning.stripe_size.map_or(0, |size| size / SMALLEST_STRIPE * SMALLEST_STRIPE);
    let wanted = abi::LovUserMd {
        magic: abi::LOV_USER_MAGIC_V1,
        stripe_size: u32::try_from(size).unwrap_or(0),
        stripe_count: count,
        stripe_offset: tuning.first_server.map_or(u16::MAX, |server| server as u16),
        ..abi::LovUserMd::default()
    };
    let refused = match calls::set_stripes(descriptor, &wanted) {
        Ok(()) => return Ok(()),
        // It has its objects already.
        Err(cause) if matches!(cause.raw_os_error(), Some(libc::EEXIST | libc::EALREADY)) => {
            return Ok(());
        }
        Err(cause) => cause,
    };
    // Without objects it could not be written.
    let plain =
        abi::LovUserMd { stripe_size: 0, stripe_count: 0, stripe_offset: u16::MAX, ..wanted };
    let _ = calls::set_stripes(descriptor, &plain);
    Err(refused)
}

/// Stripes are a multiple of this.
const SMALLEST_STRIPE: u64 = 65536;
