//! Split collectives: an access between a begin and its end.

use super::File;
use crate::error::{Class, Error, Result};
use crate::operation::Operation;

/// The six pairs of routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the standard's
pub enum SplitRoutine {
    ReadAtAll,
    ReadAll,
    ReadOrdered,
    WriteAtAll,
    WriteAll,
    WriteOrdered,
}

impl SplitRoutine {
    fn name(self) -> &'static str {
        match self {
            SplitRoutine::ReadAtAll => "read_at_all",
            SplitRoutine::ReadAll => "read_all",
            SplitRoutine::ReadOrdered => "read_ordered",
            SplitRoutine::WriteAtAll => "write_at_all",
            SplitRoutine::WriteAll => "write_all",
            SplitRoutine::WriteOrdered => "write_ordered",
        }
    }
}

/// What has begun and not ended.
pub(super) struct Split {
    routine: SplitRoutine,
    /// Bytes moved.
    size: u64,
}

impl File {
    /// Begins an access. The standard lets the whole of it happen here; so a failure is known to
    /// all ranks before any of them goes on, and nothing has begun then. Collective.
    pub fn begin(&self, routine: SplitRoutine, operation: &Operation) -> Result<()> {
        let size = self.access(operation)?;
        *self.split.lock() = Some(Split { routine, size });
        Ok(())
    }

    /// Ends the access that `begin` began, and tells how many bytes it moved.
    pub fn end(&self, routine: SplitRoutine, _address: usize) -> Result<u64> {
        let mut slot = self.split.lock();
        match &*slot {
            Some(begun) if begun.routine != routine => {
                let (begun, ended) = (begun.routine.name(), routine.name());
                let text = format!("{begun}_begin cannot be ended by {ended}_end");
                return Err(Error::new(Class::Io, text));
            }
            Some(_) => {}
            None => {
                let text = format!("{}_end without a begin", routine.name());
                return Err(Error::new(Class::Io, text));
            }
        }
        Ok(slot.take().map_or(0, |begun| begun.size))
    }

    /// Only one split access at a time, and no other collective one meanwhile.
    pub(super) fn no_split_access(&self) -> Result<()> {
        match &*self.split.lock() {
            None => Ok(()),
            Some(begun) => {
                let text = format!("{}_begin has not been ended yet", begun.routine.name());
                Err(Error::new(Class::Io, text))
            }
        }
    }
}
