//! Memory of the library's own for one access.

use std::alloc::{Layout, alloc, dealloc};
use std::ops::RangeInclusive;
use std::ptr::NonNull;

use parking_lot::Mutex;

use super::piece::Piece;
use crate::error::{Class, Error, Result};

/// Page-aligned memory, and an error instead of an abort when there is none.
pub struct Scratch {
    /// There until the value is dropped.
    block: Option<Block>,
    size: usize,
}

impl Scratch {
    /// `size` bytes of anything.
    pub fn new(size: usize) -> Result<Scratch> {
        let block = match KEPT.take(size) {
            Some(block) => block,
            None => Block::new(size)?,
        };
        Ok(Scratch { block: Some(block), size })
    }

    /// The first `size` bytes as a piece for the drivers and for copies.
    pub fn piece(&mut self, size: usize) -> Piece {
        assert!(size <= self.size);
        let start = self.block.as_ref().map_or(NonNull::dangling(), |block| block.address);
        // SAFETY: inside the block. The bytes are given a value before anything reads them, by
        // gathering or by the file.
        unsafe { Piece::new(start.as_ptr(), size) }
    }

    /// Frees what is kept for the next access: there may be none.
    pub fn free_kept() {
        KEPT.free();
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
        if let Some(block) = self.block.take() {
            KEPT.keep(block);
        }
    }
}

/// What the allocator has given.
struct Block {
    address: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is owned by the value like that of a `Box<[u8]>`.
unsafe impl Send for Block {}
// SAFETY: as above; through a shared reference it can only be read.
unsafe impl Sync for Block {}

/// File systems copy fastest into memory that lies like their pages.
const ALIGNMENT: usize = 4096;

impl Block {
    fn new(size: usize) -> Result<Block> {
        let none = || Error::new(Class::NoMem, format!("no memory for a buffer of {size} bytes"));
        let layout = Layout::from_size_align(size.max(1), ALIGNMENT).map_err(|_| none())?;
        // SAFETY: the layout's size is not zero.
        let address = NonNull::new(unsafe { alloc(layout) }).ok_or_else(none)?;
        Ok(Block { address, layout })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed only here.
        unsafe { dealloc(self.address.as_ptr(), self.layout) };
    }
}

/// Blocks between two accesses, until a file is closed. The allocator gives them to the system,
/// which then finds the next one page by page: that takes as long as to read or write as many bytes.
struct Kept(Mutex<Vec<Block>>);

static KEPT: Kept = Kept(Mutex::new(Vec::new()));

/// Sizes that are kept: from what the allocator asks the system for by itself to twice a window.
const KEPT_SIZES: RangeInclusive<usize> = 128 << 10..=1 << 20;

/// Most blocks that are: one to gather in and one to sieve in, for two threads.
const KEPT_BLOCKS: usize = 4;

impl Kept {
    /// One of at least `size` bytes, if there is one that is not far too large.
    fn take(&self, size: usize) -> Option<Block> {
        if !KEPT_SIZES.contains(&size) {
            return None;
        }
        let mut all = self.0.lock();
        let fits = |block: &Block| (size..=2 * size).contains(&block.layout.size());
        let place = all.iter().position(fits)?;
        Some(all.swap_remove(place))
    }

    fn keep(&self, block: Block) {
        let mut all = self.0.lock();
        if KEPT_SIZES.contains(&block.layout.size()) && all.len() < KEPT_BLOCKS {
            all.push(block);
        }
    }

    fn free(&self) {
        let all = std::mem::take(&mut *self.0.lock());
        drop(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_blocks_are_used_again() {
        let kept = Kept(Mutex::new(Vec::new()));
        let size = *KEPT_SIZES.start();
        let first = Block::new(size + 5).unwrap();
        let address = first.address;
        kept.keep(first);
        for other in [size - 1, size + 6, 1 << 20, 2 << 20] {
            assert!(kept.take(other).is_none(), "{other}");
        }
        assert_eq!(kept.take(size).unwrap().address, address);
        assert!(kept.take(size).is_none());
        for (size, count) in [(100, 0), (2 << 20, 0), (size, KEPT_BLOCKS)] {
            for _ in 0..KEPT_BLOCKS + 3 {
                kept.keep(Block::new(size).unwrap());
            }
            assert_eq!(kept.0.lock().len(), count);
        }
        kept.free();
        assert!(kept.take(size).is_none());
    }
}
