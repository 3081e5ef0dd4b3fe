//! The caller's buffer: the one place that touches it.

pub mod aliasing;
mod bell;
mod copy;
mod mapped;
mod marks;
mod piece;
mod scratch;
mod shared;
mod signals;

use std::ops::Range;
use std::sync::Arc;

pub use self::bell::Bell;
use self::copy::Way;
pub use self::mapped::{Mapped, Offer, Ticket, may_make_files_of};
pub use self::marks::Marks;
pub use self::piece::{Piece, copy_between};
pub use self::scratch::Scratch;
pub use self::shared::Shared;
pub use self::signals::without_signals;
use crate::error::{Class, Error, Result};
use crate::view::cursor::{Cursor, Strided};
use crate::view::typemap::Typemap;

/// `count` items of a datatype at an address: the memory side of one access.
///
/// The engines see its bytes as one stream, from 0 to `size()`, in the order of the typemap.
#[derive(Clone, Debug)]
pub struct UserMemory {
    base: *mut u8,
    typemap: Arc<Typemap>,
    size: u64,
}

// SAFETY: the memory belongs to the whole process, and the engines give different threads
// different parts of the stream; what overlaps is only ever read.
unsafe impl Send for UserMemory {}
// SAFETY: as above.
unsafe impl Sync for UserMemory {}

impl UserMemory {
    /// # Safety
    /// Every byte that `count` repetitions of `typemap` name from `base` on must be valid while
    /// the value lives: readable, and for a read from the file also writable.
    pub unsafe fn new(base: *mut u8, typemap: Arc<Typemap>, count: u64) -> UserMemory {
        let size = typemap.size().saturating_mul(count);
        UserMemory { base, typemap, size }
    }

    /// The buffer that the caller of a data access routine names. Its promise, as for every
    /// routine of C, is that the bytes are there; what can be seen to be wrong is refused.
    pub fn of_caller(address: usize, typemap: Arc<Typemap>, count: u64) -> Result<UserMemory> {
        let lowest = (address as i64).wrapping_add(typemap.span().0);
        if count > 0 && typemap.size() > 0 && (0..4096).contains(&lowest) {
            let text = format!("the buffer is at address {lowest:#x}, where there is none");
            return Err(Error::new(Class::Buffer, text));
        }
        // SAFETY: the promise of the C caller, see above.
        Ok(unsafe { UserMemory::new(address as *mut u8, typemap, count) })
    }

    /// One piece as a stream.
    pub fn packed(piece: Piece) -> UserMemory {
        let typemap = Arc::new(Typemap::bytes(piece.len() as u64));
        UserMemory { base: piece.address(), typemap, size: piece.len() as u64 }
    }

    /// Memory within `bytes` that starts at byte `origin`. The bytes must outlive it.
    #[cfg(test)]
    pub fn within(bytes: &mut [u8], origin: i64, typemap: Typemap, count: u64) -> UserMemory {
        for position in [0, (typemap.size() * count).saturating_sub(1)] {
            let place = origin + Cursor::new(&typemap, position).displacement();
            assert!(count == 0 || (0..bytes.len() as i64).contains(&place));
        }
        let base = bytes.as_mut_ptr().wrapping_offset(origin as isize);
        // SAFETY: the ends are inside, checked above, and tests keep the rest there too.
        unsafe { UserMemory::new(base, Arc::new(typemap), count) }
    }

    /// Bytes in the stream.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A walk over the memory that stands at byte `position` of the stream.
    pub fn cursor(&self, position: u64) -> Cursor<'_> {
        Cursor::new(&self.typemap, position)
    }

    /// The whole stream as one piece, if that is how it lies.
    pub fn contiguous(&self) -> Option<Piece> {
        let single = self.size == self.typemap.size();
        let start = if single { self.typemap.run_at() } else { self.typemap.contiguous_at() };
        start.map(|displacement| self.piece(displacement, self.size))
    }

    /// Average length of a contiguous piece, for choosing between copying and vectored I/O.
    pub fn piece_size(&self) -> u64 {
        match self.contiguous() {
            Some(_) => self.size,
            None => self.typemap.size() / self.typemap.pieces().max(1),
        }
    }

    fn piece(&self, displacement: i64, length: u64) -> Piece {
        let address = self.base.wrapping_offset(displacement as isize);
        // SAFETY: the promise given to `new` covers every byte the typemap names.
        unsafe { Piece::new(address, length as usize) }
    }

    /// The next piece of the stream, at most `limit` bytes long; steps over it.
    pub fn next_piece(&self, cursor: &mut Cursor<'_>, limit: u64) -> Piece {
        let step = cursor.next(limit.min(cursor.left_in_run()));
        assert!(cursor.position() <= self.size, "past the end of the user's memory");
        self.piece(step.displacement, step.length)
    }

    /// Copies the next bytes of the stream into `packed`, and steps over them. `packed` must be
    /// the library's own memory.
    pub fn gather(&self, cursor: &mut Cursor<'_>, packed: Piece) {
        self.copy(Way::Gather, cursor, packed.address(), packed.len());
    }

    /// Copies `packed`, the library's own memory, to the next bytes of the stream, and steps
    /// over them.
    pub fn scatter(&self, cursor: &mut Cursor<'_>, packed: Piece) {
        self.copy(Way::Scatter, cursor, packed.address(), packed.len());
    }

    fn copy(&self, way: Way, cursor: &mut Cursor<'_>, packed: *mut u8, size: usize) {
        assert!(cursor.position() + size as u64 <= self.size, "past the end of the user's memory");
        let mut done = 0;
        while done < size {
            let step = cursor.next((size - done) as u64);
            // SAFETY: the stream positions are inside the size checked above, so the promise of
            // `new` covers the pieces; `packed` has `size` bytes, is the library's own and so
            // overlaps none of them; scattering only reads it.
            unsafe { copy::strided(way, self.base, packed.wrapping_add(done), &step) };
            done += step.size() as usize;
        }
    }
}

