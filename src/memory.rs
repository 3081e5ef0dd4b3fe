//! The caller's buffer: the one place that touches it.

/// A stretch of memory that one system call reads or fills. Laid out as `struct iovec`.
///
/// Holding a `Piece` is holding a promise that the bytes are there: only this module and the
/// drivers' system calls look at them, and they may be shared with other pieces (a caller's
/// buffer for a write may overlap itself), so no reference to them is ever made.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Piece {
    address: *mut u8,
    length: usize,
}

// SAFETY: a piece is a number until a driver or this module uses it, and what it names is
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

    /// A piece of memory that is only read from.
    pub fn of(bytes: &[u8]) -> Piece {
        Piece { address: bytes.as_ptr().cast_mut(), length: bytes.len() }
    }

    /// A piece of memory to be filled.
    pub fn of_mut(bytes: &mut [u8]) -> Piece {
        Piece { address: bytes.as_mut_ptr(), length: bytes.len() }
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
