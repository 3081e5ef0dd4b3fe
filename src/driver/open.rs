//! Opening and deleting files.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::advice::{Advisor, Tuning};
use super::detect::{self, Kind};
use super::direct::Direct;
use super::in_use::{self, InUse};
use super::known::{Known, directory};
use super::own_locks::OwnLocks;
use super::posix::{Counters, PosixFile, answer, descriptor, status};
use super::remote::RemoteFile;
use super::transfer::retry;
use super::{Driver, Layout, SieveStrides, gpfs, kernel, lustre, servers};
use crate::error::{Class, Doing, Error, Result};

/// How a file is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Its path, without the prefix that names a file system.
    pub path: CString,
    /// The user will read.
    pub read: bool,
    /// The user will write.
    pub write: bool,
    /// Create it if it does not exist.
    pub create: bool,
    /// Fail if it exists; means something only together with `create`.
    pub exclusive: bool,
    /// Permissions of a new file, before the umask.
    pub permissions: u32,
    /// What another rank has told of it.
    pub known: Known,
    /// The driver that all ranks agreed on.
    pub driver: Kind,
    /// Whether ranks on several machines have it open.
    pub shared_between_hosts: bool,
    /// Whether those keep what they know of it without asking each other.
    pub cached_by_hosts: bool,
    /// How it is to be created and prepared.
    pub tuning: Tuning,
}

impl OpenOptions {
    /// Options for an existing file on one machine, that neither reads nor writes yet.
    pub fn new(path: &CStr, driver: Kind) -> OpenOptions {
        OpenOptions {
            path: path.to_owned(),
            read: false,
            write: false,
            create: false,
            exclusive: false,
            permissions: 0o666,
            known: Known::Nothing,
            driver,
            shared_between_hosts: false,
            cached_by_hosts: false,
            tuning: Tuning::default(),
        }
    }
}

/// Opens a file.
pub fn open(options: &OpenOptions) -> Result<Box<dyn Driver>> {
    let file = open_posix(options)?;
    Ok(match options.driver {
        Kind::Nfs => Box::new(RemoteFile::on_nfs(file, options.shared_between_hosts)?),
        _ if options.shared_between_hosts && options.cached_by_hosts => {
            Box::new(RemoteFile::reopened(file)?)
        }
        Kind::Ufs | Kind::Lustre | Kind::Gpfs => Box::new(file),
    })
}

/// Deletes a file, unless this process has it open through this library.
pub fn delete(path: &CStr) -> Result<()> {
    let doing = || format!("deleting {}", path.to_string_lossy());
    let status = link_status(path).doing(doing)?;
    if status.st_mode & libc::S_IFMT == libc::S_IFDIR {
        return Err(Error::new(Class::BadFile, format!("{}: it is a directory", doing())));
    }
    let openings = in_use::openings((status.st_dev, status.st_ino));
    if openings > 0 {
        let text = format!("{}: this process has it open ({openings} times)", doing());
        return Err(Error::new(Class::FileInUse, text));
    }
    // SAFETY: the path ends with a zero byte.
    retry(|| answer(unsafe { libc::unlink(path.as_ptr()) })).doing(doing)
}

/// Whether this process has the file open through this library.
pub fn in_use(path: &CStr) -> bool {
    link_status(path).is_ok_and(|s| in_use::openings((s.st_dev, s.st_ino)) > 0)
}

/// What an opening may do, which may be more than the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    read: bool,
    write: bool,
}

impl Access {
    fn flags(self) -> libc::c_int {
        match (self.read, self.write) {
            (true, true) => libc::O_RDWR,
            (false, true) => libc::O_WRONLY,
            _ => libc::O_RDONLY,
        }
    }

    fn purpose(self) -> &'static str {
        match (self.read, self.write) {
            (true, true) => "reading and writing",
            (false, true) => "writing",
            _ => "reading",
        }
    }
}

pub(super) fn open_posix(options: &OpenOptions) -> Result<PosixFile> {
    let path = options.path.to_string_lossy().into_owned();
    let asked = Access { read: options.read || !options.write, write: options.write };
    let doing = || format!("opening {path} for {}", asked.purpose());
    let flags = creation_flags(options);
    let (descriptor, access) = open_with(asked, |access| {
        let open = || open_call(&options.path, access.flags() | flags, options.permissions);
        options.known.find(&options.path, open)
    })
    .doing(doing)?;
    let descriptor = striped(options, descriptor, access).doing(doing)?;
    let status = status(descriptor.as_fd()).doing(doing)?;
    if status.st_mode & libc::S_IFMT == libc::S_IFDIR {
        return Err(Error::new(Class::BadFile, format!("{}: it is a directory", doing())));
    }
    let (layout, advisor) = prepare(options, &descriptor, &status);
    let refused = why_not_direct(options.driver, advisor.is_some());
    let bypass = options.tuning.bypass;
    let identity = (status.st_dev, status.st_ino);
    Ok(PosixFile {
        direct: Direct::prepare(descriptor.as_fd(), access.flags(), bypass, refused),
        layout,
        advisor,
        descriptor,
        path,
        kind: options.driver,
        readable: access.read,
        writable: access.write,
        counters: Counters::default(),
        in_use: InUse::new(identity),
        own_locks: OwnLocks::new(identity),
    })
}

