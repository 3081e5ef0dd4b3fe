//! The C doorway: the routines that a program calls, and nothing else is exported.
//!
//! Every routine is one row of a table: its name, its arguments and one expression. A macro makes
//! of each row the `MPI_` symbol, the `PMPI_` symbol and a description that tests and scripts read.
//! Both prefixes are needed: some Fortran wrappers and every profiling tool call `PMPI_`.
//!
//! # Safety
//!
//! A caller in C promises what the MPI standard asks of it: a pointer that is not null points to
//! what its type says, strings end in a zero byte, functions have the declared signature. File
//! handles are the exception: they are checked, and a wrong one is MPI_ERR_FILE.

#![allow(non_camel_case_types)] // the types have the names of mpi.h

#[macro_use]
mod table;

mod arguments;
mod boundary;
mod cxx;
mod data_access;
mod datarep;
mod errhandlers;
mod extension;
mod file;
mod fortran;
mod handles;
mod open;
mod pointers;
mod request;
mod view;

pub use arguments::Kind;
pub use fortran::fortran_symbols;
pub use table::{Routine, routines};
