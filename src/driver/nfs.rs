//! A file on NFS, where each machine keeps its own idea of what is in the file.
//!
//! The Linux client takes a lock as the moment to agree with the server: locking forgets what
//! was cached, unlocking sends what was written. So with ranks on several machines every
//! transfer happens inside a lock on exactly its range, as in ROMIO, and a finished write can be
//! read elsewhere at once. With all ranks on one machine there is one cache, and no need; nor is
//! there for a file that is opened for reading only, since no rank can write it.

use std::ops::Range;

use super::coherence::Coherence;
use super::posix::PosixFile;
use super::transfer::total_length;
use super::{Calls, Driver, Layout, LockKind, lock};
use crate::error::{Doing, Result};
use crate::memory::Piece;

/// A byte that no file has, to be locked for the sake of locking.
const FAR_BYTE: u64 = 1 << 62;

/// An open file on NFS.
pub(super) struct NfsFile {
    file: PosixFile,
    sharing: Sharing,
}

/// Who else may change the file.
enum Sharing {
    /// Only processes of this machine.
    OneHost,
    /// Other machines, and locks keep us in step with them.
    Locked(Coherence),
    /// Other machines, and the mount gives no locks.
    Unlocked,
}

impl NfsFile {
    /// Tries once whether the mount gives locks.
    pub(super) fn new(file: PosixFile, shared_between_hosts: bool) -> NfsFile {
        let sharing = if !shared_between_hosts {
            Sharing::OneHost
        } else if gives_locks(&file) {
            Sharing::Locked(Coherence::default())
        } else {
            Sharing::Unlocked
        };
        NfsFile { file, sharing }
    }

    /// Does `transfer` with `range` locked; it is told whether the locks are ours to give back.
    fn guarded<T>(
        &self,
        coherence: &Coherence,
        range: &Range<u64>,
        kind: LockKind,
        transfer: impl FnOnce(bool) -> Result<T>,
    ) -> Result<T> {
        let busy = coherence.enter(range);
        let gaps = busy.gaps();
        let mut outcome = Ok(());
        let mut locked = 0;
        for gap in &gaps {
            outcome = self.file.lock(gap.start, gap.end - gap.start, kind);
            if outcome.is_err() {
                break;
            }
            locked += 1;
        }
        let outcome = outcome.and_then(|()| transfer(!gaps.is_empty()));
        for gap in &gaps[..locked] {
            self.file.unlock(gap.start, gap.end - gap.start);
        }
        outcome
    }
}

/// Whether a lock is given or kept from us by another; anything else is a mount without locks.
fn gives_locks(file: &PosixFile) -> bool {
    match file.try_lock(FAR_BYTE, 1, any_kind(file)) {
        Ok(true) => {
            file.unlock(FAR_BYTE, 1);
            true
        }
        Ok(false) => true,
        Err(_) => false,
    }
}

/// A kind of lock that the opening may take.
fn any_kind(file: &PosixFile) -> LockKind {
    if file.readable { LockKind::Shared } else { LockKind::Exclusive }
}

impl Driver for NfsFile {
    fn name(&self) -> &'static str {
        self.file.name()
    }

    fn read_at(&self, offset: u64, pieces: &[Piece]) -> Result<u64> {
        let length = total_length(pieces);
        match &self.sharing {
            Sharing::Locked(coherence) if length > 0 && self.file.writable => {
                let range = lock::lockable(offset, length);
                let read = |_| self.file.read_at(offset, pieces);
                self.guarded(coherence, &range, LockKind::Shared, read)
            }
            _ => self.file.read_at(offset, pieces),
        }
    }

    fn write_at(&self, offset: u64, pieces: &[Piece]) -> Result<()> {
        let length = total_length(pieces);
        let Sharing::Locked(coherence) = &self.sharing else {
            return self.file.write_at(offset, pieces);
        };
        if length == 0 {
            return Ok(());
        }
        let range = lock::lockable(offset, length);
        self.guarded(coherence, &range, LockKind::Exclusive, |ours| {
            self.file.write_at(offset, pieces)?;
            if !ours {
                return Ok(()); // sent when the caller unlocks
            }
            // Unlocking would send it too, but has no way to say that the server refused it.
            let path = &self.file.path;
            self.file
                .flush()
                .doing(|| format!("writing {length} bytes at offset {offset} of {path}"))
        })
    }

    fn lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<()> {
        let Sharing::Locked(coherence) = &self.sharing else {
            return self.file.lock(offset, length, kind);
        };
        let busy = coherence.enter(&lock::lockable(offset, length));
        self.file.lock(offset, length, kind)?;
        busy.hold();
        Ok(())
    }

    fn try_lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<bool> {
        let Sharing::Locked(coherence) = &self.sharing else {
            return self.file.try_lock(offset, length, kind);
        };
        let Some(busy) = coherence.try_enter(&lock::lockable(offset, length)) else {
            return Ok(false);
        };
        let locked = self.file.try_lock(offset, length, kind)?;
        if locked {
            busy.hold();
        }
        Ok(locked)
    }

    fn unlock(&self, offset: u64, length: u64) {
        let Sharing::Locked(coherence) = &self.sharing else {
            return self.file.unlock(offset, length);
        };
        let busy = coherence.enter(&lock::lockable(offset, length));
        self.file.unlock(offset, length);
        busy.give_back();
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
        match &self.sharing {
            Sharing::OneHost => Ok(()),
            Sharing::Unlocked => self.file.reopen(),
            Sharing::Locked(coherence) => {
                let busy = coherence.enter(&(FAR_BYTE..FAR_BYTE + 1));
                // A caller that holds all of the file got the truth when it locked it.
                if !busy.gaps().is_empty() {
                    self.file.lock(FAR_BYTE, 1, any_kind(&self.file))?;
                    self.file.unlock(FAR_BYTE, 1);
                }
                Ok(())
            }
        }
    }

    fn visible_immediately(&self) -> bool {
        !matches!(self.sharing, Sharing::Unlocked)
    }

    fn layout(&self) -> Layout {
        self.file.layout()
    }

    fn calls(&self) -> Calls {
        self.file.calls()
    }
}

#[cfg(test)]
#[path = "nfs_tests.rs"]
mod tests;
