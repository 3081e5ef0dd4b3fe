//! Hints: what users ask for, through `MPI_Info`, hint files and the environment.
//!
//! [`table`] has one row per hint, and everything about a hint comes from its row: how its value
//! is read, what `MPI_File_get_info` answers, what the report says, the README and the man page.
//!
//! What was said and what it means are two types. A [`Request`] is the list of words and where
//! each was said; ranks compare their requests and take rank 0's where they differ. [`Hints`] is
//! the meaning, typed, which the other rooms read.
//!
//! Hints are advice: a bad value is kept out with a reason, and nothing in this room can fail the
//! call it came with.

#![forbid(unsafe_code)]

mod document;
mod environment;
mod facts;
mod glob;
mod hints;
mod request;
mod rows;
pub mod table;
mod value;

pub use document::{markdown, roff};
pub use environment::Environment;
pub use facts::{Facts, Override};
pub use hints::{Hints, Line};
pub use request::{Entry, Request, Source};
pub use value::Toggle;
