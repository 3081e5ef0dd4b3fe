//! Datatypes: their bounds, and their typemaps, which are kept with them.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};

use super::constants::Combiner;
use super::contents;
use super::decoder::{Leaves, decode, decode_in_file};
use super::errhandler::no_conversion;
use super::handles::{Datatype, Slot};
use super::library::{Library, call, library, until_nul};
use super::running::epoch;
use crate::error::{Class, Error, Result};
use crate::view::typemap::Typemap;

impl Datatype {
    /// MPI_BYTE.
    pub fn byte() -> Result<Datatype> {
        Ok(Datatype(library()?.handles().byte))
    }

    /// Bytes of data in it.
    pub fn size(self) -> Result<u64> {
        let library = library()?;
        let mut size = 0;
        let get_size = library.functions.type_size_c.or(library.functions.type_size_x);
        let get_size = get_size.ok_or_else(|| missing("PMPI_Type_size_x"))?;
        // SAFETY: a handle of this MPI and a living variable.
        library.check(c"PMPI_Type_size_x", unsafe { get_size(self.0, &mut size) })?;
        Ok(size as u64)
    }

    /// Lower bound, and distance from one to the next.
    pub fn extent(self) -> Result<(i64, i64)> {
        let library = library()?;
        let (mut lb, mut extent) = (0, 0);
        let functions = &library.functions;
        let get_extent = functions.type_get_extent_c.or(functions.type_get_extent_x);
        let get_extent = get_extent.ok_or_else(|| missing("PMPI_Type_get_extent_x"))?;
        // SAFETY: a handle of this MPI and two living variables.
        let code = unsafe { get_extent(self.0, &mut lb, &mut extent) };
        library.check(c"PMPI_Type_get_extent_x", code)?;
        Ok((lb, extent))
    }

    /// A handle that outlives the caller's. Predefined types need none.
    pub fn dup(self) -> Result<Datatype> {
        if self.is_named()? {
            return Ok(self);
        }
        let library = library()?;
        let mut slot = Slot::empty();
        call!(library, type_dup(self.0, slot.pointer()))?;
        Ok(Datatype(slot.word(library)))
    }

    /// Gives it back; predefined types stay.
    pub fn free(self) {
        if let (Ok(library), Ok(false)) = (library(), self.is_named()) {
            let mut slot = Slot::new(library, self.0);
            let _ = call!(library, type_free(slot.pointer()));
        }
    }

    /// Whether it is predefined, with or without a name of its own.
    pub fn is_named(self) -> Result<bool> {
        Ok(contents::combiner(library()?, self)?.is_predefined())
    }

    /// What it is called, for messages; empty if nothing.
    pub fn name(self) -> String {
        let Ok(library) = library() else { return String::new() };
        let mut name = vec![0u8; library.constants().max_object_name + 1];
        let mut length = 0;
        let named = call!(library, type_get_name(self.0, name.as_mut_ptr().cast(), &mut length));
        named.map_or_else(|_| String::new(), |()| until_nul(&name))
    }

    /// Its Fortran integer.
    pub fn to_fortran(self) -> Result<c_int> {
        let library = library()?;
        if library.constants().handle_width == 4 {
            return Ok(self.0 as c_int);
        }
        let convert = library.functions.type_toint.or(library.functions.type_c2f);
        let convert = convert.ok_or_else(no_conversion)?;
        // SAFETY: the handle came from this MPI.
        Ok(unsafe { convert(self.0) })
    }

    /// The handle of a Fortran integer.
    pub fn from_fortran(integer: c_int) -> Result<Datatype> {
        let library = library()?;
        if library.constants().handle_width == 4 {
            return Ok(Datatype(integer as u32 as usize));
        }
        let convert = library.functions.type_fromint.or(library.functions.type_f2c);
        let convert = convert.ok_or_else(no_conversion)?;
        // SAFETY: any integer is answered, at worst with a null handle.
        Ok(Datatype(unsafe { convert(integer) }))
    }

    /// Where its bytes lie, whatever they mean: unlike neighbours are one run.
    pub fn typemap(self) -> Result<Arc<Typemap>> {
        self.kept(Leaves::Bytes)
    }

    /// Where its elements lie, each with its kind.
    pub fn typed_typemap(self) -> Result<Arc<Typemap>> {
        self.kept(Leaves::Elements)
    }

