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
    // SAFETY: the caller's promise for `number` pieces, the first at `far` and `near`.
    let copy = |number: usize, far: *mut u8, near: *mut u8| unsafe {
        for index in 0..number {
            let far = far.wrapping_offset(stride * index as isize);
            let near = near.wrapping_add(LENGTH * index);
            match way {
                Way::Gather => copy_nonoverlapping(far, near, LENGTH),
                Way::Scatter => copy_nonoverlapping(near, far, LENGTH),
            }
        }
    };
    let soon = Soon::of(stride, count);
    let (mut far, mut near) = (first, packed);
    for _ in 0..count / GROUP {
        soon.expect(far);
        copy(GROUP, far, near);
        far = far.wrapping_offset(stride * GROUP as isize);
        near = near.wrapping_add(LENGTH * GROUP);
    }
    copy(count % GROUP, far, near);
}

/// So many pieces at a time: their addresses do not wait for each other.
const GROUP: usize = 16;

/// The cache lines that a loop comes to soon, where several pieces share one. The processor's own
/// prefetching stops at the end of each page; two pages ahead it has not been there either. Where
/// each piece has lines of its own, memory has no time to bring them sooner.
struct Soon {
    /// Lines that a group of pieces lies in.
    lines: usize,
    /// From one line to the next.
    step: isize,
    distance: isize,
}

impl Soon {
    fn of(stride: isize, count: usize) -> Soon {
        const LINE: usize = 64;
        const AHEAD: isize = 8192;
        /// Fewer bytes are over before it helps, and what lies behind them may not be wanted.
        const FEWEST: usize = 32768;
        let width = stride.unsigned_abs();
        let helps = width < LINE && width.saturating_mul(count) >= FEWEST;
        let lines = if helps { (width * GROUP).div_ceil(LINE) } else { 0 };
        let forward = stride.signum();
        Soon { lines, step: forward * LINE as isize, distance: forward * AHEAD }
    }

    /// Asks for those of a group that comes a while after the one at `far`.
    #[inline(always)]
    fn expect(&self, far: *const u8) {
        let mut wanted = far.wrapping_offset(self.distance);
        for _ in 0..self.lines {
            prefetch(wanted);
            wanted = wanted.wrapping_offset(self.step);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch(wanted: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: prefetching never faults, also not beyond the end of the memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(wanted.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch(_wanted: *const u8) {}

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
