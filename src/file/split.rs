//! Split collectives: an access between a begin and its end.

use std::sync::Arc;
use std::time::Instant;

use super::File;
use super::background::Outcome;
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
    /// Bytes moved, once that is known.
    outcome: Outcome,
}

impl File {
    /// Begins an access. The standard lets ranks wait for each other here; so a wrong argument is
    /// known to all of them before any goes on, and nothing has begun then. Collective.
    pub fn begin(self: &Arc<File>, routine: SplitRoutine, operation: &Operation) -> Result<()> {
        let outcome = Outcome::default();
        if self.goes_on() && self.meets_aside() {
            self.settle_together();
            let started = Instant::now();
            let ready = self.agree(self.prepare(operation))?;
            let told = outcome.clone();
            let then = move |moved| *told.lock() = Some(moved);
            self.go_together(operation.direction, Ok(ready), started, then);
        } else {
            *outcome.lock() = Some(Ok(self.access(operation)?));
        }
        *self.split.lock() = Some(Split { routine, outcome });
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
        let begun = slot.take();
        drop(slot);
        self.settle_together();
        begun.and_then(|begun| begun.outcome.lock().take()).unwrap_or(Ok(0))
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
