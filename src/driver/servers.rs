//! Stripes of file systems that need no driver of their own: BeeGFS and CephFS tell them by a
//! request and by an attribute.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::posix::answer;
use super::{Layout, SieveStrides};

const BEEGFS: u32 = 0x1983_0326;
const CEPH: u32 = 0x00C3_6400;
const FUSE: u32 = 0x6573_5546;

/// Ceph's client in user space answers this as the kernel's does; others do not know it.
const CEPH_LAYOUT: &CStr = c"ceph.file.layout";

/// Stripes smaller than this are no stripes; larger ones than that no file system has.
const SMALLEST: u64 = 4096;
const LARGEST: u64 = 1 << 32;

/// More servers than this no file has.
const MOST_SERVERS: u64 = 65536;

/// BeeGFS: what GET_STRIPEINFO answers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct StripeInfo {
    pattern: u32,
    chunk_size: u32,
    targets: u16,
}

const GET_STRIPEINFO: libc::Ioctl = libc::_IOR::<StripeInfo>(b'f' as u32, 25);

const _: () = assert!(size_of::<StripeInfo>() == 12);
// Other processors number directions otherwise.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const _: () = assert!(GET_STRIPEINFO as u32 == 0x800C_6619);

/// How the file lies on the servers of such a file system; `None` where it is another one, or
/// where it does not tell.
pub(super) fn layout(file: BorrowedFd, magic: u32) -> Option<Layout> {
    match magic {
        BEEGFS => of_beegfs(stripe_info(file).ok()?),
        CEPH | FUSE => of_ceph(&attribute(file)?),
        _ => None,
    }
}

fn stripe_info(file: BorrowedFd) -> io::Result<StripeInfo> {
    let mut info = StripeInfo::default();
    // SAFETY: the request fills a structure of this size, which `info` is.
    answer(unsafe { libc::ioctl(file.as_raw_fd(), GET_STRIPEINFO, &raw mut info) })?;
    Ok(info)
}

fn attribute(file: BorrowedFd) -> Option<String> {
    let mut value = [0_u8; 512];
    // SAFETY: the name ends with a zero byte, and the buffer is as long as it is said to be.
    let length = unsafe {
        let buffer = value.as_mut_ptr().cast();
        libc::fgetxattr(file.as_raw_fd(), CEPH_LAYOUT.as_ptr(), buffer, value.len())
    };
    let value = value.get(..usize::try_from(length).ok()?)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Every pattern deals chunks to its targets in turn; mirrors are behind them.
fn of_beegfs(info: StripeInfo) -> Option<Layout> {
    striped(u64::from(info.chunk_size), u64::from(info.targets))
}

/// Words such as `stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data`. With one
/// stripe the next object is on another server all the same, but nobody knows on which.
fn of_ceph(text: &str) -> Option<Layout> {
    let number = |name: &str| {
        let words = text.trim_end_matches('\0').split_whitespace();
        words.filter_map(|word| word.split_once('=')).find(|(key, _)| *key == name)?.1.parse().ok()
    };
    striped(number("stripe_unit")?, number("stripe_count")?)
}

/// Nothing that could become a division by zero or a senseless domain.
fn striped(stripe_size: u64, stripe_count: u64) -> Option<Layout> {
    let sensible = (SMALLEST..LARGEST).contains(&stripe_size)
        && (1..=MOST_SERVERS).contains(&stripe_count)
        && stripe_size.is_multiple_of(SMALLEST);
    sensible.then(|| Layout {
        stripe_size,
        stripe_count,
        alignment: stripe_size,
        sieve: SieveStrides::REMOTE,
        concurrent_writes: true,
        ..Layout::default()
    })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    fn check(found: Option<Layout>, expected: Option<(u64, u64)>) {
        assert_eq!(found.map(|layout| (layout.stripe_size, layout.stripe_count)), expected);
    }

    #[test]
    fn beegfs_tells_chunks_and_targets() {
        let of = |chunk_size, targets| of_beegfs(StripeInfo { pattern: 1, chunk_size, targets });
        check(of(512 << 10, 4), Some((512 << 10, 4)));
        check(of(0, 4), None);
        check(of(512 << 10, 0), None);
        check(of(1000, 4), None);
    }

    #[test]
    fn ceph_tells_words() {
        let text = "stripe_unit=1048576 stripe_count=8 object_size=4194304 pool=cephfs.data";
        check(of_ceph(text), Some((1 << 20, 8)));
        check(of_ceph(&format!("{text}\0")), Some((1 << 20, 8)));
        check(of_ceph("stripe_unit=4194304 stripe_count=1"), Some((4 << 20, 1)));
        for text in ["", "stripe_unit=1048576", "stripe_unit=x stripe_count=1", "=", "a=b c"] {
            check(of_ceph(text), None);
        }
        check(of_ceph("stripe_unit=0 stripe_count=1"), None);
        check(of_ceph("stripe_unit=4096 stripe_count=0"), None);
        check(of_ceph("stripe_unit=18446744073709551615 stripe_count=1"), None);
    }

    #[test]
    fn others_tell_nothing() {
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        check(layout(file.as_fd(), 0xEF53), None);
    }
}
