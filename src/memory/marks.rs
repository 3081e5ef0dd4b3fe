//! Which bytes of a window somebody has put there.

use std::ops::Range;

use super::piece::Piece;
use crate::view::cursor::Strided;

/// One mark, a byte of memory, for each grain of a window. Ranks that share the window mark their
/// grains at the same time: setting a byte to 1 needs no look at its neighbours.
#[derive(Clone, Copy)]
pub struct Marks {
    bytes: Piece,
    /// A grain is `1 << shift` bytes.
    shift: u32,
}

impl Marks {
    /// Marks in `bytes` for a window that starts at the same grain. All are unset if the bytes
    /// are zero.
    pub fn new(bytes: Piece, shift: u32) -> Marks {
        Marks { bytes, shift }
    }

    /// Marks whole grains; displacements count from the start of the window.
    pub(super) fn set(&self, pieces: &Strided) {
        let length = (pieces.length >> self.shift) as usize;
        let stride = pieces.stride >> self.shift;
        let first = pieces.displacement >> self.shift;
        debug_assert!(pieces.displacement.trailing_zeros() >= self.shift);
        debug_assert!(pieces.length.trailing_zeros() >= self.shift);
        let last = first + (pieces.count as i64 - 1) * stride;
        let high = first.max(last) as usize + length;
        assert!(first.min(last) >= 0 && high <= self.bytes.len(), "outside the marks");
        let mut address = self.bytes.address().wrapping_offset(first as isize);
        for _ in 0..pieces.count {
            // SAFETY: inside the marks, checked above for the first and the last.
            unsafe {
                match length {
                    1 => address.write(1),
                    2 => address.cast::<[u8; 2]>().write([1; 2]),
                    4 => address.cast::<[u8; 4]>().write([1; 4]),
                    8 => address.cast::<[u8; 8]>().write([1; 8]),
                    _ => std::ptr::write_bytes(address, 1, length),
                }
            }
            address = address.wrapping_offset(stride as isize);
        }
    }

    /// Marks all grains at `range`.
    pub fn set_range(&self, range: Range<usize>) {
        let (displacement, length) = (range.start as i64, range.len() as u64);
        self.set(&Strided { displacement, length, stride: 0, count: 1 });
    }

    /// Stretches of marked bytes among those at `range`, which counts from the window's start and
    /// begins and ends with a grain.
    pub fn runs(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let (mut at, end) = (range.start >> self.shift, range.end >> self.shift);
        assert!(at <= end && end <= self.bytes.len());
        std::iter::from_fn(move || {
            let start = self.find(1, at..end)?;
            at = self.find(0, start..end).unwrap_or(end);
            Some(start << self.shift..at << self.shift)
        })
    }

    /// From the first marked byte at `range` to the last.
    pub fn extent(&self, range: Range<usize>) -> Option<Range<usize>> {
        let mut runs = self.runs(range);
        let first = runs.next()?;
        Some(first.start..runs.last().map_or(first.end, |last| last.end))
    }

    /// The first mark with this value.
    fn find(&self, value: i32, range: Range<usize>) -> Option<usize> {
        let start = self.bytes.address().wrapping_add(range.start);
        // SAFETY: the range is inside the marks: `runs` has checked its end.
        let found = unsafe { libc::memchr(start.cast(), value, range.end - range.start) };
        (!found.is_null()).then(|| range.start + (found as usize - start as usize))
    }

    /// Takes the marks at `range` away.
    pub fn clear(&self, range: Range<usize>) {
        let (start, end) = (range.start >> self.shift, range.end.div_ceil(1 << self.shift));
        self.bytes.skip(start).take(end - start).zero();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_what_was_put_and_what_was_not() {
        let mut bytes = vec![0; 64];
        let marks = Marks::new(Piece::of_mut(&mut bytes), 2);
        for (displacement, length, stride, count) in [(8, 4, 16, 3), (12, 8, 0, 1), (100, 40, 0, 1)]
        {
            marks.set(&Strided { displacement, length, stride, count });
        }
        let runs: Vec<_> = marks.runs(0..256).collect();
        assert_eq!(runs, [8..20, 24..28, 40..44, 100..140]);
        assert_eq!(marks.runs(12..24).collect::<Vec<_>>(), [12..20]);
        assert_eq!(marks.extent(12..128), Some(12..128));
        assert_eq!(marks.extent(44..100), None);
        marks.clear(8..44);
        assert_eq!(marks.runs(0..256).collect::<Vec<_>>(), [100..140]);
    }
}
