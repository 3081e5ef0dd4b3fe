//! Copies between scattered pieces of equal length and one contiguous buffer.
//!
//! Small pieces are where MPI-IO usually loses its time, so the common lengths get loops in
//! which the length is a constant and a piece is one or two machine moves.

use std::ptr::copy_nonoverlapping;

use super::aliasing;
use crate::view::cursor::Strided;

/// Which side is scattered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Gather,
    Scatter,
}

/// Copies the pieces at `scattered` (displacements count from there) to or from `packed`.
///
/// # Safety
/// All pieces and `pieces.size()` bytes at `packed` must be valid for the copy, and the packed
/// bytes must not overlap any piece.
pub(super) unsafe fn strided(way: Way, scattered: *mut u8, packed: *mut u8, pieces: &Strided) {
    // Addresses may run below `scattered` and wrap through 0 with MPI_BOTTOM.
    let first = scattered.wrapping_offset(pieces.displacement as isize);
    // SAFETY: the caller's promise is the promise of each of these.
    unsafe {
        match pieces.length {
            1 => fixed::<1>(way, first, packed, pieces),
            2 => fixed::<2>(way, first, packed, pieces),
            4 => fixed::<4>(way, first, packed, pieces),
            8 => fixed::<8>(way, first, packed, pieces),
            12 => fixed::<12>(way, first, packed, pieces),
            16 => fixed::<16>(way, first, packed, pieces),
            24 => fixed::<24>(way, first, packed, pieces),
            32 => fixed::<32>(way, first, packed, pieces),
            _ => any(way, first, packed, pieces),
        }
    }
}

/// # Safety
/// As `strided`, with pieces of `LENGTH` bytes.
unsafe fn fixed<const LENGTH: usize>(way: Way, first: *mut u8, packed: *mut u8, pieces: &Strided) {
    let stride = pieces.stride as isize;
    let count = pieces.count as usize;
    let (mut far, mut near) = (first, packed);
    // SAFETY: the caller's promise; `far` steps from piece to piece, `near` through the packed
    // bytes, and neither is used after the last piece.
    unsafe {
        match way {
            Way::Gather => {
                for _ in 0..count {
                    expect::<LENGTH>(far);
                    copy_nonoverlapping(far, near, LENGTH);
                    far = far.wrapping_offset(stride);
                    near = near.wrapping_add(LENGTH);
                }
            }
            Way::Scatter => {
                for _ in 0..count {
                    expect::<LENGTH>(far);
                    copy_nonoverlapping(near, far, LENGTH);
                    far = far.wrapping_offset(stride);
                    near = near.wrapping_add(LENGTH);
                }
            }
        }
    }
}

/// Asks the processor for the pieces that come a page later.
///
/// Its own prefetching stops at the end of each page. Pieces of less than 8 bytes are so many to
/// a cache line that asking costs more than waiting.
#[inline(always)]
fn expect<const LENGTH: usize>(far: *const u8) {
    const AHEAD: usize = 4096;
    #[cfg(target_arch = "x86_64")]
    if LENGTH >= 8 {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching never faults, also not beyond the end of the memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(far.wrapping_add(AHEAD).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (far, AHEAD);
}

/// # Safety
/// As `strided`.
unsafe fn any(way: Way, first: *mut u8, packed: *mut u8, pieces: &Strided) {
    let length = pieces.length as usize;
    for index in 0..pieces.count as usize {
        let far = first.wrapping_offset(pieces.stride as isize * index as isize);
        let near = packed.wrapping_add(length * index);
        // SAFETY: the caller's promise for piece `index`.
        unsafe {
            match way {
                Way::Gather => plain(far, near, length),
                Way::Scatter => plain(near, far, length),
            }
        }
    }
}

/// Copies `length` bytes.
///
/// # Safety
/// As `copy_nonoverlapping`.
#[inline]
pub(super) unsafe fn plain(from: *const u8, to: *mut u8, length: usize) {
    /// The C library copies up to this by plain moves on every processor.
    const SHORT: usize = 2048;
    let mut done = 0;
    if length > SHORT && aliasing::lie_badly(from as usize, to as usize) {
        while length - done > SHORT {
            // SAFETY: the caller's promise for a part of the bytes.
            unsafe { copy_nonoverlapping(from.wrapping_add(done), to.wrapping_add(done), SHORT) };
            done += SHORT;
        }
    }
    // SAFETY: the caller's promise for the rest.
    unsafe {
        copy_nonoverlapping(from.wrapping_add(done), to.wrapping_add(done), length - done);
    }
}
