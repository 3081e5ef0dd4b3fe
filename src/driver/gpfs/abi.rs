//! The structures and numbers of GPFS, as include/gpfs.h has them. What must not change is checked
//! here when the library is built; the header checks the same when the stand-ins are.

use std::ffi::{c_int, c_longlong};
use std::mem::offset_of;

/// The version of all lists.
pub const VERSION: c_int = 1;
/// Longest list.
pub const LONGEST: usize = 65536;
/// Most ranges of each kind in one structure of several.
pub const MOST_RANGES: usize = 8;

macro_rules! entries {
    ($($(#[$doc:meta])* $name:ident = $kind:literal { $($field:ident: $type:ty,)* })*) => {
        $($(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub struct $name {
            pub length_of_entry: c_int,
            pub kind_of_entry: c_int,
            $(pub $field: $type,)*
        }

        impl $name {
            /// Its number.
            pub const KIND: c_int = $kind;

            /// With its length and number in front.
            #[allow(clippy::new_without_default, clippy::too_many_arguments)]
            pub fn new($($field: $type),*) -> $name {
                let length_of_entry = size_of::<$name>() as c_int;
                $name { length_of_entry, kind_of_entry: $kind, $($field),* }
            }
        })*
    };
}

/// What a list starts with.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Header {
    pub total_length: c_int,
    pub version: c_int,
    /// Where in the list the entry is that was refused; out.
    pub error_offset: c_int,
    pub reserved: c_int,
}

/// A part of one block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct BlockRange {
    pub block_number: c_longlong,
    pub start: c_int,
    pub length: c_int,
    pub is_write: c_int,
    pub padding: c_int,
}

entries! {
    /// This node will access these bytes and no others; 0 bytes reach to the end of the file.
    AccessRange = 1001 { start: c_longlong, length: c_longlong, is_write: c_int, padding: c_int, }
    /// This node does not need these bytes any more.
    FreeRange = 1002 { start: c_longlong, length: c_longlong, }
    /// These blocks will be accessed soon, and those have been. How many of the first were accepted
    /// comes back; each of them must be given back once.
    MultipleAccessRange = 1003 {
        access_count: c_int,
        release_count: c_int,
        access: [BlockRange; MOST_RANGES],
        release: [BlockRange; MOST_RANGES],
    }
    /// Forget what this node has cached of the file.
    ClearFileCache = 1004 {}
    /// Writes of parts of a block by several nodes are sent without tokens; -1 is no answer.
    FineGrainWriteSharing = 1005 {
        enable: c_int,
        task: c_int,
        tasks: c_int,
        record_size: c_int,
    }
    /// All instances call it and wait for each other.
    DataShipStart = 2002 { instances: c_int, reserved: c_int, }
    /// Which node ships which blocks. Node numbers follow, an even number of them.
    DataShipMap = 2003 { partition_size: c_int, agent_count: c_int, }
    /// All instances call it and wait for each other.
    DataShipStop = 2004 {}
}

const _: () = {
    assert!(size_of::<Header>() == 16);
    assert!(offset_of!(Header, error_offset) == 8);
    assert!(size_of::<AccessRange>() == 32);
    assert!(offset_of!(AccessRange, start) == 8);
    assert!(offset_of!(AccessRange, is_write) == 24);
    assert!(size_of::<FreeRange>() == 24);
    assert!(size_of::<BlockRange>() == 24);
    assert!(offset_of!(BlockRange, start) == 8);
    assert!(offset_of!(BlockRange, is_write) == 16);
    assert!(size_of::<MultipleAccessRange>() == 400);
    assert!(offset_of!(MultipleAccessRange, access_count) == 8);
    assert!(offset_of!(MultipleAccessRange, access) == 16);
    assert!(offset_of!(MultipleAccessRange, release) == 208);
    assert!(size_of::<ClearFileCache>() == 8);
    assert!(size_of::<FineGrainWriteSharing>() == 24);
    assert!(offset_of!(FineGrainWriteSharing, record_size) == 20);
    assert!(size_of::<DataShipStart>() == 16);
    assert!(size_of::<DataShipMap>() == 16);
    assert!(offset_of!(DataShipMap, agent_count) == 12);
    assert!(size_of::<DataShipStop>() == 8);
};
