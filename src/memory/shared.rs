//! Memory that several ranks see, each at an address of its own.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::mapped::Mapped;
use super::piece::Piece;
use super::scratch::Scratch;
use crate::error::Result;

/// A stretch of memory in which ranks of one node leave words and bytes for each other.
#[derive(Clone)]
pub struct Shared {
    base: NonNull<u8>,
    size: usize,
    /// What keeps it alive, where the value itself does.
    _owner: Option<Owner>,
}

/// Only kept: the memory goes when the last value that names it does.
#[derive(Clone)]
#[allow(dead_code)]
enum Owner {
    Process(Arc<Scratch>),
    Processes(Arc<Mapped>),
}

// SAFETY: the memory is there for the whole process; words in it are atomic, and pieces of it
// are used by the rules of `Piece`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Takes `size` bytes at `base`, which every rank sees.
    ///
    /// # Safety
    /// The bytes must be aligned for a word and stay valid while the value is used.
    pub unsafe fn new(base: NonNull<u8>, size: usize) -> Shared {
        Shared { base, size, _owner: None }
    }

    /// Zeros in memory of this process, for ranks that live in it.
    pub fn of_process(size: usize) -> Result<Shared> {
        let mut scratch = Scratch::new(size)?;
        let piece = scratch.piece(size);
        piece.zero();
        let base = NonNull::new(piece.address()).unwrap_or(NonNull::dangling());
        Ok(Shared { base, size, _owner: Some(Owner::Process(Arc::new(scratch))) })
    }

    /// Memory that several processes map.
    pub fn mapped(mapped: Mapped) -> Shared {
        let (base, size) = (mapped.base(), mapped.size());
        Shared { base, size, _owner: Some(Owner::Processes(Arc::new(mapped))) }
    }

    /// The word that starts at byte `offset`, a multiple of 8.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.size);
        // SAFETY: inside, aligned, and only ever used as an atomic word.
        unsafe { &*self.base.as_ptr().add(offset).cast::<AtomicU64>() }
    }

    /// `count` words from byte `offset` on, a multiple of 8.
    pub fn words(&self, offset: usize, count: usize) -> &[AtomicU64] {
        assert!(offset.is_multiple_of(8) && offset + 8 * count <= self.size);
        // SAFETY: inside, aligned, and only ever used as atomic words.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(offset).cast(), count) }
    }

    /// The half of a word that starts at byte `offset`, a multiple of 4.
    pub fn half_word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.size);
        // SAFETY: inside, aligned, and only ever used as an atomic half word.
        unsafe { &*self.base.as_ptr().add(offset).cast::<AtomicU32>() }
    }

    /// `size` bytes from `offset` on.
    pub fn piece(&self, offset: usize, size: usize) -> Piece {
        assert!(offset + size <= self.size);
        // SAFETY: inside, and valid by the promise of `new`.
        unsafe { Piece::new(self.base.as_ptr().add(offset), size) }
    }
}
