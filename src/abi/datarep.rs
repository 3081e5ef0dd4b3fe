//! Data representations of the user: his functions, in each of the ways they can be called.

use std::ffi::{c_int, c_void};

use super::arguments::{MPI_Offset, Text};
use super::boundary;
use crate::error::{Class, Error, Result};
use crate::mpi::{self, Datatype};
use crate::view::datarep::{self, ConversionFn, ExtentFn, UserRepresentation};

/// MPI_Datarep_conversion_function and its large count form; handles are words here.
pub(super) type Conversion<Count> = unsafe extern "C-unwind" fn(
    *mut c_void,
    usize,
    Count,
    *mut c_void,
    MPI_Offset,
    *mut c_void,
) -> c_int;

/// MPI_Datarep_extent_function.
pub(super) type Extent = unsafe extern "C-unwind" fn(usize, *mut i64, *mut c_void) -> c_int;

/// `SUBROUTINE (USERBUF, DATATYPE, COUNT, FILEBUF, POSITION, EXTRA_STATE, IERROR)`
pub(super) type FortranConversion = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut c_int,
    *mut c_int,
    *mut c_void,
    *mut MPI_Offset,
    *mut i64,
    *mut c_int,
);

/// `SUBROUTINE (DATATYPE, EXTENT, EXTRA_STATE, IERROR)`
pub(super) type FortranExtent =
    unsafe extern "C-unwind" fn(*mut c_int, *mut i64, *mut i64, *mut c_int);

/// What a function of the user said of its work.
fn verdict(what: &str, code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(Error::new(Class::Conversion, format!("the {what} function returned {code}"))),
    }
}

/// A count in the integers of the user's function.
fn narrow<Count: TryFrom<i64>>(count: i64) -> Result<Count> {
    Count::try_from(count).map_err(|_| {
        let text = format!("{count} elements are too many for the conversion function's count");
        Error::new(Class::ValueTooLarge, text)
    })
}

fn c_conversion<Count: TryFrom<i64> + 'static>(
    function: Conversion<Count>,
    extra_state: usize,
) -> ConversionFn {
    Box::new(move |user_buffer, datatype: Datatype, count, file_buffer, position| {
        let count = narrow(count)?;
        let state = extra_state as *mut c_void;
        // SAFETY: the user registered the function for calls like this one, and the caller of the
        // closure has `count` elements in both buffers.
        let code =
            unsafe { function(user_buffer, datatype.0, count, file_buffer, position, state) };
        verdict("conversion", code)
    })
}

fn c_extent(function: Extent, extra_state: usize) -> ExtentFn {
    Box::new(move |datatype: Datatype| {
        let mut extent = 0;
        // SAFETY: the user registered the function for this, and `extent` is there to be filled.
        let code = unsafe { function(datatype.0, &mut extent, extra_state as *mut c_void) };
        verdict("extent", code).map(|()| extent)
    })
}

pub(super) fn fortran_conversion(function: FortranConversion, extra_state: i64) -> ConversionFn {
    Box::new(move |user_buffer, datatype: Datatype, count, file_buffer, mut position| {
        let (mut datatype, mut count) = (datatype.to_fortran()?, narrow(count)?);
        let (mut state, mut code) = (extra_state, 0);
        // SAFETY: as for C; Fortran takes every argument by address, and all of them live on.
        unsafe {
            function(
                user_buffer,
                &mut datatype,
                &mut count,
                file_buffer,
                &mut position,
                &mut state,
                &mut code,
            );
        }
        verdict("conversion", code)
    })
}

pub(super) fn fortran_extent(function: FortranExtent, extra_state: i64) -> ExtentFn {
    Box::new(move |datatype: Datatype| {
        let (mut datatype, mut state) = (datatype.to_fortran()?, extra_state);
        let (mut extent, mut code) = (0, 0);
        // SAFETY: as for C; Fortran takes every argument by address, and all of them live on.
        unsafe { function(&mut datatype, &mut extent, &mut state, &mut code) };
        verdict("extent", code).map(|()| extent)
    })
}

/// Registers `representation` under `name`, if that is a name.
pub(super) fn register(name: &[u8], representation: UserRepresentation) -> Result<()> {
    let room = mpi::library()?.constants().max_datarep_string;
    match std::str::from_utf8(name) {
        Ok(name) if !name.is_empty() && name.len() < room => {
            datarep::register(name, representation)
        }
        _ => {
            let name = String::from_utf8_lossy(name);
            let text = format!("a data representation cannot have the name {name:?}");
            Err(Error::new(Class::Arg, text))
        }
    }
}

pub(super) fn required<F>(function: Option<F>) -> Result<F> {
    function.ok_or_else(|| Error::new(Class::Arg, "the extent function is null"))
}

/// Registers functions in C; MPI_CONVERSION_FN_NULL is a null pointer there.
fn register_c<Count: TryFrom<i64> + 'static>(
    name: Text,
    read: Option<Conversion<Count>>,
    write: Option<Conversion<Count>>,
    extent: Option<Extent>,
    extra_state: usize,
) -> Result<()> {
    let representation = UserRepresentation {
        read: read.map(|function| c_conversion(function, extra_state)),
        write: write.map(|function| c_conversion(function, extra_state)),
        extent: c_extent(required(extent)?, extra_state),
    };
    register(name.get("datarep")?.to_bytes(), representation)
}

routines! {
    fn MPI_Register_datarep(
        datarep: Text, read: Option<Conversion<c_int>>, write: Option<Conversion<c_int>>,
        extent: Option<Extent>, extra_state: *mut c_void
    ) -> c_int = |routine| boundary::on_no_file(routine, || {
        register_c(datarep, read, write, extent, extra_state.addr())
    });

    fn MPI_Register_datarep_c(
        datarep: Text, read: Option<Conversion<i64>>, write: Option<Conversion<i64>>,
        extent: Option<Extent>, extra_state: *mut c_void
    ) -> c_int = |routine| boundary::on_no_file(routine, || {
        register_c(datarep, read, write, extent, extra_state.addr())
    });
}
