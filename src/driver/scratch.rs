//! Directories for tests, removed when dropped.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Driver;
use super::detect::Kind;
use super::open::{OpenOptions, open};

pub(super) struct Scratch {
    directory: PathBuf,
}

impl Scratch {
    /// One on each kind of file system there is here.
    pub(super) fn everywhere() -> Vec<Scratch> {
        let memory = Path::new("/dev/shm");
        let mut all = vec![Scratch::on_disk(), Scratch::within(&std::env::temp_dir())];
        if memory.is_dir() {
            all.push(Scratch::within(memory));
        }
        all
    }

    /// One beside the test program.
    pub(super) fn on_disk() -> Scratch {
        Scratch::within(std::env::current_exe().unwrap().parent().unwrap())
    }

    fn within(parent: &Path) -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let directory = parent.join(format!("driver-test-{}-{number}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        Scratch { directory }
    }

    pub(super) fn path(&self, name: &str) -> CString {
        CString::new(self.directory.join(name).as_os_str().as_bytes()).unwrap()
    }

    pub(super) fn link(&self, target: &str, name: &str) {
        symlink(target, self.directory.join(name)).unwrap();
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.directory.join(name)).unwrap()
    }

    /// Options to create a file for reading and writing.
    pub(super) fn options(&self, name: &str, kind: Kind) -> OpenOptions {
        let new = OpenOptions::new(&self.path(name), kind);
        OpenOptions { read: true, write: true, create: true, ..new }
    }

    /// A file opened with them.
    pub(super) fn open(&self, name: &str, kind: Kind) -> Box<dyn Driver> {
        open(&self.options(name, kind)).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