/// Bytes of the file from `offset` on, in memory for a while.
#[derive(Clone, Copy)]
pub struct Window {
    bytes: Piece,
    offset: u64,
}

impl Window {
    /// `bytes`, memory of the library's own, as a part of the file.
    pub fn new(bytes: Piece, offset: u64) -> Window {
        Window { bytes, offset }
    }

    /// The bytes at `range` of the file, which must be inside.
    pub fn piece(&self, range: Range<u64>) -> Piece {
        let start = (range.start - self.offset) as usize;
        self.bytes.skip(start).take((range.end - range.start) as usize)
    }

    /// Copies the bytes that the view's cursor names out of the window into `packed`.
    /// Displacements of the cursor count from `origin` in the file.
    pub fn take(&self, cursor: &mut Cursor<'_>, origin: u64, packed: Piece) {
        self.copy(Way::Gather, cursor, origin, packed, |_| {});
    }

    /// Lays `packed` over the bytes that the view's cursor names.
    pub fn put(&self, cursor: &mut Cursor<'_>, origin: u64, packed: Piece) {
        self.copy(Way::Scatter, cursor, origin, packed, |_| {});
    }

    /// The same, and leaves a mark for each byte.
    pub fn put_marked(&self, cursor: &mut Cursor<'_>, origin: u64, packed: Piece, marks: Marks) {
        self.copy(Way::Scatter, cursor, origin, packed, |step| marks.set(step));
    }

    fn copy(
        &self,
        way: Way,
        cursor: &mut Cursor<'_>,
        origin: u64,
        packed: Piece,
        mark: impl Fn(&Strided),
    ) {
        let base = self.bytes.address();
        let shift = origin as i64 - self.offset as i64;
        let mut done = 0;
        while done < packed.len() {
            let mut step = cursor.next((packed.len() - done) as u64);
            step.displacement += shift;
            let last = step.displacement + (step.count as i64 - 1) * step.stride;
            let low = step.displacement.min(last);
            let high = step.displacement.max(last) + step.length as i64;
            assert!(low >= 0 && high <= self.bytes.len() as i64, "outside the window");
            // SAFETY: all pieces lie inside the window, checked above; `packed` is the user's
            // memory or scratch, valid by the promise of a piece, and no part of the window.
            unsafe { copy::strided(way, base, packed.address().wrapping_add(done), &step) };
            mark(&step);
            done += step.size() as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typemap: Typemap, count: u64, origin: usize) {
        let mut memory: Vec<u8> = (0..=255).cycle().take(4096).collect();
        let before = memory.clone();
        // SAFETY: the typemaps below stay within `memory` around `origin`.
        let user = unsafe {
            let base = memory.as_mut_ptr().add(origin);
            UserMemory::new(base, Arc::new(typemap.clone()), count)
        };
        let mut places = Vec::new();
        let mut cursor = Cursor::new(&typemap, 0);
        while (places.len() as u64) < user.size() {
            places.push((origin as i64 + cursor.next(1).displacement) as usize);
        }
        let mut packed = vec![0; user.size() as usize];
        user.gather(&mut user.cursor(0), Piece::of_mut(&mut packed));
        let expected: Vec<u8> = places.iter().map(|&place| before[place]).collect();
        assert_eq!(packed, expected);

        let mut cursor = user.cursor(1);
        let mut left = user.size() - 1;
        while left > 0 {
            left -= user.next_piece(&mut cursor, left).len() as u64;
        }

        for byte in &mut packed {
            *byte = !*byte;
        }
        user.scatter(&mut user.cursor(0), Piece::of_mut(&mut packed));
        for (place, (&now, &then)) in memory.iter().zip(&before).enumerate() {
            let named = places.contains(&place);
            assert_eq!(now, if named { !then } else { then }, "byte {place}");
        }
    }

    #[test]
    fn copies_touch_what_the_typemap_names_and_nothing_else() {
        for length in [1, 2, 3, 4, 8, 12, 16, 24, 31, 32, 40] {
            let piece = Typemap::bytes(length);
            check(piece.hvector(9, 1, length as i64 + 4), 2, 8);
            check(piece.hvector(9, 1, -(length as i64) - 3), 1, 2000);
            check(piece.hindexed(&[(0, 1), (3 * length as i64, 2)]), 3, 100);
        }
        check(Typemap::bytes(5), 7, 1);
    }

    #[test]
    fn contiguous_memory_is_one_piece() {
        let mut memory = [0u8; 64];
        let mut contiguous = |typemap: Typemap, count| {
            // SAFETY: nothing is accessed.
            let user = unsafe { UserMemory::new(memory.as_mut_ptr(), Arc::new(typemap), count) };
            user.contiguous().map(|piece| piece.len())
        };
        assert_eq!(contiguous(Typemap::bytes(8), 4), Some(32));
        assert_eq!(contiguous(Typemap::bytes(8).resized(0, 16), 1), Some(8));
        assert_eq!(contiguous(Typemap::bytes(8).resized(0, 16), 2), None);
    }
}
