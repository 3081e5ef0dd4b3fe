//! File systems, as the few things the engines need of them.
//!
//! [`detect`] names the file system below a path, [`open`] opens a file on it, and what comes
//! back is a [`Driver`]. `transfer` is the one loop that all bytes go through.

pub mod advice;
pub mod detect;
pub mod direct;
pub mod doomed;
pub mod gpfs;
pub mod known;
pub mod lustre;
pub mod open;
pub mod ranges;

mod allocate;
mod coherence;
mod in_use;
mod kernel;
mod library;
mod lock;
mod mount;
mod own_locks;
mod page_cache;
mod posix;
mod remote;
mod servers;
mod transfer;

#[cfg(test)]
mod scratch;

use std::ops::Range;

use self::advice::{Advised, Ahead, Intent};
use crate::error::Result;
use crate::memory::Piece;

/// How a file lies on its servers; domains and cycles are cut along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes on one server before the next one; 1 where the file system has no stripes.
    pub stripe_size: u64,
    /// Servers that hold the file; 1 where the file system has no stripes.
    pub stripe_count: u64,
    /// Unit in which the file system locks or writes; accesses want to start on it.
    pub alignment: u64,
    /// When small pieces are better accessed together with the holes between them.
    pub sieve: SieveStrides,
    /// Whether writes of one file run beside each other. Most kernels let in one at a time.
    pub concurrent_writes: bool,
    /// Whether several nodes may write to one server without disturbing each other.
    pub shared_servers: bool,
    /// The server of the first stripe, where that is known.
    pub first_server: Option<u64>,
}

/// Distances from the start of one piece to the start of the next up to which sieving pays: a call
/// for each piece costs more than moving the hole, which a write does twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct SieveStrides {
    pub read: u64,
    pub write: u64,
    /// Of writes through views that together leave no holes: those of one rank are the bytes of
    /// others then, and take no room that nobody wants.
    pub shared_write: u64,
}

impl SieveStrides {
    /// The kernel's own: measured on tmpfs and ext4 with four ranks that each have every fourth
    /// piece. Pieces of 1.5 KiB are better sieved, for pieces of 2 KiB it is the same, pieces of
    /// 4 KiB are not; writers of single pieces wait for each other in the kernel, while those of
    /// windows keep out of each other's way.
    pub const LOCAL: SieveStrides = SieveStrides { read: 4096, write: 4096, shared_write: 6144 };
    /// On a disk each call that makes a file longer also has to find room for it. Measured on ext4
    /// with 2 to 8 ranks: at a stride of 16 KiB a new file is written in half of the time and an
    /// old one in as much or a little more, at 8 KiB both in half, at 32 KiB an old one in twice.
    /// Large reads gain more there too, because the page cache holds files in large folios.
    pub const DISK: SieveStrides =
        SieveStrides { read: 12 << 10, shared_write: 16 << 10, ..SieveStrides::LOCAL };
    /// A call may end in a message to a server: some tens of microseconds at some gigabytes a
    /// second. Not measured.
    pub const REMOTE: SieveStrides =
        SieveStrides { read: 64 << 10, write: 32 << 10, shared_write: 32 << 10 };
    /// Where writes are never sieved.
    pub const fn without_writes(self) -> SieveStrides {
        SieveStrides { write: 0, shared_write: 0, ..self }
    }
}

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            stripe_size: 1,
            stripe_count: 1,
            alignment: 4096,
            sieve: SieveStrides::LOCAL,
            concurrent_writes: false,
            shared_servers: false,
            first_server: None,
        }
    }
}

impl Layout {
    /// Whether a call for a few bytes costs little more than the copy: this machine answers it.
    pub fn answers_at_once(&self) -> bool {
        self.sieve.read < SieveStrides::REMOTE.read
    }
}

/// What a range lock keeps out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Other writers.
    Shared,
    /// Everybody else.
    Exclusive,
}

/// An open file of some file system.
///
/// A driver moves bytes between memory and one open file. It is never given a view, a datatype,
/// a rank or a communicator: by the time a request comes here it is plain runs. All methods may
/// be called from several threads at once.
pub trait Driver: Send + Sync {
    /// The name users know: "ufs", "nfs", "lustre", "gpfs".
    fn name(&self) -> &'static str;

    /// Fills `pieces` from `offset` on, as if they were one buffer, and returns how many bytes
    /// were there. Fewer than asked for means end of file, never "try again": retrying after a
    /// signal, a short transfer or a system limit is the driver's work.
    fn read_at(&self, offset: u64, pieces: &[Piece]) -> Result<u64>;

    /// Writes all of `pieces` from `offset` on, or fails.
    fn write_at(&self, offset: u64, pieces: &[Piece]) -> Result<()>;

