//! Info objects as lists of key and value.

use std::ffi::{CStr, CString, c_int};

use super::handles::{Info, Slot};
use super::library::{Library, call, library, until_nul};
use crate::error::{Class, Error, Result};

impl Info {
    /// MPI_INFO_NULL.
    pub fn null() -> Result<Info> {
        Ok(Info(library()?.handles().info_null))
    }

    /// All keys and values, in the MPI's order; none for the null handle.
    pub fn entries(self) -> Result<Vec<(String, String)>> {
        if self.is_null() {
            return Ok(Vec::new());
        }
        let library = library()?;
        let mut count = 0;
        call!(library, info_get_nkeys(self.0, &mut count))?;
        let mut entries = Vec::with_capacity(count as usize);
        for index in 0..count {
            let mut key = vec![0u8; library.constants().max_info_key + 1];
            call!(library, info_get_nthkey(self.0, index, key.as_mut_ptr().cast()))?;
            let key = until_nul(&key);
            if let Some(value) = self.value(library, &c_string(&key)?)? {
                entries.push((key, value));
            }
        }
        Ok(entries)
    }

    fn value(self, library: &Library, key: &CStr) -> Result<Option<String>> {
        let functions = &library.functions;
        let (mut length, mut found): (c_int, c_int) = (0, 0);
        let (Some(get_valuelen), Some(get)) = (functions.info_get_valuelen, functions.info_get)
        else {
            return self.value_string(library, key);
        };
        // SAFETY: a handle of this MPI, a C string and two living ints.
        let code = unsafe { get_valuelen(self.0, key.as_ptr(), &mut length, &mut found) };
        library.check(c"PMPI_Info_get_valuelen", code)?;
        if found == 0 {
            return Ok(None);
        }
        let mut value = vec![0u8; length as usize + 1];
        let address = value.as_mut_ptr().cast();
        // SAFETY: as above; the buffer has room for the value and its NUL.
        let code = unsafe { get(self.0, key.as_ptr(), length, address, &mut found) };
        library.check(c"PMPI_Info_get", code)?;
        Ok((found != 0).then(|| until_nul(&value)))
    }

    /// The routine of MPI-4, for a library that dropped the old pair.
    fn value_string(self, library: &Library, key: &CStr) -> Result<Option<String>> {
        let Some(get_string) = library.functions.info_get_string else {
            return Err(Error::new(Class::Other, "this MPI has no routine to read info values"));
        };
        let mut value = vec![0u8; library.constants().max_info_val + 1];
        let (mut length, mut found) = (value.len() as c_int, 0);
        let address = value.as_mut_ptr().cast();
        // SAFETY: a handle of this MPI, a C string, and a buffer of `length` bytes.
        let code = unsafe { get_string(self.0, key.as_ptr(), &mut length, address, &mut found) };
        library.check(c"PMPI_Info_get_string", code)?;
        Ok((found != 0).then(|| until_nul(&value)))
    }

    /// A new info object, which the caller frees. Entries that the MPI has no room for (Open
    /// MPI: 36 bytes of key, 256 of value) are left out.
    pub fn from_entries(entries: &[(String, String)]) -> Result<Info> {
        let library = library()?;
        let mut slot = Slot::empty();
        call!(library, info_create(slot.pointer()))?;
        let info = Info(slot.word(library));
        let constants = library.constants();
        for (key, value) in entries {
            let fits = !key.is_empty()
                && key.len() < constants.max_info_key
                && value.len() < constants.max_info_val;
            if fits {
                let (key, value) = (c_string(key)?, c_string(value)?);
                call!(library, info_set(info.0, key.as_ptr(), value.as_ptr()))?;
            }
        }
        Ok(info)
    }

    /// Gives it back.
    pub fn free(self) {
        if let Ok(library) = library() {
            let mut slot = Slot::new(library, self.0);
            let _ = call!(library, info_free(slot.pointer()));
        }
    }
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Error::new(Class::Info, format!("the info text {text:?} has a NUL in it")))
}
