//! MPI-IO as a drop-in library: one binary below every MPI.
//!
//! ARCHITECTURE.md tells the rooms and the corridor. Each module below is a room.

pub mod abi;
pub mod driver;
pub mod engine;
pub mod error;
pub mod file;
pub mod hint;
pub mod memory;
pub mod mpi;
pub mod operation;
pub mod report;
pub mod run;
pub mod view;

#[cfg(test)]
mod sim;
