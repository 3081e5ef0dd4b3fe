//! What a rank sees of the file, and what lies in its memory.

pub mod array;
pub mod cursor;
pub mod datarep;
pub mod external32;
pub mod layout;
pub mod typemap;
