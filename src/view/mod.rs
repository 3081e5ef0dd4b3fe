//! What a rank sees of the file, and what lies in its memory.

#![forbid(unsafe_code)]

pub mod array;
pub mod cursor;
pub mod datarep;
pub mod external32;
pub mod layout;
mod node;
pub mod typemap;
