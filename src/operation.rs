//! One data access as one value, whichever of the 28 routines it came through.

use crate::mpi::Datatype;

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Direction {
    Read,
    Write,
}

/// Where in the file the access starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positioning {
    /// At this offset, in etypes of the view.
    Explicit(i64),
    /// At this rank's own file pointer.
    Individual,
    /// At the pointer that all ranks share; a collective call takes it in rank order.
    Shared,
}

/// Whether the other ranks take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Coordination {
    Independent,
    Collective,
}

/// When the caller wants its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronism {
    /// Before the routine returns.
    Blocking,
    /// Through a request.
    Nonblocking,
    /// From the matching `_end` routine.
    Split,
}

/// The caller's words for its memory: nothing here has been checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Where it starts, or MPI_BOTTOM.
    pub address: usize,
    /// How many of `datatype`.
    pub count: i64,
    /// What lies there.
    pub datatype: Datatype,
}

/// What one data access call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Operation {
    pub direction: Direction,
    pub positioning: Positioning,
    pub coordination: Coordination,
    pub synchronism: Synchronism,
    pub buffer: Buffer,
}
