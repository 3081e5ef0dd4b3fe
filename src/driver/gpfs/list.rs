//! A list of structures for `gpfs_fcntl`.

use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::OnceLock;

use super::abi::{self, Header};
use crate::driver::library;
use crate::driver::posix::answer;

type Function = unsafe extern "C" fn(c_int, *mut c_void) -> c_int;

const LIBRARIES: [&CStr; 2] = [c"libgpfs.so", c"/usr/lpp/mmfs/lib/libgpfs.so"];

fn function() -> Option<Function> {
    static FOUND: OnceLock<Option<Function>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let address = library::function(&LIBRARIES, c"gpfs_fcntl")?;
        // SAFETY: the function of this name has this type in every release.
        Some(unsafe { std::mem::transmute::<*mut c_void, Function>(address) })
    })
}

/// Whether lists can be sent to anybody.
pub(super) fn is_there() -> bool {
    function().is_some()
}

/// Why not.
pub(super) const MISSING: &str = "there is no libgpfs.so";

/// Words of 8 bytes, which is how structures must start and end.
pub(super) struct List(Vec<u64>);

impl List {
    /// With one structure in it, which must be one of those in `abi`.
    pub(super) fn of<T: Copy>(entry: &T) -> List {
        let mut list = List(vec![0; size_of::<Header>() / 8]);
        list.push_with_numbers(entry, &[]);
        list
    }

    /// Adds a structure that numbers follow, and says so in its length.
    pub(super) fn push_with_numbers<T: Copy>(&mut self, entry: &T, numbers: &[i32]) {
        let (at, words) = (self.0.len(), size_of::<T>() / 8);
        self.0.resize(at + words + numbers.len().div_ceil(2), 0);
        // SAFETY: the structures are plain numbers, whole words, and there is room for this one.
        unsafe { self.0.as_mut_ptr().add(at).cast::<T>().write(*entry) };
        for (index, pair) in numbers.chunks(2).enumerate() {
            let mut bytes = [0; 8];
            for (place, number) in bytes.chunks_mut(4).zip(pair) {
                place.copy_from_slice(&number.to_ne_bytes());
            }
            self.0[at + words + index] = u64::from_ne_bytes(bytes);
        }
        // SAFETY: every structure starts with its length.
        unsafe {
            *self.0.as_mut_ptr().add(at).cast::<c_int>() = ((self.0.len() - at) * 8) as c_int
        };
    }

    /// The first structure, with what came back in it.
    pub(super) fn first<T: Copy>(&self) -> Option<T> {
        let at = size_of::<Header>() / 8;
        let room = self.0.len().checked_sub(at)? * 8 >= size_of::<T>();
        // SAFETY: there are as many bytes, and any bytes are such a structure.
        room.then(|| unsafe { self.0.as_ptr().add(at).cast::<T>().read() })
    }

    /// Hands the list over.
    pub(super) fn send(&mut self, file: BorrowedFd) -> io::Result<()> {
        let length = self.0.len() * 8;
        if length > abi::LONGEST {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        let Some(function) = function() else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, MISSING));
        };
        let header = Header {
            total_length: length as c_int,
            version: abi::VERSION,
            error_offset: 0,
            reserved: 0,
        };
        let list = self.0.as_mut_ptr();
        // SAFETY: the list starts with room for a header, and is as long as that says.
        answer(unsafe {
            list.cast::<Header>().write(header);
            function(file.as_raw_fd(), list.cast())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::abi::{DataShipMap, DataShipStart, FreeRange};
    use super::*;

    #[test]
    fn structures_follow_each_other_with_their_lengths() {
        let mut list = List::of(&DataShipStart::new(4, 0));
        list.push_with_numbers(&DataShipMap::new(1 << 20, 3), &[5, 6, 7]);
        let bytes: Vec<u8> = list.0.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let number = |at: usize| i32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        let start = [16, 2002, 4, 0];
        let map = [32, 2003, 1 << 20, 3, 5, 6, 7, 0];
        let expected: Vec<i32> = start.into_iter().chain(map).collect();
        let found: Vec<i32> = (4..bytes.len() / 4).map(|index| number(4 * index)).collect();
        assert_eq!(found, expected);
        assert_eq!(List::of(&FreeRange::new(8, 9)).first(), Some(FreeRange::new(8, 9)));
    }
}
