//! What happened to a file, and which report on it is wanted.

#![forbid(unsafe_code)]

mod wanted;

pub use wanted::{Format, Wanted};
