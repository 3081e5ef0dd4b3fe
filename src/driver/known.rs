//! What one rank tells the others of the file that it has opened.
//!
//! A host may remember what a name meant before another host removed or renamed the file and
//! created a new one: an NFS client until it hears that the directory has changed, file systems in
//! user space and SMB for as long as they keep names, a second mostly. There ranks compare the
//! number of what they have opened.

use std::ffi::{CStr, CString, OsStr};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use super::detect::{parent, retry_stale, retry_while};
use super::posix::status;

/// What is known of a file before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// Another rank has it open, maybe on another machine: if it seems not to be there, that is an
    /// old answer.
    Exists,
    /// And has told its inode number, by which this machine knows it too: what has another one is
    /// an old answer.
    Inode(u64),
}

/// Who keeps names of files longer must be told not to.
const LONGEST_MEMORY: Duration = Duration::from_secs(4);

/// The name leads to another file.
#[derive(Debug)]
struct OtherFile {
    expected: u64,
    found: u64,
}

impl fmt::Display for OtherFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OtherFile { expected, found } = self;
        write!(f, "another rank has opened inode {expected}, but here this is the name of {found}")
    }
}

impl std::error::Error for OtherFile {}

impl Known {
    /// Opens the file; again, where the answer is an old one.
    pub(super) fn find(
        self,
        path: &CStr,
        mut open: impl FnMut() -> io::Result<OwnedFd>,
    ) -> io::Result<OwnedFd> {
        let patience = match self {
            Known::Nothing => return retry_stale(open),
            Known::Exists => Duration::from_secs(1),
            Known::Inode(_) => LONGEST_MEMORY,
        };
        retry_while(patience, is_old, || {
            self.check(path, open()).inspect_err(|_| ask_for_directory(path))
        })
    }

    /// The other file may also be what refuses to be opened.
    fn check(self, path: &CStr, opened: io::Result<OwnedFd>) -> io::Result<OwnedFd> {
        let Known::Inode(expected) = self else { return opened };
        let found = match &opened {
            Ok(file) => status(file.as_fd())?.st_ino,
            Err(_) => match std::fs::metadata(OsStr::from_bytes(path.to_bytes())) {
                Ok(metadata) => metadata.ino(),
                Err(_) => return opened,
            },
        };
        match found == expected {
            true => opened,
            false => Err(io::Error::other(OtherFile { expected, found })),
        }
    }
}

fn is_old(cause: &io::Error) -> bool {
    matches!(cause.raw_os_error(), Some(libc::ESTALE | libc::ENOENT))
        || cause.get_ref().is_some_and(|inner| inner.is::<OtherFile>())
}

/// The directory of a file. The bytes of a path have no zero byte, so there always is one.
pub(super) fn directory(path: &CStr) -> CString {
    let directory = parent(Path::new(OsStr::from_bytes(path.to_bytes())));
    CString::new(directory.into_os_string().into_vec()).unwrap_or_default()
}

/// Makes an NFS client look whether something has changed in the directory of a file: until then
/// it keeps to what it once found of a name, or did not find.
pub fn ask_for_directory(path: &CStr) {
    let name = directory(path);
    // SAFETY: all zeros is a valid `struct statx`.
    let mut status: libc::statx = unsafe { std::mem::zeroed() };
    let (how, what) = (libc::AT_STATX_FORCE_SYNC, libc::STATX_BASIC_STATS);
    // SAFETY: the name ends with a zero byte, and `status` is a local.
    let _ = unsafe { libc::statx(libc::AT_FDCWD, name.as_ptr(), how, what, &mut status) };
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::driver::Driver;
    use crate::driver::detect::Kind;
    use crate::driver::open::{OpenOptions, open};
    use crate::driver::scratch::Scratch;
    use crate::error::{Class, Result};
    use crate::memory::Piece;

    /// Opens what another rank is told to have open, by the name that an old file may still have.
    fn open_known(scratch: &Scratch, known: Known) -> Result<Box<dyn Driver>> {
        let new = OpenOptions::new(&scratch.path("a"), Kind::Ufs);
        open(&OpenOptions { read: true, write: true, known, ..new })
    }

    fn create(scratch: &Scratch, name: &str, text: &[u8]) -> u64 {
        let file = scratch.open(name, Kind::Ufs);
        file.write_at(0, &[Piece::of(text)]).unwrap();
        file.inode().unwrap()
    }

    fn rename(scratch: &Scratch, from: &str, to: &str) {
        let path = |name| scratch.path(name).into_string().unwrap();
        std::fs::rename(path(from), path(to)).unwrap();
    }

    fn check_found(make_old: impl Fn(&Scratch)) {
        let scratch = Scratch::on_disk();
        make_old(&scratch);
        let new = create(&scratch, "new", b"new");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                rename(&scratch, "a", "old");
                rename(&scratch, "new", "a");
            });
            let file = open_known(&scratch, Known::Inode(new)).unwrap();
            assert_eq!(file.inode(), Some(new));
            file.write_at(0, &[Piece::of(b"NEW")]).unwrap();
        });
        assert_eq!(scratch.bytes("a"), b"NEW");
    }

    #[test]
    fn a_name_that_still_means_another_file_is_looked_up_again() {
        check_found(|scratch| assert_ne!(create(scratch, "a", b"old"), 0));
        // this one cannot even be opened so
        check_found(|scratch| {
            std::fs::create_dir(scratch.path("a").to_str().unwrap()).unwrap();
        });
    }

    #[test]
    fn a_name_that_keeps_meaning_another_file_is_an_error() {
        let scratch = Scratch::on_disk();
        let (old, new) = (create(&scratch, "a", b"old"), create(&scratch, "new", b"new"));
        let begun = Instant::now();
        let error = open_known(&scratch, Known::Inode(new)).err().unwrap();
        assert!(begun.elapsed() >= LONGEST_MEMORY);
        assert_eq!(error.class, Class::Io);
        let name = scratch.path("a").into_string().unwrap();
        let text = format!(
            "opening {name} for reading and writing: another rank has opened inode {new}, but here this is the name of {old}"
        );
        assert_eq!(error.text(), text);
        assert_eq!(scratch.bytes("a"), b"old");
    }

    #[test]
    fn the_file_that_is_known_is_opened_at_once() {
        let scratch = Scratch::on_disk();
        let inode = create(&scratch, "real", b"");
        scratch.link("real", "a"); // the number is that of the file
        let begun = Instant::now();
        open_known(&scratch, Known::Inode(inode)).unwrap();
        assert!(begun.elapsed() < LONGEST_MEMORY);
        open_known(&scratch, Known::Exists).unwrap();
    }

    #[test]
    fn a_file_that_may_not_be_opened_says_so_at_once() {
        let scratch = Scratch::on_disk();
        std::fs::create_dir(scratch.path("a").to_str().unwrap()).unwrap();
        let inode = std::fs::metadata(scratch.path("a").to_str().unwrap()).unwrap().ino();
        let error = open_known(&scratch, Known::Inode(inode)).err().unwrap();
        assert_eq!(error.class, Class::BadFile);
    }
}
