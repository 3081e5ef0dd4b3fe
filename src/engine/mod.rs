//! The engines: what moves the bytes of one access between memory and file.
//!
//! Engines know neither MPI nor datatypes nor file systems. They see a view, a stream of memory,
//! a driver, and the other ranks through [`ranks::Ranks`].

#![forbid(unsafe_code)]

pub mod bounce;
pub mod individual;
pub mod io_array;
pub mod ranks;
pub mod route;
pub mod sieve;
pub mod threads;
pub mod two_phase;
