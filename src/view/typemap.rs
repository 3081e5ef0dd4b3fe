//! typemap
