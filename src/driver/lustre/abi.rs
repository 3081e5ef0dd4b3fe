//! Lustre's structures and numbers, as include/lustre.h has them. What must not change is checked
//! here when the library is built; the header checks the same when the stand-ins are.

use std::mem::offset_of;

/// Magic number of a plain layout, as it is written.
pub const LOV_USER_MAGIC_V1: u32 = 0x0BD1_0BD0;
/// Magic number of a layout in several parts.
pub const LOV_USER_MAGIC_COMP_V1: u32 = 0x0BD6_0BD0;
/// Lets a file be created without objects, for SETSTRIPE to make them.
pub const O_LOV_DELAY_CREATE: libc::c_int = 0x2100;

/// Magic number of a list of advices.
pub const LADVISE_MAGIC: u32 = 0x1ADF_1CE0;
/// Most advices in one call: the limit of the header is one that is refused.
pub const MOST_ADVICES: usize = 1023;
/// Locks of this opening are no longer made larger than asked for.
pub const LU_LADVISE_LOCKNOEXPAND: u16 = 3;
/// A lock is asked for before it is needed.
pub const LU_LADVISE_LOCKAHEAD: u16 = 4;
/// For reading.
pub const MODE_READ_USER: u16 = 1;
/// For writing.
pub const MODE_WRITE_USER: u16 = 2;
/// Do not wait for the answer, which nobody hears then.
pub const LF_ASYNC: u32 = 1;
/// The other way round.
pub const LF_UNSET: u32 = 2;
/// The request went out; the other results mean that this client has a lock already.
pub const LLA_RESULT_SENT: u32 = 0;

/// A plain layout without its objects.
#[repr(C, packed)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct LovUserMd {
    pub magic: u32,
    pub pattern: u32,
    pub object_id: [u64; 2],
    pub stripe_size: u32,
    pub stripe_count: u16,
    /// The first server on write; on read the generation of the layout.
    pub stripe_offset: u16,
}

/// Where an object of a file lies.
#[repr(C, packed)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct LovUserOstData {
    pub object_id: [u64; 2],
    pub generation: u32,
    pub index: u32,
}

/// The head of a layout in several parts.
#[repr(C, packed)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct LovCompMd {
    pub magic: u32,
    pub size: u32,
    pub generation: u32,
    pub flags: u16,
    pub entry_count: u16,
    pub mirror_count: u16,
    pub ec_count: u8,
    pub padding: [u8; 13],
}

/// One part of such a layout.
#[repr(C, packed)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct LovCompMdEntry {
    pub id: u32,
    pub flags: u32,
    pub start: u64,
    pub end: u64,
    pub offset: u32,
    pub size: u32,
    pub generation: u32,
    pub timestamp: u64,
    pub extra: u32,
}

/// One advice.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Ladvise {
    pub advice: u16,
    pub mode: u16,
    pub flags: u32,
    pub start: u64,
    /// The last byte, itself included.
    pub end: u64,
    pub result: u32,
    pub value4: u32,
}

/// What stands before advices in an ioctl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct LadviseHeader {
    pub magic: u32,
    pub count: u32,
    pub flags: u64,
    pub value1: u32,
    pub value2: u32,
    pub value3: u64,
}

/// The type of an ioctl's number, which differs between C libraries.
pub type Request = libc::Ioctl;

/// Sets the layout of a file without objects.
pub const LL_IOC_LOV_SETSTRIPE: Request = libc::_IOW::<libc::c_long>(b'f' as u32, 154);
/// Asks for the layout of a file.
pub const LL_IOC_LOV_GETSTRIPE: Request = libc::_IOW::<libc::c_long>(b'f' as u32, 155);
/// Takes the group lock; the argument is the group itself.
pub const LL_IOC_GROUP_LOCK: Request = libc::_IOW::<libc::c_long>(b'f' as u32, 158);
/// Gives it back.
pub const LL_IOC_GROUP_UNLOCK: Request = libc::_IOW::<libc::c_long>(b'f' as u32, 159);
/// Gives advice. Its number speaks of one advice, whatever the argument holds.
pub const LL_IOC_LADVISE: Request = libc::_IOR::<Ladvise>(b'f' as u32, 250);

const _: () = {
    assert!(size_of::<LovUserMd>() == 32);
    assert!(offset_of!(LovUserMd, stripe_size) == 24);
    assert!(offset_of!(LovUserMd, stripe_count) == 28);
    assert!(offset_of!(LovUserMd, stripe_offset) == 30);
    assert!(size_of::<LovUserOstData>() == 24);
    assert!(offset_of!(LovUserOstData, index) == 20);
    assert!(size_of::<LovCompMd>() == 32);
    assert!(offset_of!(LovCompMd, entry_count) == 14);
    assert!(offset_of!(LovCompMd, mirror_count) == 16);
    assert!(size_of::<LovCompMdEntry>() == 48);
    assert!(offset_of!(LovCompMdEntry, start) == 8);
    assert!(offset_of!(LovCompMdEntry, end) == 16);
    assert!(offset_of!(LovCompMdEntry, offset) == 24);
    assert!(offset_of!(LovCompMdEntry, size) == 28);
    assert!(offset_of!(LovCompMdEntry, timestamp) == 36);
    assert!(size_of::<Ladvise>() == 32);
    assert!(offset_of!(Ladvise, mode) == 2);
    assert!(offset_of!(Ladvise, flags) == 4);
    assert!(offset_of!(Ladvise, start) == 8);
    assert!(offset_of!(Ladvise, end) == 16);
    assert!(offset_of!(Ladvise, result) == 24);
    assert!(size_of::<LadviseHeader>() == 32);
    assert!(offset_of!(LadviseHeader, flags) == 8);
    assert!(offset_of!(LadviseHeader, value3) == 24);
};

// Other processors number directions otherwise.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const _: () = {
    assert!(LL_IOC_LOV_SETSTRIPE as u32 == 0x4008_669A);
    assert!(LL_IOC_LOV_GETSTRIPE as u32 == 0x4008_669B);
    assert!(LL_IOC_GROUP_LOCK as u32 == 0x4008_669E);
    assert!(LL_IOC_GROUP_UNLOCK as u32 == 0x4008_669F);
    assert!(LL_IOC_LADVISE as u32 == 0x8020_66FA);
};
