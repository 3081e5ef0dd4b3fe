//! The engines against a naive model: ranks in one thread, a file in memory, random cases.

#![forbid(unsafe_code)]

mod case;
pub mod disk;
mod individual;
mod metadata;
mod ranks;
mod two_phase;
