//! How a file is striped: the layout attribute, which needs no library, or the older request.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::abi;
use crate::driver::posix::answer;
use crate::driver::{Layout, SieveStrides};

/// Largest value an extended attribute may have.
const LARGEST_ATTRIBUTE: usize = 65536;
/// Magic numbers of plain layouts: one row of objects, without and with a pool name, and with
/// chosen servers.
const PLAIN_MAGICS: [u32; 3] = [abi::LOV_USER_MAGIC_V1, 0x0BD3_0BD0, 0x0BD5_0BD0];
/// Pattern bits: striped over servers, and kept on the metadata server.
const STRIPED: u32 = 0x001;
const ON_METADATA_SERVER: u32 = 0x100;
/// Flags of a part: an old copy, one that has its objects, one that another may grow into.
const STALE: u32 = 0x01;
const INSTANTIATED: u32 = 0x10;
const EXTENSION: u32 = 0x40;
/// Stripes are a multiple of this.
const SMALLEST_STRIPE: u32 = 65536;
/// More stripes than this no file has; larger values are requests such as "all of them".
const MOST_STRIPES: u16 = 2000;

/// How a file is striped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) struct Stripes {
    pub(in crate::driver) layout: Layout,
    /// A part of the file is no stripe at all.
    pub(in crate::driver) on_metadata_server: bool,
}

/// How the open file is striped, or `None` where that is not known.
pub(in crate::driver) fn stripes(file: BorrowedFd) -> Option<Stripes> {
    let mut attribute = Vec::new();
    attribute.try_reserve_exact(LARGEST_ATTRIBUTE).ok()?;
    attribute.resize(LARGEST_ATTRIBUTE, 0_u8);
    // SAFETY: the name ends with a zero byte, and the buffer is as long as it is said to be.
    let length = unsafe {
        libc::fgetxattr(
            file.as_raw_fd(),
            c"lustre.lov".as_ptr(),
            attribute.as_mut_ptr().cast(),
            attribute.len(),
        )
    };
    if let Ok(length) = usize::try_from(length) {
        return parse(attribute.get(..length)?);
    }
    attribute.fill(0);
    // With this magic an old kernel interface answers with one plain layout, also for a file in
    // several parts, and never with more than fits.
    attribute[..4].copy_from_slice(&abi::LOV_USER_MAGIC_V1.to_ne_bytes());
    // SAFETY: the buffer is larger than the largest plain layout.
    let asked = answer(unsafe {
        libc::ioctl(file.as_raw_fd(), abi::LL_IOC_LOV_GETSTRIPE, attribute.as_mut_ptr())
    });
    // What it did not fill is no object.
    asked.ok().and_then(|()| parse(&attribute[..size_of::<abi::LovUserMd>()]))
}

/// Whether somebody has given a directory a layout for its files.
pub(super) fn has_layout(directory: &CStr) -> bool {
    let name = c"lustre.lov".as_ptr();
    // SAFETY: both names end with zero bytes, and a buffer of no bytes asks for the length.
    unsafe { libc::getxattr(directory.as_ptr(), name, std::ptr::null_mut(), 0) >= 0 }
}

/// Reads a layout, little-endian as it is kept. Whatever could later become a division by zero or
/// a senseless domain is refused here.
fn parse(attribute: &[u8]) -> Option<Stripes> {
    match number(attribute, 0, 4)? as u32 {
        abi::LOV_USER_MAGIC_COMP_V1 => parse_parts(attribute),
        _ => parse_plain(attribute),
    }
}

/// The last part that has its objects counts: most of a file lies there, and if it grows, it grows
/// there. Without any, the last part does.
fn parse_parts(attribute: &[u8]) -> Option<Stripes> {
    let count = number(attribute, 14, 2)? as usize;
    let mut found: Option<(bool, Stripes)> = None;
    let mut on_metadata_server = false;
    for index in 0..count {
        let entry = size_of::<abi::LovCompMd>() + index * size_of::<abi::LovCompMdEntry>();
        let flags = number(attribute, entry + 4, 4)? as u32;
        let offset = number(attribute, entry + 24, 4)? as usize;
        let size = number(attribute, entry + 28, 4)? as usize;
        let part = attribute.get(offset..offset.checked_add(size)?)?;
        on_metadata_server |= number(part, 4, 4)? as u32 & ON_METADATA_SERVER != 0;
        if flags & (STALE | EXTENSION) != 0 {
            continue;
        }
        let ready = flags & INSTANTIATED != 0;
        if let Some(stripes) = parse_plain(part)
            && found.as_ref().is_none_or(|(before, _)| ready || !before)
        {
            found = Some((ready, stripes));
        }
    }
    found.map(|(_, stripes)| Stripes { on_metadata_server, ..stripes })
}

