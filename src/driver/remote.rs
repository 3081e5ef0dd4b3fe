//! A file that several machines have open, on a file system where each keeps its own idea of what
//! is in it.
//!
//! NFS's client takes a lock as the moment to agree with the server: locking forgets what was
//! cached, unlocking sends what was written. So with ranks on several machines every transfer
//! happens inside a lock on exactly its range, as in ROMIO, and a finished write can be read
//! elsewhere at once. With all of the job on one machine there is one cache, and no need; nor is
//! there for a file that is opened for reading only, since no rank of that opening can write it.
//!
//! File systems in user space, SMB and their like, and NFS without locks, agree when a file is
//! opened, and `fsync` sends what was written. There a lock, if it can be had, is followed by
//! opening the file once more, and who wrote under one publishes that before giving it back.
//! Outside of locks a write is seen elsewhere after a synchronisation, which is what MPI asks for.

use std::ops::Range;
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use super::coherence::{Busy, Coherence};
use super::posix::PosixFile;
use super::transfer::total_length;
use super::{Calls, Driver, Layout, LockKind, lock, page_cache};
use crate::error::{Doing, Result};
use crate::memory::Piece;

/// A byte that no file has, to be locked for the sake of locking.
const FAR_BYTE: u64 = 1 << 62;

/// Between two attempts to get a lock that cannot be waited for.
const SHORTEST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// An open file that other machines may change.
pub(super) struct RemoteFile {
    file: PosixFile,
    sharing: Sharing,
}

/// Who else may change the file.
enum Sharing {
    /// Only processes of this machine.
    OneHost,
    /// Other machines, and locks keep us in step with them.
    Locked(Coherence),
    /// Other machines, and opening the file keeps us in step with them.
    Reopened,
}

impl RemoteFile {
    /// On NFS. Tries once whether the mount gives locks.
    pub(super) fn on_nfs(file: PosixFile, shared_between_hosts: bool) -> Result<RemoteFile> {
        if !shared_between_hosts {
            return Ok(RemoteFile { file, sharing: Sharing::OneHost });
        }
        match gives_locks(&file) {
            true => Ok(RemoteFile { file, sharing: Sharing::Locked(Coherence::default()) }),
            false => RemoteFile::reopened(file),
        }
    }

    /// Where locks say nothing about what other machines have written. What this machine keeps
    /// of an earlier opening may be old.
    pub(super) fn reopened(file: PosixFile) -> Result<RemoteFile> {
        if file.writable {
            page_cache::read_nothing_ahead(file.descriptor.as_fd());
        }
        file.reopen()?;
        Ok(RemoteFile { file, sharing: Sharing::Reopened })
    }

    /// The caller has just got a lock: from now on it must see what others wrote before.
    fn look_again(&self, offset: u64, length: u64) -> Result<()> {
        self.file.reopen().inspect_err(|_| self.file.unlock(offset, length))?;
        page_cache::forget_arriving(self.file.descriptor.as_fd(), &lock::lockable(offset, length));
        Ok(())
    }

    /// Does `transfer` with `range` locked; it is told whether the locks are ours to give back.
    fn guarded<T>(
        &self,
        coherence: &Coherence,
        range: &Range<u64>,
        kind: LockKind,
        transfer: impl FnOnce(bool) -> Result<T>,
    ) -> Result<T> {
        let (_busy, gaps) = self.enter(coherence, range, kind, Wanted::Gaps)?;
        let outcome = transfer(!gaps.is_empty());
        self.give_back(&gaps);
        outcome
    }

