//! Copies between places that lie alike in their pages.
//!
//! On some processors (measured: AMD's Zen 3) the instruction `rep movsb` is ten times slower when
//! the target lies 1 to 31 bytes behind the source, counted from the start of their pages. The C
//! library copies more than two kilobytes with it, and so does the kernel between its pages and
//! a program's memory. It is a common case: the files begin on pages, and what `malloc` gives
//! begins 16 bytes behind one.

use std::sync::OnceLock;

/// What counts.
pub const PAGE: usize = 4096;

/// Distances below this, in bytes from page start to page start, are slow.
const NEAR: usize = 32;

/// Whether a copy from one address to the other is one of the slow ones. What a file's offset is
/// to the kernel's copies, an address is to ours: only the place in the page counts.
#[inline]
pub fn lie_badly(from: usize, to: usize) -> bool {
    // The distance 0 is a fast one, and becomes the largest number here.
    (to.wrapping_sub(from).wrapping_sub(1)) % PAGE < NEAR - 1
}

/// Where in its page to put a copy of what lies at `address`, or at an offset of a file: half a
/// page away every copy is fast.
pub fn far_from(address: usize) -> usize {
    address.wrapping_add(PAGE / 2) % PAGE
}

/// Whether this processor is one of those.
pub fn is_slow() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(measure)
}

#[cfg(target_arch = "x86_64")]
fn measure() -> bool {
    use std::time::Instant;
    /// Three pages, on a page.
    #[repr(align(4096))]
    struct Pages([u8; 3 * PAGE]);
    let mut pages = Pages([1; 3 * PAGE]);
    let start = pages.0.as_mut_ptr();
    let time = |distance: usize| {
        let (from, to) = (start, start.wrapping_add(PAGE + distance));
        let before = Instant::now();
        // SAFETY: both are a page long and inside `pages`, and do not overlap; the direction flag
        // is clear by the calling convention.
        unsafe {
            std::arch::asm!("rep movsb", inout("rcx") PAGE => _, inout("rsi") from => _, inout("rdi") to => _,
                options(nostack, preserves_flags));
        }
        before.elapsed().as_nanos()
    };
    // The shortest of some: an interrupt can only make one longer.
    let (mut near, mut far) = (u128::MAX, u128::MAX);
    for _ in 0..8 {
        near = near.min(time(NEAR / 2));
        far = far.min(time(PAGE / 2));
    }
    near > 3 * far
}

#[cfg(not(target_arch = "x86_64"))]
fn measure() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_targets_a_little_behind_their_source_lie_badly() {
        for (from, to, badly) in [
            (0, 0, false),
            (0, 1, true),
            (0, 31, true),
            (0, 32, false),
            (1, 0, false),
            (4090, 3, true),
            (0x7000, 0x10010, true),
            (16, 0x9000, false),
            (usize::MAX, 3, true),
        ] {
            assert_eq!(lie_badly(from, to), badly, "{from} {to}");
        }
        for address in [0, 1, 4000, usize::MAX] {
            assert!(!lie_badly(address, far_from(address)));
            assert!(!lie_badly(far_from(address), address.wrapping_add(16)));
        }
        assert_eq!(is_slow(), is_slow());
    }
}
