//! Access modes: which combinations there are.

use std::ffi::c_int;

use crate::error::{Class, Error, Result};
use crate::mpi::Constants;
use crate::operation::Direction;

/// How a file was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the standard's
pub struct Amode {
    /// The bits as the MPI of this process has them.
    pub bits: c_int,
    pub read: bool,
    pub write: bool,
    pub create: bool,
    pub excl: bool,
    pub append: bool,
    pub delete_on_close: bool,
    pub unique_open: bool,
    pub sequential: bool,
}

impl Amode {
    /// Checks what the user gave.
    pub fn new(bits: c_int, constants: &Constants) -> Result<Amode> {
        let has = |bit: c_int| bits & bit != 0;
        let (rdonly, rdwr, wronly) =
            (has(constants.mode_rdonly), has(constants.mode_rdwr), has(constants.mode_wronly));
        let amode = Amode {
            bits,
            read: rdonly || rdwr,
            write: rdwr || wronly,
            create: has(constants.mode_create),
            excl: has(constants.mode_excl),
            append: has(constants.mode_append),
            delete_on_close: has(constants.mode_delete_on_close),
            unique_open: has(constants.mode_unique_open),
            sequential: has(constants.mode_sequential),
        };
        let known = constants.mode_rdonly
            | constants.mode_rdwr
            | constants.mode_wronly
            | constants.mode_create
            | constants.mode_excl
            | constants.mode_append
            | constants.mode_delete_on_close
            | constants.mode_unique_open
            | constants.mode_sequential;
        let wrong = if bits & !known != 0 {
            "has bits that mean nothing"
        } else if u8::from(rdonly) + u8::from(rdwr) + u8::from(wronly) != 1 {
            "needs exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY"
        } else if rdonly && (amode.create || amode.excl) {
            "cannot have MPI_MODE_CREATE or MPI_MODE_EXCL with MPI_MODE_RDONLY"
        } else if rdwr && amode.sequential {
            "cannot have MPI_MODE_SEQUENTIAL with MPI_MODE_RDWR"
        } else {
            return Ok(amode);
        };
        Err(Error::new(Class::Amode, format!("access mode {bits:#x} {wrong}")))
    }

    /// Whether data may go this way.
    pub fn allows(&self, direction: Direction) -> Result<()> {
        match direction {
            Direction::Read if !self.read => {
                Err(Error::new(Class::Access, "the file is open for writing only"))
            }
            Direction::Write if !self.write => {
                Err(Error::new(Class::ReadOnly, "the file is open for reading only"))
            }
            _ => Ok(()),
        }
    }
}
