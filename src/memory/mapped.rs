//! Memory that processes of one machine have in common.
//!
//! It is a file without a name, which the others find among the descriptors of its maker. So it needs
//! no MPI call, takes no room in a directory, and nothing of it is left behind, whoever dies when.

use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;

use crate::error::{Class, Doing, Error, Result};

/// Pages of this process that show such a file.
pub struct Mapped {
    base: NonNull<u8>,
    size: usize,
}

// SAFETY: the pages are there for the whole process until the value goes; who reaches into them
// keeps to the rules of `Shared`.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

/// What its maker tells the others of a file: the process, the descriptor, and what tells it from
/// all other files, since processes may count differently in another container.
pub type Ticket = [i64; 4];

/// A file of this process, for as long as others may want to find it.
pub struct Offer {
    file: File,
    ticket: Ticket,
}

impl Offer {
    /// A file of `size` zeros.
    pub fn new(size: usize) -> Result<Offer> {
        let doing = || format!("sharing {size} bytes of memory between ranks");
        may_make_files_of(size).doing(doing)?;
        // SAFETY: the name ends with a zero byte.
        let descriptor = unsafe { libc::memfd_create(c"mpiio_rs".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error()).doing(doing);
        }
        // SAFETY: the descriptor is new and nobody else's.
        let file = unsafe { File::from_raw_fd(descriptor) };
        file.set_len(size as u64).doing(doing)?;
        let about = file.metadata().doing(doing)?;
        let (process, descriptor) = (std::process::id().into(), descriptor.into());
        let ticket = [process, descriptor, about.dev() as i64, about.ino() as i64];
        Ok(Offer { file, ticket })
    }

    /// By what others find it.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Its bytes, of which there are `size`.
    pub fn map(&self, size: usize) -> Result<Mapped> {
        map(&self.file, size)
    }
}

impl Mapped {
    /// The `size` bytes that another process offers, while it does.
    pub fn find(ticket: Ticket, size: usize) -> Result<Mapped> {
        let [process, descriptor, device, inode] = ticket;
        let path = format!("/proc/{process}/fd/{descriptor}");
        let doing = || format!("opening memory of another rank by {path}");
        let file = File::options().read(true).write(true).open(&path).doing(doing)?;
        let about = file.metadata().doing(doing)?;
        let found = (about.dev() as i64, about.ino() as i64, about.len());
        if found != (device, inode, size as u64) {
            let text = format!("{path} is not the memory of a rank, which lives elsewhere");
            return Err(Error::new(Class::NoMem, text));
        }
        map(&file, size)
    }

    /// Where it starts.
    pub(super) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// How many bytes there are.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

fn map(file: &File, size: usize) -> Result<Mapped> {
    let (rights, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    let descriptor = file.as_raw_fd();
    // SAFETY: a new mapping, where the system has room for it.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), size, rights, shared, descriptor, 0) };
    let failed = || Err(std::io::Error::last_os_error());
    match NonNull::new(base.cast::<u8>()) {
        Some(place) if base != libc::MAP_FAILED => Ok(Mapped { base: place, size }),
        _ => failed().doing(|| format!("mapping {size} bytes of memory that ranks share")),
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this size, and nobody uses it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast::<c_void>(), self.size) };
    }
}

/// Fails where a limit is on the size of files: to the system, shared memory is one. Beyond the limit
/// it would end the process.
pub fn may_make_files_of(size: usize) -> std::io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a local.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
    match known && limit.rlim_cur < size as libc::rlim_t {
        true => Err(std::io::Error::from_raw_os_error(libc::EFBIG)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shared;
    use super::*;

    #[test]
    fn what_one_writes_the_other_reads() {
        let offer = Offer::new(8192).unwrap();
        let mine = Shared::mapped(offer.map(8192).unwrap());
        let found = Shared::mapped(Mapped::find(offer.ticket(), 8192).unwrap());
        drop(offer);
        mine.word(4096).store(7, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(found.word(4096).load(std::sync::atomic::Ordering::Relaxed), 7);
        assert_eq!(found.word(0).load(std::sync::atomic::Ordering::Relaxed), 0);
    }

    #[test]
    fn another_file_is_not_taken_for_it() {
        let (offer, other) = (Offer::new(4096).unwrap(), Offer::new(4096).unwrap());
        let [process, _, device, inode] = offer.ticket();
        let wrong = [process, other.ticket()[1], device, inode];
        assert!(Mapped::find(wrong, 4096).is_err());
        assert!(Mapped::find([process, -1, device, inode], 4096).is_err());
        assert!(Mapped::find(offer.ticket(), 8192).is_err());
    }
}