    /// Keeps the rest of this process out of `range`, and other openings by the locks returned.
    fn enter<'a>(
        &self,
        coherence: &'a Coherence,
        range: &Range<u64>,
        kind: LockKind,
        wanted: Wanted,
    ) -> Result<(Busy<'a>, Vec<Range<u64>>)> {
        let mut pause = SHORTEST_PAUSE;
        loop {
            let busy = coherence.enter(range);
            let gaps = busy.gaps();
            let whole = [range.clone()];
            // A caller that holds a part of it could not go on while this waits.
            let patient = gaps == whole;
            let locks = match wanted {
                Wanted::Gaps => gaps,
                Wanted::Whole => whole.to_vec(),
            };
            if self.take(&locks, kind, patient)? {
                return Ok((busy, locks));
            }
            drop(busy);
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Locks all of `ranges`, or none; `false` where it would have to wait and is not to.
    fn take(&self, ranges: &[Range<u64>], kind: LockKind, patient: bool) -> Result<bool> {
        for (done, range) in ranges.iter().enumerate() {
            let length = range.end - range.start;
            let taken = match patient {
                true => self.file.lock(range.start, length, kind).map(|()| true),
                false => self.file.try_lock(range.start, length, kind),
            };
            if !matches!(taken, Ok(true)) {
                self.give_back(&ranges[..done]);
                return taken;
            }
        }
        Ok(true)
    }

    fn give_back(&self, ranges: &[Range<u64>]) {
        for range in ranges {
            self.file.unlock(range.start, range.end - range.start);
        }
    }
}

/// What of a range is to be locked.
#[derive(Clone, Copy)]
enum Wanted {
    /// What the caller does not hold of it.
    Gaps,
    Whole,
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

impl Driver for RemoteFile {
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
        match &self.sharing {
            Sharing::OneHost | Sharing::Reopened => self.file.write_at(offset, pieces),
            Sharing::Locked(_) if length == 0 => Ok(()),
            Sharing::Locked(coherence) => {
                let range = lock::lockable(offset, length);
                self.guarded(coherence, &range, LockKind::Exclusive, |ours| {
                    self.file.write_at(offset, pieces)?;
                    // Unlocking would send this too, but has no way to say that the server
                    // refused it.
                    if ours { self.publish(offset, length) } else { Ok(()) }
                })
            }
        }
    }

    fn lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<()> {
        match &self.sharing {
            Sharing::OneHost => self.file.lock(offset, length, kind),
            Sharing::Reopened => {
                // Looking again opens and closes the file, which ends all locks of the process: what
                // was left to one of them has none any more.
                if !self.file.secure(offset, length, kind)? {
                    // Nobody keeps some and waits for the rest.
                    self.file.unlock(offset, length);
                    self.look_again(offset, length)?;
                    self.file.lock(offset, length, kind)?;
                }
                self.look_again(offset, length)
            }
            Sharing::Locked(coherence) => {
                let range = lock::lockable(offset, length);
                let (busy, _) = self.enter(coherence, &range, kind, Wanted::Whole)?;
                busy.hold();
                Ok(())
            }
        }
    }

    fn try_lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<bool> {
        match &self.sharing {
            Sharing::OneHost => self.file.try_lock(offset, length, kind),
            Sharing::Reopened => {
                let locked = self.file.try_lock(offset, length, kind)?;
                if locked {
                    self.look_again(offset, length)?;
                }
                Ok(locked)
            }
            Sharing::Locked(coherence) => {
                let Some(busy) = coherence.try_enter(&lock::lockable(offset, length)) else {
                    return Ok(false);
                };
                let locked = self.file.try_lock(offset, length, kind)?;
                if locked {
                    busy.hold();
                }
                Ok(locked)
            }
        }
    }

    fn publish(&self, offset: u64, length: u64) -> Result<()> {
        if let Sharing::OneHost = self.sharing {
            return Ok(());
        }
        let path = &self.file.path;
        self.file.flush().doing(|| format!("writing {length} bytes at offset {offset} of {path}"))
    }

    fn unlock(&self, offset: u64, length: u64) {
        match &self.sharing {
            Sharing::OneHost | Sharing::Reopened => self.file.unlock(offset, length),
            Sharing::Locked(coherence) => {
                // Of the rest there is nothing to give back, and another thread may wait for it.
                for held in coherence.held(&lock::lockable(offset, length)) {
                    let busy = coherence.enter(&held);
                    self.file.unlock(held.start, held.end - held.start);
                    busy.give_back();
                }
            }
        }
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
        // Some clients take closing for no more than a promise to send what was written.
        if let (Sharing::Reopened, true) = (&self.sharing, self.file.writable) {
            self.file.sync()?;
        }
        self.file.close()
    }

    fn is_locked_by_program(&self) -> bool {
        self.file.is_locked_by_program()
    }

    fn inode(&self) -> Option<u64> {
        self.file.inode()
    }

    fn readable(&self) -> bool {
        self.file.readable()
    }

    fn refresh(&self) -> Result<()> {
        match &self.sharing {
            Sharing::OneHost => Ok(()),
            Sharing::Reopened => {
                self.file.reopen()?;
                // Who only reads may have some read ahead, in another process too.
                page_cache::forget_all_arriving(self.file.descriptor.as_fd());
                Ok(())
            }
            Sharing::Locked(coherence) => {
                let busy = coherence.enter(&(FAR_BYTE..FAR_BYTE + 1));
                // A caller that holds all of the file got the truth when it locked it.
                if !busy.gaps().is_empty() {
                    let locked = self.file.secure(FAR_BYTE, 1, any_kind(&self.file))?;
                    self.file.unlock(FAR_BYTE, 1);
                    if !locked {
                        self.file.ask_anew();
                    }
                }
                Ok(())
            }
        }
    }

    fn accept_size(&self, size: u64) -> Result<()> {
        // A client that has written keeps to the end that it knows, also if the file is cut
        // elsewhere, until it is cut here.
        if let Sharing::Reopened = self.sharing {
            self.file.set_size(size)?;
        }
        self.refresh()
    }

    fn locks_transfers(&self) -> bool {
        // Locks for many transfers are shared ones, which only a reader may have.
        matches!(self.sharing, Sharing::Locked(_)) && self.file.readable && self.file.writable
    }

    fn visible_immediately(&self) -> bool {
        !matches!(self.sharing, Sharing::Reopened)
    }

    fn layout(&self) -> Layout {
        self.file.layout()
    }

    fn why_cached(&self) -> Option<String> {
        self.file.why_cached()
    }

    fn calls(&self) -> Calls {
        self.file.calls()
    }
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
