//! A file on a file system whose machines keep their own idea of what is in it, and that takes no
//! lock as the moment to agree: file systems in user space, SMB and their like.
//!
//! They agree with their server when a file is opened, and `fsync` sends them what was written. So
//! with ranks on several machines a lock is followed by opening the file once more, and what is
//! written under one is sent before it is given back. Outside of locks a write is seen elsewhere
//! after a synchronisation, which is what MPI asks for.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use super::posix::PosixFile;
use super::transfer::total_length;
use super::{Calls, Driver, Layout, LockKind};
use crate::error::{Doing, Result};
use crate::memory::Piece;

/// An open file that other machines may change.
pub(super) struct CachedFile {
    file: PosixFile,
    /// Locks that callers hold.
    held: AtomicU64,
}

impl CachedFile {
    pub(super) fn new(file: PosixFile) -> CachedFile {
        CachedFile { file, held: AtomicU64::new(0) }
    }

    /// The caller has just got a lock: from now on it must see what others wrote before.
    fn hold(&self, offset: u64, length: u64) -> Result<()> {
        self.file.reopen().inspect_err(|_| self.file.unlock(offset, length))?;
        self.held.fetch_add(1, AcqRel);
        Ok(())
    }
}

impl Driver for CachedFile {
    fn name(&self) -> &'static str {
        self.file.name()
    }

    fn read_at(&self, offset: u64, pieces: &[Piece]) -> Result<u64> {
        self.file.read_at(offset, pieces)
    }

    fn write_at(&self, offset: u64, pieces: &[Piece]) -> Result<()> {
        self.file.write_at(offset, pieces)?;
        if self.held.load(Acquire) == 0 {
            return Ok(());
        }
        let (length, path) = (total_length(pieces), &self.file.path);
        self.file.flush().doing(|| format!("writing {length} bytes at offset {offset} of {path}"))
    }

    fn lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<()> {
        self.file.lock(offset, length, kind)?;
        self.hold(offset, length)
    }

    fn try_lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<bool> {
        let locked = self.file.try_lock(offset, length, kind)?;
        if locked {
            self.hold(offset, length)?;
        }
        Ok(locked)
    }

    fn unlock(&self, offset: u64, length: u64) {
        self.held.fetch_sub(1, AcqRel);
        self.file.unlock(offset, length);
    }

    fn size(&self) -> Result<u64> {
        self.refresh()?;
        self.file.size()
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.file.set_size(size)
    }

    fn preallocate(&self, size: u64) -> Result<()> {
        // Zeros may be written from the end of the file on: it must be the true one.
        self.refresh()?;
        self.file.preallocate(size)
    }

    fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    fn close(&self) -> Result<()> {
        self.file.close()
    }

    fn readable(&self) -> bool {
        self.file.readable()
    }

    fn refresh(&self) -> Result<()> {
        self.file.reopen()
    }

    fn accept_size(&self, size: u64) -> Result<()> {
        // A client that has written keeps to the end that it knows, also if the file is cut
        // elsewhere, until it is cut here.
        self.file.set_size(size)?;
        self.refresh()
    }

    fn visible_immediately(&self) -> bool {
        false
    }

    fn layout(&self) -> Layout {
        self.file.layout()
    }

    fn calls(&self) -> Calls {
        self.file.calls()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::detect::Kind;
    use crate::driver::open::{OpenOptions, open};
    use crate::driver::scratch::Scratch;

    #[test]
    fn what_is_written_under_a_lock_is_sent() {
        let scratch = Scratch::on_disk();
        let options = scratch.options("a", Kind::Ufs);
        let options = OpenOptions { shared_between_hosts: true, cached_by_hosts: true, ..options };
        let (one, two) = (open(&options).unwrap(), open(&options).unwrap());
        assert!(!one.visible_immediately());
        one.write_at(0, &[Piece::of(b"abc")]).unwrap();
        assert_eq!(one.calls().syncs, 0);
        one.lock(0, 10, LockKind::Exclusive).unwrap();
        let before = one.calls().syncs;
        one.write_at(1, &[Piece::of(b"xy")]).unwrap();
        assert_eq!(one.calls().syncs, before + 1);
        assert!(!two.try_lock(0, 10, LockKind::Shared).unwrap());
        one.unlock(0, 10);
        assert!(two.try_lock(0, 10, LockKind::Shared).unwrap());
        let mut bytes = [0; 4];
        assert_eq!(two.read_at(0, &[Piece::of_mut(&mut bytes)]).unwrap(), 3);
        assert_eq!(&bytes[..3], b"axy");
        two.unlock(0, 10);
        assert_eq!(two.size().unwrap(), 3);
        one.write_at(3, &[Piece::of(b"z")]).unwrap();
        assert_eq!(one.calls().syncs, before + 1);
    }
}
