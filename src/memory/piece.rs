//! Stretches of memory that system calls read or fill, and the library's own scratch memory.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{NonNull, copy_nonoverlapping};

use super::copy;
use crate::error::{Class, Error, Result};

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

/// Memory of the library's own for one access: page-aligned, and an error instead of an abort
/// when there is none.
pub struct Scratch {
    address: NonNull<u8>,
    size: usize,
}

// SAFETY: the memory is owned by the value like that of a `Box<[u8]>`.
unsafe impl Send for Scratch {}
// SAFETY: as above; through a shared reference it can only be read.
unsafe impl Sync for Scratch {}

/// File systems copy fastest into memory that lies like their pages.
const ALIGNMENT: usize = 4096;

impl Scratch {
    /// `size` bytes of anything.
    pub fn new(size: usize) -> Result<Scratch> {
        let none = || Error::new(Class::NoMem, format!("no memory for a buffer of {size} bytes"));
        let layout = Layout::from_size_align(size.max(1), ALIGNMENT).map_err(|_| none())?;
        // SAFETY: the layout's size is not zero. The bytes are given a value before anything
        // reads them: `bytes` is only written to before, by gathering or by the file.
        let address = unsafe { alloc(layout) };
        Ok(Scratch { address: NonNull::new(address).ok_or_else(none)?, size })
    }

    /// The first `size` bytes as a piece for the drivers and for copies.
    pub fn piece(&mut self, size: usize) -> Piece {
        assert!(size <= self.size);
        Piece { address: self.address.as_ptr(), length: size }
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // `new` has checked the same layout.
        if let Ok(layout) = Layout::from_size_align(self.size.max(1), ALIGNMENT) {
            // SAFETY: allocated in `new` with this layout, and freed only here.
            unsafe { dealloc(self.address.as_ptr(), layout) };
        }
    }
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