    /// Where its bytes lie in a file whose representation gives predefined types other sizes:
    /// `size` tells them, given the type and its elements.
    pub fn typemap_with(self, size: &dyn Fn(Datatype, &Typemap) -> Result<u64>) -> Result<Typemap> {
        decode_in_file(library()?, self, size)
    }

    fn kept(self, leaves: Leaves) -> Result<Arc<Typemap>> {
        let library = library()?;
        if self.is_null() {
            return Err(Error::new(Class::Type, "the datatype is MPI_DATATYPE_NULL"));
        }
        let kept = kept_with(library, Datatype(library.constants().mask(self.0)))?;
        let place = match leaves {
            Leaves::Bytes => &kept.bytes,
            Leaves::Elements => &kept.elements,
        };
        if let Some(typemap) = place.get() {
            return Ok(typemap.clone());
        }
        let typemap = Arc::new(decode(library, self, leaves)?);
        Ok(place.get_or_init(|| typemap).clone())
    }
}

fn missing(routine: &str) -> Error {
    Error::new(Class::Other, format!("the MPI library of this process has no {routine}"))
}

/// The typemaps of one datatype, as far as they were asked for.
#[derive(Debug, Default)]
struct Kept {
    bytes: OnceLock<Arc<Typemap>>,
    elements: OnceLock<Arc<Typemap>>,
}

/// What is kept for types with a name, whose handles are the same for ever. All others have it as an
/// attribute, which the MPI drops with them: those of MPI_Type_create_f90_real and its like are
/// predefined too, but go when MPI ends (MPICH forgets their attributes then and does not drop
/// them). The lock also orders threads that look for that.
static NAMED: RwLock<BTreeMap<usize, Arc<Kept>>> = RwLock::new(BTreeMap::new());

fn kept_with(library: &Library, datatype: Datatype) -> Result<Arc<Kept>> {
    if let Some(kept) = NAMED.read().get(&datatype.0) {
        return Ok(kept.clone());
    }
    let mut named = NAMED.write();
    let keyval = keyval(library)?;
    let (mut value, mut found) = (std::ptr::null_mut::<c_void>(), 0);
    call!(library, type_get_attr(datatype.0, keyval, &raw mut value, &mut found))?;
    if found != 0 {
        return Ok(share(value));
    }
    let kept = Arc::new(Kept::default());
    if contents::combiner(library, datatype)? == Combiner::Named {
        named.insert(datatype.0, kept.clone());
    } else {
        let value = Arc::into_raw(kept.clone()).cast_mut().cast();
        call!(library, type_set_attr(datatype.0, keyval, value))?;
    }
    Ok(kept)
}

/// One more owner of what an attribute holds.
fn share(value: *mut c_void) -> Arc<Kept> {
    let kept = value.cast_const().cast::<Kept>();
    // SAFETY: the attribute's value came from `Arc::into_raw` and holds one count of its own.
    unsafe {
        Arc::increment_strong_count(kept);
        Arc::from_raw(kept)
    }
}

/// The key under which typemaps are kept with datatypes, made at the first use.
fn keyval(library: &Library) -> Result<c_int> {
    static KEYVAL: Mutex<Option<(u32, c_int)>> = Mutex::new(None);
    let mut known = KEYVAL.lock();
    match *known {
        Some((made, keyval)) if made == epoch() => Ok(keyval),
        _ => {
            let (mut keyval, nothing) = (library.constants().keyval_invalid, std::ptr::null_mut());
            call!(library, type_create_keyval(copy_kept, drop_kept, &mut keyval, nothing))?;
            *known = Some((epoch(), keyval));
            Ok(keyval)
        }
    }
}

/// A duplicate of a datatype has the same typemap.
unsafe extern "C" fn copy_kept(
    _datatype: usize,
    _keyval: c_int,
    _extra_state: *mut c_void,
    value: *mut c_void,
    copy: *mut *mut c_void,
    flag: *mut c_int,
) -> c_int {
    let kept = Arc::into_raw(share(value));
    // SAFETY: the MPI passes pointers to variables of its own.
    unsafe {
        *copy = kept.cast_mut().cast();
        *flag = 1;
    }
    0
}

/// Called by the MPI when the datatype goes. Takes no lock: the MPI may hold one of its own that
/// a thread with ours is waiting for.
unsafe extern "C" fn drop_kept(
    _datatype: usize,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: the attribute's value came from `Arc::into_raw`, and the MPI forgets it now.
    drop(unsafe { Arc::from_raw(value.cast_const().cast::<Kept>()) });
    0
}
