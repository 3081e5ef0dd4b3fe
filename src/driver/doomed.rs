//! A file that is deleted when it is closed.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::posix::answer;
use super::transfer::retry;
use crate::error::{Class, Doing, Error, Result};

/// Where its name stands, and which file that is. The path alone may lead to another file by the
/// time it is closed: after `chdir`, or where somebody has given the name to another one.
#[derive(Debug)]
pub struct Doomed {
    path: CString,
    /// The directory and the name in it; none where the directory cannot be kept open.
    place: Option<(OwnedFd, CString)>,
    identity: Option<(libc::dev_t, libc::ino_t)>,
}

impl Doomed {
    /// Of a file that has just been opened.
    pub fn new(path: &CStr) -> Doomed {
        let mut doomed = Doomed { path: path.to_owned(), place: place(path), identity: None };
        doomed.identity = doomed.look().ok();
        doomed
    }

    /// Device and number of what has the name now.
    fn look(&self) -> io::Result<(libc::dev_t, libc::ino_t)> {
        let (directory, name) = self.name();
        // SAFETY: all zeros is a valid `struct stat`, and the call fills it.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the name ends with a zero byte, and `status` is a local.
        retry(|| answer(unsafe { libc::fstatat(directory, name.as_ptr(), &mut status, 0) }))?;
        Ok((status.st_dev, status.st_ino))
    }

    /// What the system finds it by.
    fn name(&self) -> (libc::c_int, &CStr) {
        match &self.place {
            Some((directory, name)) => (directory.as_raw_fd(), name),
            None => (libc::AT_FDCWD, &self.path),
        }
    }

    /// Fails if another file has the name. To be asked while this one is open: afterwards its
    /// number may be given to another.
    pub fn check(self) -> Result<Doomed> {
        let doing = || format!("deleting {}", self.path.to_string_lossy());
        if let Some(before) = self.identity
            && before != self.look().doing(doing)?
        {
            let text = format!("{}: another file has that name now, and stays", doing());
            return Err(Error::new(Class::NoSuchFile, text));
        }
        Ok(self)
    }

    /// Deletes it.
    pub fn remove(self) -> Result<()> {
        let (directory, name) = self.name();
        // SAFETY: the name ends with a zero byte.
        retry(|| answer(unsafe { libc::unlinkat(directory, name.as_ptr(), 0) }))
            .doing(|| format!("deleting {}", self.path.to_string_lossy()))
    }
}

fn place(path: &CStr) -> Option<(OwnedFd, CString)> {
    let bytes = path.to_bytes();
    let (directory, name) = match bytes.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (&bytes[..=slash], &bytes[slash + 1..]),
        None => (&b"."[..], bytes),
    };
    let (directory, name) = (CString::new(directory).ok()?, CString::new(name).ok()?);
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte.
    let descriptor = unsafe { libc::open(directory.as_ptr(), flags) };
    // SAFETY: a descriptor that was just opened and belongs to nobody else.
    (descriptor >= 0).then(|| (unsafe { OwnedFd::from_raw_fd(descriptor) }, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_the_file_itself_is_deleted() {
        let directory =
            std::env::temp_dir().join(format!("mpiio-rs-doomed-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("scratch");
        let name = CString::new(path.to_str().unwrap()).unwrap();
        let doomed = || {
            fs::write(&path, "scratch").unwrap();
            Doomed::new(&name)
        };
        doomed().check().and_then(Doomed::remove).unwrap();
        assert!(!path.exists());

        let replaced = doomed();
        let other = directory.join("other");
        fs::write(&other, "other").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(replaced.check().unwrap_err().class, Class::NoSuchFile);
        assert_eq!(fs::read(&path).unwrap(), b"other");

        let moved = doomed();
        let elsewhere = directory.with_extension("moved");
        fs::rename(&directory, &elsewhere).unwrap();
        moved.check().and_then(Doomed::remove).unwrap();
        assert!(!elsewhere.join("scratch").exists());
        fs::remove_dir_all(&elsewhere).unwrap();
    }
}
