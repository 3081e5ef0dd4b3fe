//! A file in memory that fails when it is told to.

use std::ops::Range;

use parking_lot::Mutex;

use crate::driver::ranges::without;
use crate::driver::{Driver, Layout, LockKind};
use crate::error::{Class, Error, Result};
use crate::memory::Piece;

/// A file of bytes, and the number of the call that will fail.
#[derive(Default)]
pub struct Disk {
    pub bytes: Mutex<Vec<u8>>,
    pub fails_at: Option<usize>,
    pub layout: Layout,
    calls: Mutex<usize>,
    locked: Mutex<Vec<Range<u64>>>,
}

impl Disk {
    pub fn with(bytes: Vec<u8>) -> Disk {
        Disk { bytes: Mutex::new(bytes), ..Disk::default() }
    }

    fn call(&self) -> Result<()> {
        let mut calls = self.calls.lock();
        *calls += 1;
        match self.fails_at {
            Some(number) if *calls >= number => Err(Error::new(Class::NoSpace, "disk is full")),
            _ => Ok(()),
        }
    }

    /// How often it was read or written.
    pub fn calls(&self) -> usize {
        *self.calls.lock()
    }

    #[cfg(test)]
    pub fn is_locked(&self, range: Range<u64>) -> bool {
        covers(&self.locked.lock(), range)
    }

    /// Ranges still locked: none, when an access is over.
    pub fn locks_left(&self) -> usize {
        self.locked.lock().len()
    }
}

fn covers(locked: &[Range<u64>], range: Range<u64>) -> bool {
    locked.iter().fold(vec![range], without).is_empty()
}

impl Driver for Disk {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn read_at(&self, offset: u64, pieces: &[Piece]) -> Result<u64> {
        self.call()?;
        let bytes = self.bytes.lock();
        let mut place = (offset as usize).min(bytes.len());
        let start = place;
        for piece in pieces {
            let size = piece.len().min(bytes.len() - place);
            piece.take(size).fill_from(&bytes[place..place + size]);
            place += size;
        }
        Ok((place - start) as u64)
    }

    fn write_at(&self, offset: u64, pieces: &[Piece]) -> Result<()> {
        self.call()?;
        let mut bytes = self.bytes.lock();
        let mut place = offset as usize;
        for piece in pieces {
            let from = piece.to_vec();
            if bytes.len() < place + from.len() {
                bytes.resize(place + from.len(), 0);
            }
            bytes[place..place + from.len()].copy_from_slice(&from);
            place += from.len();
        }
        Ok(())
    }

    fn lock(&self, offset: u64, length: u64, _kind: LockKind) -> Result<()> {
        self.locked.lock().push(offset..offset + length);
        Ok(())
    }

    fn try_lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<bool> {
        self.lock(offset, length, kind).map(|()| true)
    }

    fn unlock(&self, offset: u64, length: u64) {
        let range = offset..offset + length;
        let mut locked = self.locked.lock();
        assert!(covers(&locked, range.clone()), "{range:?} is not locked");
        *locked = without(std::mem::take(&mut *locked), &range);
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn size(&self) -> Result<u64> {
        Ok(self.bytes.lock().len() as u64)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.bytes.lock().resize(size as usize, 0);
        Ok(())
    }

    fn preallocate(&self, size: u64) -> Result<()> {
        let mut bytes = self.bytes.lock();
        let size = bytes.len().max(size as usize);
        bytes.resize(size, 0);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
