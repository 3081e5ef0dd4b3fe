//! File handles: names of open files that can be checked, never addresses.
//!
//! A handle is a word whose upper half spells `MPIO` and whose lower half is a positive Fortran
//! INTEGER: the slot of the file and how often that slot was used before. So a closed, a foreign
//! or a random handle is recognised without looking at any memory, and the conversions to and from
//! Fortran are arithmetic.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::Arc;

use parking_lot::RwLock;

use super::arguments::{Argument, Kind};
use super::errhandlers::Handler;
use crate::error::{Class, Error, Result};
use crate::file::File;
use crate::mpi::{self, Abi};

const MARK: usize = 0x4D50_494F << 32;
const SLOT_BITS: u32 = 20;
const LAST_GENERATION: u32 = (1 << (31 - SLOT_BITS)) - 1;

/// MPI_FILE_NULL as an integer of Fortran, before and since the standard ABI.
const FORTRAN_FILE_NULL: [c_int; 2] = [0, 280];

/// MPI_File as the caller has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct MPI_File(usize);

impl Argument for MPI_File {
    const KIND: Kind = Kind::File;
}

impl MPI_File {
    /// MPI_FILE_NULL of the MPI underneath.
    pub(super) fn null() -> MPI_File {
        MPI_File(mpi::library().map_or(0, |library| library.constants().handles.file_null))
    }

    /// The handle with this number; of numbers that no file ever had, the null handle.
    pub(super) fn from_integer(integer: c_int) -> MPI_File {
        match u32::try_from(integer) {
            Ok(id) if id >> SLOT_BITS != 0 => MPI_File(MARK | id as usize),
            _ => MPI_File::null(),
        }
    }

    /// The number of the handle for Fortran; -1 for a word that was never a handle.
    pub(super) fn to_integer(self) -> c_int {
        match self.id() {
            Some(id) => id as c_int,
            None if self == MPI_File::null() => fortran_file_null(),
            None => -1,
        }
    }

    fn id(self) -> Option<u32> {
        (self.0 & !0x7fff_ffff == MARK).then_some(self.0 as u32)
    }
}

/// What MPI_FILE_NULL is in a Fortran program of the MPI underneath.
fn fortran_file_null() -> c_int {
    let standard = mpi::library().is_ok_and(|library| library.abi() == Abi::Standard);
    FORTRAN_FILE_NULL[usize::from(standard)]
}

/// An open file and the error handler attached to its handle.
pub(super) struct OpenFile {
    pub(super) file: Arc<File>,
    pub(super) handler: Handler,
}

static OPEN_FILES: RwLock<Slab<Arc<OpenFile>>> = RwLock::new(Slab::new());

/// A new handle for `open_file`.
pub(super) fn insert(open_file: OpenFile) -> Result<MPI_File> {
    match OPEN_FILES.write().insert(Arc::new(open_file)) {
        Some(id) => Ok(MPI_File(MARK | id as usize)),
        None => Err(Error::new(Class::NoMem, "all file handles are in use")),
    }
}

/// The file that `fh` names.
pub(super) fn find(fh: MPI_File) -> Result<Arc<OpenFile>> {
    let found = fh.id().and_then(|id| OPEN_FILES.read().get(id).cloned());
    found.ok_or_else(|| {
        let text = match fh {
            null if null == MPI_File::null() => "the file handle is MPI_FILE_NULL".to_owned(),
            MPI_File(word) => format!("the file handle {word:#x} is not that of an open file"),
        };
        Error::new(Class::File, text)
    })
}

/// Takes the name of a file away; from now on `fh` is stale.
pub(super) fn remove(fh: MPI_File) -> Option<Arc<OpenFile>> {
    fh.id().and_then(|id| OPEN_FILES.write().remove(id))
}

routines! {
    fn MPI_File_c2f(file: MPI_File) -> c_int = |_routine| file.to_integer();
    fn MPI_File_f2c(file: c_int) -> MPI_File = |_routine| MPI_File::from_integer(file);
    fn MPI_File_toint(file: MPI_File) -> c_int = |_routine| file.to_integer();
    fn MPI_File_fromint(file: c_int) -> MPI_File = |_routine| MPI_File::from_integer(file);
}

