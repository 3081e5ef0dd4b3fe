//! The two routines whose Fortran form cannot be served through the C one, because Fortran
//! procedures are handed over and the wrappers of the MPIs do not say so, or call no C routine.
//!
//! Compilers write the names in four ways. The `f08` names are those of the module `mpi_f08`; the
//! arguments are the same there, since its handles are structures of one INTEGER.

use std::ffi::{CStr, c_char, c_int};

use super::arguments::Out;
use super::boundary;
use super::datarep::{self, FortranConversion, FortranExtent};
use super::errhandlers::{self, FortranFunction, UserFunction};
use crate::view::datarep::{ConversionFn, UserRepresentation};

/// Exports one function under all its Fortran names.
macro_rules! fortran {
    ($list:ident = $function:ident $arguments:tt as $($symbol:literal)*) => {
        const $list: &[&str] = &[$($symbol),*];
        $(fortran! { @export $symbol $function $arguments })*
    };
    (@export $symbol:literal $function:ident ($($argument:ident: $type:ty),*)) => {
        const _: () = {
            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn exported($($argument: $type),*) {
                $function($($argument),*)
            }
        };
    };
}

fortran! {
    CREATE_ERRHANDLER = create_errhandler(
        function: FortranFunction, errhandler: Out<c_int>, ierror: Out<c_int>
    ) as
    "mpi_file_create_errhandler" "mpi_file_create_errhandler_" "mpi_file_create_errhandler__"
    "MPI_FILE_CREATE_ERRHANDLER" "mpi_file_create_errhandler_f08_"
    "pmpi_file_create_errhandler" "pmpi_file_create_errhandler_" "pmpi_file_create_errhandler__"
    "PMPI_FILE_CREATE_ERRHANDLER" "pmpi_file_create_errhandler_f08_"
    "pmpir_file_create_errhandler_f08_" "ompi_file_create_errhandler_f"
}

fn create_errhandler(function: FortranFunction, errhandler: Out<c_int>, ierror: Out<c_int>) {
    let code = boundary::on_no_file("MPI_FILE_CREATE_ERRHANDLER", || {
        let created = errhandlers::create(UserFunction::Fortran(function))?;
        errhandler.set("errhandler", created.to_fortran()?)
    });
    let _ = ierror.set("ierror", code); // optional in mpi_f08
}

fortran! {
    REGISTER_DATAREP = register_datarep(
        name: *mut c_char, read: Option<FortranConversion>, write: Option<FortranConversion>,
        extent: Option<FortranExtent>, extra_state: Out<i64>, ierror: Out<c_int>, length: FortranLength
    ) as
    "mpi_register_datarep" "mpi_register_datarep_" "mpi_register_datarep__"
    "MPI_REGISTER_DATAREP" "mpi_register_datarep_f08_"
    "pmpi_register_datarep" "pmpi_register_datarep_" "pmpi_register_datarep__"
    "PMPI_REGISTER_DATAREP" "pmpi_register_datarep_f08_"
    "pmpir_register_datarep_f08_" "ompi_register_datarep_f"
}

/// The length of a string, which compilers put after the last argument. Some pass an int: the
/// lower half is the length in either case.
type FortranLength = usize;

fn register_datarep(
    name: *mut c_char,
    read: Option<FortranConversion>,
    write: Option<FortranConversion>,
    extent: Option<FortranExtent>,
    extra_state: Out<i64>,
    ierror: Out<c_int>,
    length: FortranLength,
) {
    let code = boundary::on_no_file("MPI_REGISTER_DATAREP", || {
        let state = extra_state.get("extra_state")?;
        let representation = UserRepresentation {
            read: conversion(read, state),
            write: conversion(write, state),
            extent: datarep::fortran_extent(datarep::required(extent)?, state),
        };
        // SAFETY: a Fortran caller passes the address of its string and, hidden, its length.
        let name = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length & 0x7fff_ffff) };
        datarep::register(name.trim_ascii_end(), representation)
    });
    let _ = ierror.set("ierror", code); // optional in mpi_f08
}

fn conversion(function: Option<FortranConversion>, extra_state: i64) -> Option<ConversionFn> {
    let function = function.filter(|function| !is_conversion_fn_null(*function))?;
    Some(datarep::fortran_conversion(function, extra_state))
}

/// Whether `function` is MPI_CONVERSION_FN_NULL, which Fortran knows as a procedure of the MPI.
fn is_conversion_fn_null(function: FortranConversion) -> bool {
    const NAMES: [&CStr; 5] = [
        c"mpi_conversion_fn_null_",
        c"mpi_conversion_fn_null",
        c"mpi_conversion_fn_null__",
        c"MPI_CONVERSION_FN_NULL",
        c"__mpi_f08_callbacks_MOD_mpi_conversion_fn_null",
    ];
    NAMES.into_iter().any(|name| {
        // SAFETY: asks for an address by a name that ends in a zero byte.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        symbol.addr() == function as usize
    })
}

/// Every exported Fortran symbol.
pub fn fortran_symbols() -> impl Iterator<Item = &'static str> {
    CREATE_ERRHANDLER.iter().chain(REGISTER_DATAREP).copied()
}