    /// Takes a lock on `length` bytes at `offset`, waiting for it. Locks are advisory and keep
    /// out other openings of the file, in this process or another, that ask for theirs; threads
    /// that share this opening share its locks. A range of no bytes is no lock.
    ///
    /// Whoever holds a lock and reads or writes should hold it on all of what it touches: a
    /// driver that locks by itself would have to wait for the rest while the caller keeps others
    /// waiting.
    fn lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<()>;

    /// As `lock`, but answers `false` at once where it would have to wait.
    fn try_lock(&self, offset: u64, length: u64, kind: LockKind) -> Result<bool>;

    /// Sends what was written within `length` bytes at `offset`, to be called by who wrote it
    /// under a lock before giving that back: where others only see what was sent, and for errors
    /// to be heard of.
    fn publish(&self, _offset: u64, _length: u64) -> Result<()> {
        Ok(())
    }

    /// Gives the range back. Never fails in a way the caller could mend.
    fn unlock(&self, offset: u64, length: u64);

    /// Size of the file in bytes.
    fn size(&self) -> Result<u64>;

    /// Cuts or extends the file to `size` bytes; what is added reads as zero.
    fn set_size(&self, size: u64) -> Result<()>;

    /// Makes room for the first `size` bytes: extends the file if it is shorter, never cuts it,
    /// never changes what can be read. One rank calls it, and nobody writes beyond the end of
    /// the file meanwhile.
    ///
    /// Where the file system cannot do it in one step, zeros are written from the end of the
    /// file on, and holes before it stay holes: filling them could overwrite what another rank
    /// writes there.
    fn preallocate(&self, size: u64) -> Result<()>;

    /// Sends everything to the device, and reports writes that failed on the way.
    fn sync(&self) -> Result<()>;

    /// Says goodbye: reports writes that failed after they were accepted, as closing does on
    /// file systems that keep such failures until then. Called once, when nothing is under way;
    /// the descriptor itself goes when the driver is dropped.
    fn close(&self) -> Result<()> {
        Ok(())
    }

    /// The number by which the file system knows the file, whatever its names are.
    fn inode(&self) -> Option<u64> {
        None
    }

    /// Whether bytes can be read through this opening. It may be so for a file that the user
    /// opened for writing only, so that an engine can read what it writes around.
    fn readable(&self) -> bool {
        true
    }

    /// Forgets cached data that another node may have changed, where the file system needs it.
    /// What one node wrote is seen by another after `sync` there and then `refresh` here; so is
    /// a size that was set there.
    fn refresh(&self) -> Result<()> {
        Ok(())
    }

    /// Another rank has set the size of the file to this, and all ranks are here to hear of it.
    fn accept_size(&self, _size: u64) -> Result<()> {
        self.refresh()
    }

    /// Whether this process has locked some of the file by F_SETLK. Another machine may have to be
    /// asked.
    fn is_locked_by_program(&self) -> bool {
        false
    }

    /// Whether every transfer asks for a lock on another machine, and ends with a message there.
    /// Who has many close together does better to lock and publish once around them.
    fn locks_transfers(&self) -> bool {
        false
    }

    /// Whether a finished write is at once visible to a read on another node.
    fn visible_immediately(&self) -> bool {
        true
    }

    /// How the file lies on its servers.
    fn layout(&self) -> Layout {
        Layout::default()
    }

    /// Whether the driver wants to be told such things beforehand; spares callers the work.
    fn listens(&self, _ahead: Ahead, _intent: Intent) -> bool {
        false
    }

    /// These bytes will be accessed soon. Advice: it changes no byte and never fails.
    fn will_access(&self, _ahead: Ahead, _intent: Intent, _ranges: &[Range<u64>]) {}

    /// These bytes have been, and will not be again soon.
    fn has_accessed(&self, _ahead: Ahead, _intent: Intent, _ranges: &[Range<u64>]) {}

    /// Whether there is something that only all openings of a file can start together, and this
    /// one can.
    fn can_start_together(&self) -> bool {
        false
    }

    /// Starts it, and waits for the others, all of which must be able to; `None` where that is
    /// nothing. They hear the same, unless one of them is gone.
    fn start_together(&self, _openings: usize) -> Option<std::io::Result<()>> {
        None
    }

    /// Some opening cannot, so none does.
    fn stay_apart(&self) {}

    /// Ends it, with all others.
    fn stop_together(&self) -> Result<()> {
        Ok(())
    }

    /// Why something that was asked for is not done, for the report.
    fn reason(&self) -> Option<String> {
        None
    }

    /// Why bytes that should go past the page cache do not.
    fn why_cached(&self) -> Option<String> {
        None
    }

    /// System calls made so far, for the report.
    fn calls(&self) -> Calls {
        Calls::default()
    }
}

/// System calls and bytes that went through a driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Calls {
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub locks: u64,
    pub lock_waits: u64,
    pub syncs: u64,
    pub uncached_bytes: u64,
    pub advised: Advised,
}
