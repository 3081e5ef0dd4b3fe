//! What this machine keeps of a file that other machines change.
//!
//! A client in user space may remember small files whole, as GlusterFS's does for a second, and forgets
//! them when the file is changed here.
//!
//! Told to forget a file, the kernel leaves out the pages that are being read at that moment:
//! they arrive a little later, with what was true before. So nothing is read ahead of what is
//! asked for, and who has just got a lock waits for such pages of other processes, and forgets
//! them then.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::posix::status;

/// The kernel forgets only whole pages, and none is larger anywhere.
const LARGEST_PAGE: usize = 64 << 10;

/// From now on only what is asked for is read.
pub(super) fn read_nothing_ahead(file: BorrowedFd<'_>) {
    advise(file, libc::POSIX_FADV_RANDOM);
}

/// Forgets what the client and the kernel have of the file, but for pages that are being read.
pub(super) fn forget(file: BorrowedFd<'_>) {
    change_nothing(file);
    advise(file, libc::POSIX_FADV_DONTNEED);
}

/// Makes a hole where no file has a byte. File systems may refuse it; what counts is that the
/// client takes it for a change. Through an opening for reading only it does not get that far.
fn change_nothing(file: BorrowedFd<'_>) {
    const BEYOND_ALL: i64 = i64::MAX - 1;
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: plain numbers, and the descriptor is open.
    let _ = unsafe { libc::fallocate(file.as_raw_fd(), mode, BEYOND_ALL, 1) };
}

/// Forgets the pages of `range` for which `forget` came too early: those that somebody began to
/// read before the caller was sure of what is in them.
pub(super) fn forget_arriving(file: BorrowedFd<'_>, range: &Range<u64>) {
    let size = status(file).map_or(0, |status| u64::try_from(status.st_size).unwrap_or(0));
    let page = LARGEST_PAGE as u64;
    let (start, end) = (range.start / page * page, range.end.min(size).next_multiple_of(page));
    if start >= end || pages(file, &(start..end)) == Some(0) {
        return;
    }
    wait_for(file, start..end, &mut [0u8; LARGEST_PAGE]);
    // All of it: pages come in groups, and a group that reaches beyond a range stays.
    advise(file, libc::POSIX_FADV_DONTNEED);
}

/// As `forget_arriving`, for all of the file. Where it is not known whether there is such a page,
/// it is not looked for: all of the file would have to be read.
pub(super) fn forget_all_arriving(file: BorrowedFd<'_>) {
    let all = 0..i64::MAX as u64;
    if pages(file, &all).is_some() {
        forget_arriving(file, &all);
    }
}

/// Waits for the pages of `range`, which starts and ends with one, by reading those that are
/// there or on their way.
fn wait_for(file: BorrowedFd<'_>, range: Range<u64>, unwanted: &mut [u8; LARGEST_PAGE]) {
    let page = LARGEST_PAGE as u64;
    if pages(file, &range) == Some(0) {
        return;
    }
    if range.end - range.start > page {
        let middle = range.start + ((range.end - range.start) / 2).next_multiple_of(page);
        wait_for(file, range.start..middle, unwanted);
        wait_for(file, middle..range.end, unwanted);
        return;
    }
    let (into, length) = (unwanted.as_mut_ptr().cast(), unwanted.len());
    // What is read, and whether, does not matter.
    // SAFETY: the bytes go into memory that is as long as is said.
    let _ = unsafe { libc::pread(file.as_raw_fd(), into, length, range.start as i64) };
}

/// Pages of `range` that the kernel has or is about to have; not known on Linux before 6.5.
fn pages(file: BorrowedFd<'_>, range: &Range<u64>) -> Option<u64> {
    /// `cachestat`, which the C library does not name everywhere; the number is the same.
    const CACHESTAT: libc::c_long = 451;
    let range = [range.start, range.end - range.start];
    let mut counts = [0u64; 5];
    let (asked, answer) = (range.as_ptr(), counts.as_mut_ptr());
    // SAFETY: a range of two numbers is read, and five numbers are written.
    let code = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), asked, answer, 0) };
    (code == 0).then_some(counts[0])
}

/// Advice for all of the file, which may be ignored.
fn advise(file: BorrowedFd<'_>, advice: libc::c_int) {
    // SAFETY: plain numbers, and the descriptor is open.
    let _ = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) };
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_has_arrived_is_forgotten() {
        let name = std::env::current_exe().unwrap().with_extension("page-cache");
        std::fs::write(&name, vec![7; 5 << 20]).unwrap();
        let file = std::fs::File::options().read(true).write(true).open(&name).unwrap();
        std::fs::remove_file(&name).unwrap();
        file.sync_all().unwrap();
        // Pages read ahead would arrive after the last look.
        read_nothing_ahead(file.as_fd());
        let all = 0..5 << 20;
        let Some(before) = pages(file.as_fd(), &all) else {
            return; // a kernel that cannot tell
        };
        assert!(before >= (5 << 20) / LARGEST_PAGE as u64, "written, so all of it is there");
        forget_arriving(file.as_fd(), &(70_000..(2 << 20) + 1));
        assert_eq!(pages(file.as_fd(), &all), Some(0));
        let mut byte = [0];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut byte, 4 << 20).unwrap();
        assert_ne!(pages(file.as_fd(), &all), Some(0));
        // Nothing of the range is there, so nothing is done.
        forget_arriving(file.as_fd(), &(0..9));
        assert_ne!(pages(file.as_fd(), &all), Some(0));
        // A range that ends nowhere ends with the file.
        forget_arriving(file.as_fd(), &(0..u64::MAX));
        assert_eq!(pages(file.as_fd(), &all), Some(0));
        forget_arriving(file.as_fd(), &(u64::MAX - 5..u64::MAX));
        forget_arriving(file.as_fd(), &(9..9));
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut byte, 3 << 20).unwrap();
        forget_all_arriving(file.as_fd());
        assert_eq!(pages(file.as_fd(), &all), Some(0));
    }
}
