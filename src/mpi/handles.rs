//! Handles as machine words, and the places in memory where the MPI writes them.

use std::ffi::c_void;

use super::constants::Constants;
use super::library::{Library, library};

macro_rules! handle {
    ($($(#[$doc:meta])* $name:ident, $null:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub(crate) usize);

        impl $name {
            /// The handle that a caller passed in a register. Ints leave its upper half
            /// undefined, which is cut off here so that equal handles are equal words.
            pub fn from_word(word: usize) -> $name {
                $name(library().map_or(word, |library| library.constants().mask(word)))
            }

            /// Whether it is the null handle of its kind; true as well where there is no MPI.
            pub fn is_null(self) -> bool {
                library().map_or(true, |library| {
                    let constants = library.constants();
                    constants.mask(self.0) == constants.handles.$null
                })
            }

            /// Writes the handle to a variable of the caller, with the width it has there.
            ///
            /// # Safety
            /// `target` must point to a variable of the handle's type in the MPI underneath.
            pub unsafe fn write(self, target: *mut c_void) {
                let width = library().map_or(8, |library| library.constants().handle_width);
                let slot = Slot::holding(self.0, width);
                // SAFETY: the caller's variable has `width` bytes, the slot at least as many.
                unsafe { target.cast::<u8>().copy_from_nonoverlapping(slot.0.as_ptr(), width) };
            }

            /// Reads the handle from a variable of the caller.
            ///
            /// # Safety
            /// `source` must point to a variable of the handle's type in the MPI underneath.
            pub unsafe fn read(source: *const c_void) -> $name {
                let width = library().map_or(8, |library| library.constants().handle_width);
                let mut slot = Slot([0; 8]);
                // SAFETY: the caller's variable has `width` bytes, the slot at least as many.
                unsafe {
                    source.cast::<u8>().copy_to_nonoverlapping(slot.0.as_mut_ptr(), width);
                }
                $name(slot.word_of(width))
            }
        }
    )*};
}

handle! {
    /// A communicator of the MPI underneath.
    Comm, comm_null;
    /// A datatype of the MPI underneath.
    Datatype, datatype_null;
    /// An info object of the MPI underneath.
    Info, info_null;
    /// A group of the MPI underneath.
    Group, group_null;
    /// An error handler of the MPI underneath.
    Errhandler, errhandler_null;
    /// A request of the MPI underneath.
    Request, request_null;
    /// A window of the MPI underneath.
    Win, win_null;
}

/// Room for one handle of any ABI, which the MPI fills or changes through a pointer.
#[repr(C, align(8))]
#[derive(Debug)]
pub(super) struct Slot([u8; 8]);

impl Slot {
    pub(super) fn empty() -> Slot {
        Slot([0; 8])
    }

    pub(super) fn new(library: &Library, word: usize) -> Slot {
        Slot::holding(word, library.constants().handle_width)
    }

    pub(super) fn pointer(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    pub(super) fn word(&self, library: &Library) -> usize {
        self.word_of(library.constants().handle_width)
    }

    fn holding(word: usize, width: usize) -> Slot {
        let mut bytes = [0; 8];
        match width {
            4 => bytes[..4].copy_from_slice(&(word as u32).to_ne_bytes()),
            _ => bytes.copy_from_slice(&(word as u64).to_ne_bytes()),
        }
        Slot(bytes)
    }

    fn word_of(&self, width: usize) -> usize {
        let [a, b, c, d, ..] = self.0;
        match width {
            4 => u32::from_ne_bytes([a, b, c, d]) as usize,
            _ => u64::from_ne_bytes(self.0) as usize,
        }
    }
}

/// Room for a list of handles.
pub(super) struct Slots {
    bytes: Vec<u64>,
    count: usize,
}

impl Slots {
    pub(super) fn new(count: usize) -> Slots {
        // One more than needed: some MPIs refuse null pointers even for empty lists.
        Slots { bytes: vec![0; count + 1], count }
    }

    pub(super) fn pointer(&mut self) -> *mut c_void {
        self.bytes.as_mut_ptr().cast()
    }

    /// The handles that the MPI wrote, which are packed with the width they have there.
    pub(super) fn words(&self, constants: &Constants) -> Vec<usize> {
        let bytes = self.bytes.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let handles = bytes.chunks_exact(constants.handle_width).take(self.count);
        let word = |handle: &[u8]| {
            let mut slot = Slot::empty();
            slot.0[..handle.len()].copy_from_slice(handle);
            slot.word_of(handle.len())
        };
        handles.map(word).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_keeps_the_width_of_the_abi() {
        let narrow = Slot::holding(0xdead_beef_4400_0000, 4);
        assert_eq!(narrow.word_of(4), 0x4400_0000);
        assert_eq!(narrow.0[4..], [0; 4]);
        let wide = Slot::holding(0xdead_beef_4400_0000, 8);
        assert_eq!(wide.word_of(8), 0xdead_beef_4400_0000);
    }

    #[test]
    fn a_list_is_packed_as_the_mpi_writes_it() {
        let mut slots = Slots::new(3);
        let narrow = [0x4c00_0405u32, 0x8c00_0001, 0x4c00_010d];
        // SAFETY: the list has room for three handles of eight bytes.
        unsafe { slots.pointer().cast::<u32>().copy_from(narrow.as_ptr(), 3) };
        assert_eq!(slots.words(&Constants::mpich()), [0x4c00_0405, 0x8c00_0001, 0x4c00_010d]);
        let mut slots = Slots::new(2);
        // SAFETY: as above.
        unsafe { slots.pointer().cast::<u64>().copy_from([0x209, 0x247].as_ptr(), 2) };
        assert_eq!(slots.words(&Constants::standard()), [0x209, 0x247]);
    }

    #[test]
    fn a_handle_without_an_mpi_is_null() {
        assert!(Comm(7).is_null());
        assert_eq!(Datatype::from_word(usize::MAX), Datatype(usize::MAX));
    }
}
