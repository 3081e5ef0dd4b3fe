//! What Lustre tells about a file without its library: the layout attribute.

use std::os::fd::{AsRawFd, BorrowedFd};

use super::{Layout, SieveStrides};

/// Largest value an extended attribute may have.
const LARGEST_ATTRIBUTE: usize = 65536;
/// Magic numbers of plain layouts: one row of objects, without and with a pool name, and with
/// chosen servers. Layouts in several parts have another one.
const PLAIN_MAGICS: [u32; 3] = [0x0BD1_0BD0, 0x0BD3_0BD0, 0x0BD5_0BD0];
/// Pattern bit of a file striped over servers.
const STRIPED: u32 = 0x001;
/// Stripes are a multiple of this.
const SMALLEST_STRIPE: u32 = 65536;
/// More stripes than this no file has; larger values are requests such as "all of them".
const MOST_STRIPES: u16 = 2000;

/// How the open file is striped, or `None` where that is not known.
pub(super) fn layout(file: BorrowedFd) -> Option<Layout> {
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
    parse(attribute.get(..usize::try_from(length).ok()?)?)
}

/// Reads a layout attribute, little-endian as it is kept. Whatever could later become a division
/// by zero or a senseless domain is refused here.
fn parse(attribute: &[u8]) -> Option<Layout> {
    let word = |at: usize| Some(u32::from_le_bytes(attribute.get(at..at + 4)?.try_into().ok()?));
    let magic = word(0)?;
    let pattern = word(4)?;
    let stripe_size = word(24)?;
    let stripe_count = u16::from_le_bytes(attribute.get(28..30)?.try_into().ok()?);
    let sound = PLAIN_MAGICS.contains(&magic)
        && pattern & STRIPED != 0
        && stripe_size != 0
        && stripe_size % SMALLEST_STRIPE == 0
        && (1..=MOST_STRIPES).contains(&stripe_count);
    sound.then(|| Layout {
        stripe_size: stripe_size.into(),
        stripe_count: stripe_count.into(),
        alignment: stripe_size.into(),
        sieve: SieveStrides::REMOTE,
        concurrent_writes: true,
    })
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
        bytes
    }

    #[test]
    fn a_plain_layout_is_read() {
        for magic in PLAIN_MAGICS {
            for pattern in [0x001, 0x201] {
                let expected = Layout {
                    stripe_size: 1 << 20,
                    stripe_count: 8,
                    alignment: 1 << 20,
                    sieve: SieveStrides::REMOTE,
                    concurrent_writes: true,
                };
                assert_eq!(parse(&attribute(magic, pattern, 1 << 20, 8)), Some(expected));
            }
        }
    }

    #[test]
    fn what_cannot_be_trusted_is_refused() {
        let magic = PLAIN_MAGICS[0];
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&attribute(magic, 1, 1 << 20, 8)[..29]), None);
        assert_eq!(parse(&attribute(0x0BD6_0BD0, 1, 1 << 20, 8)), None); // in several parts
        assert_eq!(parse(&attribute(magic, 0x100, 1 << 20, 8)), None); // on the metadata server
        assert_eq!(parse(&attribute(magic, 1, 0, 8)), None);
        assert_eq!(parse(&attribute(magic, 1, 100_000, 8)), None);
        assert_eq!(parse(&attribute(magic, 1, 1 << 20, 0)), None);
        assert_eq!(parse(&attribute(magic, 1, 1 << 20, 0xFFFF)), None);
    }
}