fn parse_plain(attribute: &[u8]) -> Option<Stripes> {
    let magic = number(attribute, 0, 4)? as u32;
    let pattern = number(attribute, 4, 4)? as u32;
    let stripe_size = number(attribute, 24, 4)? as u32;
    let stripe_count = number(attribute, 28, 2)? as u16;
    let sound = PLAIN_MAGICS.contains(&magic)
        && pattern & STRIPED != 0
        && stripe_size != 0
        && stripe_size.is_multiple_of(SMALLEST_STRIPE)
        && (1..=MOST_STRIPES).contains(&stripe_count);
    let objects = if magic == abi::LOV_USER_MAGIC_V1 { 32 } else { 48 };
    sound.then(|| Stripes {
        layout: Layout {
            stripe_size: stripe_size.into(),
            stripe_count: stripe_count.into(),
            alignment: stripe_size.into(),
            // Reading back what is to be written costs a second lock.
            sieve: SieveStrides::REMOTE.without_writes(),
            concurrent_writes: true,
            // What stands in the place of the first server is the generation of the layout.
            first_server: number(attribute, objects + 20, 4),
            ..Layout::default()
        },
        on_metadata_server: false,
    })
}

/// The number of `length` bytes at `at`.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let some = bytes.get(at..at.checked_add(length)?)?;
    Some(some.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(magic: u32, pattern: u32, stripe_size: u32, stripe_count: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(magic.to_le_bytes());
        bytes.extend(pattern.to_le_bytes());
        bytes.extend([0xAB; 16]); // object id
        bytes.extend(stripe_size.to_le_bytes());
        bytes.extend(stripe_count.to_le_bytes());
        bytes.extend([3, 0]); // layout generation
        if magic != PLAIN_MAGICS[0] {
            bytes.extend([b'p'; 16]);
        }
        bytes.extend([0; 20]);
        bytes.extend(7_u32.to_le_bytes()); // server of the first object
        bytes
    }

    /// A layout of these parts, each with flags.
    fn composite(parts: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(abi::LOV_USER_MAGIC_COMP_V1.to_le_bytes());
        bytes.extend([0; 10]);
        bytes.extend((parts.len() as u16).to_le_bytes());
        bytes.extend([0; 16]);
        let mut offset = bytes.len() + 48 * parts.len();
        for (flags, part) in parts {
            bytes.extend([0; 4]);
            bytes.extend(flags.to_le_bytes());
            bytes.extend([0; 16]);
            bytes.extend((offset as u32).to_le_bytes());
            bytes.extend((part.len() as u32).to_le_bytes());
            bytes.extend([0; 16]);
            offset += part.len();
        }
        parts.iter().for_each(|(_, part)| bytes.extend(part));
        bytes
    }

    fn sizes(attribute: &[u8]) -> Option<(u64, u64)> {
        parse(attribute).map(|found| (found.layout.stripe_size, found.layout.stripe_count))
    }

    #[test]
    fn a_plain_layout_is_read() {
        for magic in PLAIN_MAGICS {
            for pattern in [0x001, 0x201] {
                let found = parse(&attribute(magic, pattern, 1 << 20, 8)).unwrap();
                assert_eq!((found.layout.stripe_size, found.layout.stripe_count), (1 << 20, 8));
                assert_eq!((found.layout.alignment, found.layout.sieve.write), (1 << 20, 0));
                assert_eq!(found.layout.first_server, Some(7));
                assert!(!found.on_metadata_server);
            }
        }
    }

    #[test]
    fn of_several_parts_the_last_with_objects_counts() {
        let plain = |size, count| attribute(PLAIN_MAGICS[0], 1, size, count);
        let (small, large) = (plain(1 << 16, 1), plain(1 << 20, 8));
        let both = composite(&[(INSTANTIATED, small.clone()), (INSTANTIATED, large.clone())]);
        assert_eq!(sizes(&both), Some((1 << 20, 8)));
        let first = composite(&[(INSTANTIATED, small.clone()), (0, large.clone())]);
        assert_eq!(sizes(&first), Some((1 << 16, 1)));
        let neither = composite(&[(0, small.clone()), (0, large.clone())]);
        assert_eq!(sizes(&neither), Some((1 << 20, 8)));
        let stale = composite(&[(INSTANTIATED, small), (INSTANTIATED | STALE, large.clone())]);
        assert_eq!(sizes(&stale), Some((1 << 16, 1)));
        let metadata = attribute(PLAIN_MAGICS[0], ON_METADATA_SERVER, 1 << 20, 0);
        let mixed = composite(&[(INSTANTIATED, metadata), (INSTANTIATED, large)]);
        assert_eq!(sizes(&mixed), Some((1 << 20, 8)));
        assert!(parse(&mixed).unwrap().on_metadata_server);
        assert_eq!(sizes(&mixed[..mixed.len() - 1]), None);
        assert_eq!(sizes(&mixed[..100]), None);
    }

    #[test]
    fn what_cannot_be_trusted_is_refused() {
        let magic = PLAIN_MAGICS[0];
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&attribute(magic, 1, 1 << 20, 8)[..29]), None);
        assert_eq!(parse(&attribute(0x0BD6_0BD0, 1, 1 << 20, 8)), None); // no part of it is there
        assert_eq!(parse(&attribute(magic, 0x100, 1 << 20, 8)), None); // on the metadata server
        assert_eq!(parse(&attribute(magic, 1, 0, 8)), None);
        assert_eq!(parse(&attribute(magic, 1, 100_000, 8)), None);
        assert_eq!(parse(&attribute(magic, 1, 1 << 20, 0)), None);
        assert_eq!(parse(&attribute(magic, 1, 1 << 20, 0xFFFF)), None);
    }
}
