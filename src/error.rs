//! Errors as values: what class the standard gives them, what was being done, and why it failed.

use std::fmt;
use std::io;

/// Result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The MPI error classes that file operations return, independent of any MPI's numbering.
///
/// The discriminants are ours: ranks send them to each other when they agree on a verdict.
/// `mpi::constants` knows what number the MPI underneath gives to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the standard's
pub enum Class {
    Buffer = 1,
    Count,
    Type,
    Comm,
    Arg,
    Access,
    Amode,
    BadFile,
    Conversion,
    Disp,
    DupDatarep,
    FileExists,
    FileInUse,
    File,
    Info,
    InfoKey,
    InfoValue,
    Io,
    NoMem,
    NotSame,
    NoSpace,
    NoSuchFile,
    Quota,
    ReadOnly,
    Request,
    UnsupportedDatarep,
    UnsupportedOperation,
    Other,
    Intern,
    ValueTooLarge,
}

impl Class {
    /// Every class, in the order of its code.
    pub const ALL: [Class; 30] = {
        use Class::*;
        [
            Buffer,
            Count,
            Type,
            Comm,
            Arg,
            Access,
            Amode,
            BadFile,
            Conversion,
            Disp,
            DupDatarep,
            FileExists,
            FileInUse,
            File,
            Info,
            InfoKey,
            InfoValue,
            Io,
            NoMem,
            NotSame,
            NoSpace,
            NoSuchFile,
            Quota,
            ReadOnly,
            Request,
            UnsupportedDatarep,
            UnsupportedOperation,
            Other,
            Intern,
            ValueTooLarge,
        ]
    };

    /// The code that ranks exchange; never zero.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The class with this code; an unknown code becomes `Other`.
    pub fn from_code(code: u8) -> Class {
        let index = usize::from(code).wrapping_sub(1);
        Class::ALL.get(index).copied().unwrap_or(Class::Other)
    }

    /// The class for a failed system call.
    pub fn from_errno(errno: i32) -> Class {
        match errno {
            libc::ENOENT | libc::ENODEV | libc::ENXIO => Class::NoSuchFile,
            libc::ENAMETOOLONG | libc::ENOTDIR | libc::EISDIR | libc::ELOOP => Class::BadFile,
            libc::EACCES | libc::EPERM => Class::Access,
            libc::EEXIST => Class::FileExists,
            libc::EROFS => Class::ReadOnly,
            libc::ENOSPC => Class::NoSpace,
            libc::EDQUOT => Class::Quota,
            libc::EBUSY | libc::ETXTBSY => Class::FileInUse,
            libc::ENOMEM => Class::NoMem,
            libc::EOPNOTSUPP | libc::ENOSYS => Class::UnsupportedOperation,
            _ => Class::Io,
        }
    }
}

/// A failure: its class and one line that names the operation, its values and the cause.
#[derive(Clone, Debug)]
pub struct Error {
    /// What the standard calls it.
    pub class: Class,
    text: String,
}

impl Error {
    /// An error that this library found by itself. `text` is lower case, with real values.
    pub fn new(class: Class, text: impl Into<String>) -> Error {
        Error { class, text: text.into() }
    }

    /// A failed system call: `doing` says what was attempted, with values.
    pub fn system(cause: &io::Error, doing: impl fmt::Display) -> Error {
        let class = match cause.raw_os_error() {
            Some(errno) => Class::from_errno(errno),
            None if cause.kind() == io::ErrorKind::OutOfMemory => Class::NoMem,
            None => Class::Io,
        };
        Error { class, text: format!("{doing}: {cause}") }
    }

    /// The same error, with what it happened in put before its text.
    pub fn within(mut self, outer: impl fmt::Display) -> Error {
        self.text = format!("{outer}: {}", self.text);
        self
    }

    /// The line a user reads.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// Says what was being done, at the place of the system call.
pub trait Doing<T> {
    /// Turns a system error into ours; `doing` is only evaluated on failure.
    fn doing<D: fmt::Display>(self, doing: impl FnOnce() -> D) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing<D: fmt::Display>(self, doing: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|cause| Error::system(&cause, doing()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_survives_the_journey_to_another_rank() {
        for class in Class::ALL {
            assert_eq!(Class::from_code(class.code()), class);
        }
        assert_eq!(Class::from_code(0), Class::Other);
        assert_eq!(Class::from_code(200), Class::Other);
    }

    #[test]
    fn a_system_error_names_what_was_done() {
        let failed: io::Result<()> = Err(io::Error::from_raw_os_error(libc::ENOSPC));
        let error = failed.doing(|| "writing 8 bytes at offset 16 of /scratch/a").unwrap_err();
        assert_eq!(error.class, Class::NoSpace);
        assert_eq!(
            error.text(),
            "writing 8 bytes at offset 16 of /scratch/a: No space left on device (os error 28)"
        );
    }
}
