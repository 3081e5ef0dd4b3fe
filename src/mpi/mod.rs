//! The MPI library underneath, in safe clothes.

/// A datatype handle of the MPI underneath, as a machine word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Datatype(pub(crate) usize);
