//! Stretches of memory that system calls read or fill.

use std::ptr::copy_nonoverlapping;

use super::copy;

/// A stretch of memory that one system call reads or fills. Laid out as `struct iovec`.
///
/// Holding a `Piece` is holding a promise that the bytes are there: only this room and the
/// drivers' system calls look at them, and they may be shared with other pieces (a caller's
/// buffer for a write may overlap itself), so no reference to them is ever made.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Piece {
    address: *mut u8,
    length: usize,
}

// SAFETY: a piece is a number until a driver or this room uses it, and what it names is
// memory of the whole process; the engines give different threads different pieces.
unsafe impl Send for Piece {}
// SAFETY: as above: nothing is reached through a shared piece but by calls that copy bytes.
unsafe impl Sync for Piece {}

impl Piece {
    /// Names `length` bytes at `address`.
    ///
    /// # Safety
    /// The bytes must stay valid for as long as the piece is used, writable if it is read into.
    pub unsafe fn new(address: *mut u8, length: usize) -> Piece {
        Piece { address, length }
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where it starts.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// The same without its first `count` bytes.
    pub fn skip(&self, count: usize) -> Piece {
        assert!(count <= self.length);
        Piece { address: self.address.wrapping_add(count), length: self.length - count }
    }

    /// The first `count` bytes of it.
    pub fn take(&self, count: usize) -> Piece {
        assert!(count <= self.length);
        Piece { address: self.address, length: count }
    }
}

/// Copies `from` to `to`, which must be equally long; one of them is the library's own memory.
pub fn copy_between(to: Piece, from: Piece) {
    assert_eq!(to.length, from.length);
    // SAFETY: holding a piece is the promise that its bytes are valid; the library's own memory
    // overlaps nobody else's.
    unsafe { copy::plain(from.address, to.address, to.length) };
}

impl Piece {
    /// Bytes that are only read from.
    pub fn of(bytes: &[u8]) -> Piece {
        Piece { address: bytes.as_ptr().cast_mut(), length: bytes.len() }
    }

    /// Bytes to be filled.
    pub fn of_mut(bytes: &mut [u8]) -> Piece {
        Piece { address: bytes.as_mut_ptr(), length: bytes.len() }
    }

    /// Sets all of it to zero.
    pub fn zero(&self) {
        // SAFETY: holding a piece is the promise that its bytes are valid and may be written.
        unsafe { std::ptr::write_bytes(self.address, 0, self.length) };
    }

    /// The bytes, copied. For stand-ins of a driver that keep their file in memory.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        // SAFETY: holding a piece is the promise that its bytes are valid; `bytes` is new.
        unsafe { copy_nonoverlapping(self.address, bytes.as_mut_ptr(), self.length) };
        bytes
    }

    /// Fills the piece with `bytes`, equally many.
    pub fn fill_from(&self, bytes: &[u8]) {
        assert_eq!(self.length, bytes.len());
        // SAFETY: holding a piece is the promise that its bytes are valid and may be written.
        unsafe { std::ptr::copy(bytes.as_ptr(), self.address, self.length) };
    }
}