fn creation_flags(options: &OpenOptions) -> libc::c_int {
    let mut flags = libc::O_CLOEXEC | libc::O_NOCTTY;
    if options.create {
        flags |= libc::O_CREAT;
        if options.exclusive {
            flags |= libc::O_EXCL;
        }
        if options.driver == Kind::Lustre
            && lustre::wants_stripes(&options.tuning, &directory(&options.path))
        {
            flags |= lustre::DELAYED;
        }
    }
    flags
}

/// Opens for writing only as for both, so that an engine can read what it writes around; without
/// the permission to read it is writing only.
fn open_with<T>(
    asked: Access,
    mut call: impl FnMut(Access) -> io::Result<T>,
) -> io::Result<(T, Access)> {
    if asked == (Access { read: false, write: true }) {
        let both = Access { read: true, write: true };
        match call(both) {
            Err(cause) if cause.raw_os_error() == Some(libc::EACCES) => {}
            outcome => return outcome.map(|opened| (opened, both)),
        }
    }
    call(asked).map(|opened| (opened, asked))
}

fn open_call(path: &CStr, flags: libc::c_int, permissions: u32) -> io::Result<OwnedFd> {
    // SAFETY: the path ends with a zero byte.
    descriptor(unsafe { libc::open(path.as_ptr(), flags, permissions as libc::c_uint) })
}

/// Gives a file that may be new the stripes that were asked for. Where it has none after that, it
/// is opened once more: then it gets those of its directory.
fn striped(options: &OpenOptions, file: OwnedFd, access: Access) -> io::Result<OwnedFd> {
    if creation_flags(options) & lustre::DELAYED != lustre::DELAYED {
        return Ok(file);
    }
    // What it became is reported from what is read back.
    let given = lustre::give_stripes(&file, &options.tuning);
    if given.is_ok() && lustre::stripes(file.as_fd()).is_some() {
        return Ok(file);
    }
    drop(file);
    let flags = access.flags() | libc::O_CLOEXEC | libc::O_NOCTTY;
    open_call(&options.path, flags, options.permissions)
}

/// How the file lies on its servers, and who hears what callers are about to do with it.
fn prepare(
    options: &OpenOptions,
    descriptor: &OwnedFd,
    status: &libc::stat,
) -> (Layout, Option<Box<dyn Advisor>>) {
    let plain = match options.driver {
        Kind::Ufs => Layout::default(),
        _ => Layout { sieve: SieveStrides::REMOTE, ..Layout::default() },
    };
    let file = descriptor.as_fd();
    let tuning = &options.tuning;
    let block = u64::try_from(status.st_blksize).ok().filter(|block| *block > 0);
    match options.driver {
        Kind::Lustre => {
            let stripes = lustre::stripes(file);
            let first = tuning.first;
            let advisor = lustre::Lockahead::prepare(file, tuning.lock_ahead, stripes, first);
            let layout = stripes.map_or(plain, |stripes| stripes.layout);
            (layout, advisor.map(|advisor| Box::new(advisor) as Box<dyn Advisor>))
        }
        // Its tokens are whole blocks of the file system.
        Kind::Gpfs => {
            let alignment = block.unwrap_or(plain.alignment);
            let ahead = tuning.prefetch == Some(true);
            let advisor =
                gpfs::Blocks::prepare(file, &tuning.blocks, ahead, alignment, options.write);
            let layout = Layout { alignment, concurrent_writes: true, ..plain };
            (layout, advisor.map(|advisor| Box::new(advisor) as Box<dyn Advisor>))
        }
        // Two machines that write parts of one page are the case to stay away from.
        Kind::Nfs => (Layout { alignment: page_size().max(plain.alignment), ..plain }, None),
        Kind::Ufs => {
            let magic = detect::magic_of_file(file).unwrap_or(0);
            let sieve = match detect::is_disk(magic) {
                true => SieveStrides::DISK,
                false => plain.sieve,
            };
            let layout = servers::layout(file, magic).unwrap_or(Layout { sieve, ..plain });
            (layout, kernel::Kernel::prepare(tuning))
        }
    }
}

/// Why a file is not opened a second time for transfers past the page cache.
fn why_not_direct(driver: Kind, advised: bool) -> Option<&'static str> {
    match driver {
        Kind::Nfs => Some("this driver makes writes visible by way of the page cache"),
        // Locks and hints of these belong to an opening, and the second has none.
        Kind::Lustre | Kind::Gpfs if advised => Some(
            "what the file system was asked for holds only for accesses through the page cache",
        ),
        _ => None,
    }
}

/// Bytes of a page of memory.
pub(super) fn page_size() -> u64 {
    // SAFETY: a question without arguments in memory.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0)
}

/// lstat: deleting a link deletes the link.
fn link_status(path: &CStr) -> io::Result<libc::stat> {
    // SAFETY: all zeros is a valid `struct stat`, and the call fills it.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero byte, and `status` is a local.
    retry(|| answer(unsafe { libc::lstat(path.as_ptr(), &mut status) }))?;
    Ok(status)
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