/// Entries under numbers that are never given out twice.
struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: VecDeque<u32>,
}

struct Slot<T> {
    generation: u32,
    entry: Option<T>,
}

impl<T> Slab<T> {
    const fn new() -> Slab<T> {
        Slab { slots: Vec::new(), free: VecDeque::new() }
    }

    /// The number of the new entry: at least `1 << SLOT_BITS`, since generations count from one.
    fn insert(&mut self, entry: T) -> Option<u32> {
        let index = match self.free.pop_front() {
            Some(index) => index,
            None if self.slots.len() < 1 << SLOT_BITS => {
                self.slots.push(Slot { generation: 0, entry: None });
                self.slots.len() as u32 - 1
            }
            None => return None,
        };
        let slot = &mut self.slots[index as usize];
        slot.generation += 1;
        slot.entry = Some(entry);
        Some(slot.generation << SLOT_BITS | index)
    }

    fn get(&self, id: u32) -> Option<&T> {
        let slot = self.slots.get(Self::index(id))?;
        slot.entry.as_ref().filter(|_| slot.generation == id >> SLOT_BITS)
    }

    /// Takes an entry out. A slot whose generations are used up is not used again.
    fn remove(&mut self, id: u32) -> Option<T> {
        self.get(id)?;
        let slot = &mut self.slots[Self::index(id)];
        if slot.generation < LAST_GENERATION {
            self.free.push_back(Self::index(id) as u32);
        }
        slot.entry.take()
    }

    fn index(id: u32) -> usize {
        (id & ((1 << SLOT_BITS) - 1)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_names_its_entry_until_it_is_removed() {
        let mut slab = Slab::new();
        let (a, b) = (slab.insert('a').unwrap(), slab.insert('b').unwrap());
        assert_eq!((slab.get(a), slab.get(b)), (Some(&'a'), Some(&'b')));
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.get(a), None);
        assert_eq!(slab.remove(a), None);
        assert_eq!(slab.get(b), Some(&'b'));
    }

    #[test]
    fn a_slot_used_again_has_another_number() {
        let mut slab = Slab::new();
        let first = slab.insert(1).unwrap();
        slab.remove(first);
        let second = slab.insert(2).unwrap();
        assert_eq!(slab.slots.len(), 1);
        assert_ne!(first, second);
        assert_eq!((slab.get(first), slab.get(second)), (None, Some(&2)));
    }

    #[test]
    fn numbers_are_positive_fortran_integers_and_never_come_back() {
        let mut slab = Slab::new();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..=LAST_GENERATION {
            let id = slab.insert(()).unwrap();
            assert!(seen.insert(id));
            assert!((4097..=i32::MAX as u32).contains(&id), "{id}");
            slab.remove(id);
        }
        assert_eq!(slab.slots.len(), 2, "the first slot has had all its generations");
    }

    #[test]
    fn foreign_words_are_no_handles() {
        let word = MARK | 5 << SLOT_BITS;
        assert_eq!(MPI_File(word).id(), Some(5 << SLOT_BITS));
        for foreign in [0, 1, 0x118, usize::MAX, word << 1, word ^ 1 << 63, word | 1 << 31] {
            assert_eq!(MPI_File(foreign).id(), None, "{foreign:#x}");
            assert!(find(MPI_File(foreign)).is_err_and(|error| error.class == Class::File));
        }
        assert!(find(MPI_File(word)).is_err_and(|error| error.class == Class::File));
    }

    #[test]
    fn an_integer_comes_back_as_the_handle_it_was() {
        let handle = MPI_File(MARK | 7 << SLOT_BITS | 12);
        assert_eq!(MPI_File::from_integer(handle.to_integer()), handle);
        for integer in FORTRAN_FILE_NULL.into_iter().chain([-1, 4096, c_int::MIN]) {
            assert_eq!(MPI_File::from_integer(integer), MPI_File::null());
        }
        assert_eq!(MPI_File(0x7fff_1234).to_integer(), -1);
    }
}
