//! Data access: from an operation to the engine.

use std::sync::Arc;
use std::time::Instant;

use super::File;
use super::collective::Moved;
use super::view::{FileView, typemap_in_file};
use crate::driver::Driver;
use crate::engine::individual::{Access, Done, How, Plan, transfer};
use crate::error::{Class, Error, Result};
use crate::memory::UserMemory;
use crate::mpi;
use crate::operation::{Buffer, Coordination, Direction, Operation, Positioning, Synchronism};
use crate::report::Counter;

/// An operation whose arguments have been checked.
pub(super) struct Checked {
    pub(super) direction: Direction,
    pub(super) view: Arc<FileView>,
    pub(super) buffer: Buffer,
    pub(super) memory: UserMemory,
    pub(super) driver: Arc<dyn Driver>,
    pub(super) plan: Plan,
    /// Bytes in the file; in memory there are as many unless the representation converts.
    pub(super) size: u64,
}

impl Checked {
    fn etypes(&self) -> i64 {
        (self.size / self.view.layout.etype_size.max(1)) as i64
    }

    /// The same with its place in the view, `offset` etypes from the start.
    fn at(self, offset: i64) -> Result<Ready> {
        let position = self.view.position_of(offset)?;
        if self.size > 0 {
            let end = position.checked_add(self.size);
            let last = end.map(|end| self.view.layout.offset_of(end - 1));
            if last.is_none_or(|last| last >= i64::MAX as u64) {
                let text = "the access ends beyond the largest file offset";
                return Err(Error::new(Class::Arg, text));
            }
            self.view.check_repetition(self.direction, position, self.size)?;
        }
        Ok(Ready { checked: self, position })
    }
}

/// An operation that can start.
pub(super) struct Ready {
    pub(super) checked: Checked,
    /// Where in the view it starts, in bytes.
    pub(super) position: u64,
}

impl Ready {
    /// Adds to an error what was being done.
    pub(super) fn explain(&self, error: Error) -> Error {
        let Ready { checked, position } = self;
        let what = match checked.direction {
            Direction::Read => "reading",
            Direction::Write => "writing",
        };
        error.within(format_args!("{what} {} bytes at {position} of the view", checked.size))
    }
}

impl File {
    /// Does a blocking or nonblocking access and tells how many bytes it moved.
    ///
    /// A collective one ends with a common verdict. A nonblocking one cannot: it would have to
    /// wait for the others, so its rank is told only of its own failures.
    pub fn access(&self, operation: &Operation) -> Result<u64> {
        match (operation.coordination, operation.synchronism) {
            (Coordination::Independent, _) | (_, Synchronism::Nonblocking) => {
                self.perform(operation).map(|moved| moved.size)
            }
            _ => {
                self.settle_together();
                self.verdict_on(self.perform(operation))
            }
        }
    }

    /// One verdict on a collective access, unless the ranks have it already.
    pub(super) fn verdict_on(&self, moved: Result<Moved>) -> Result<u64> {
        match moved {
            Ok(Moved { size, agreed: true }) => Ok(size),
            other => self.agree(other.map(|moved| moved.size)),
        }
    }

    fn perform(&self, operation: &Operation) -> Result<Moved> {
        let started = Instant::now();
        let ready = self.prepare(operation);
        let together = operation.coordination == Coordination::Collective
            && operation.synchronism != Synchronism::Nonblocking;
        self.finish(operation.direction, ready, together, started)
    }

    /// What is to be asked of MPI and of the file pointers before the bytes are moved.
    pub(super) fn prepare(&self, operation: &Operation) -> Result<Ready> {
        self.counters.call(operation.direction, operation.coordination, operation.synchronism);
        let checked = self.check(operation);
        let etypes = checked.as_ref().map_or(0, Checked::etypes);
        let place = match (operation.positioning, operation.coordination) {
            // Also a rank with wrong arguments has its place in the order.
            (Positioning::Shared, Coordination::Collective) => self.advance_ordered(etypes),
            (Positioning::Shared, Coordination::Independent) if checked.is_ok() => {
                self.advance_shared(etypes)
            }
            (Positioning::Individual, _) if checked.is_ok() => self.advance(etypes),
            (Positioning::Explicit(offset), _) => Ok(offset),
            _ => Ok(0),
        };
        checked.and_then(|checked| checked.at(place?))
    }

    /// Moves the bytes, together with all ranks or alone.
    pub(super) fn finish(
        &self,
        direction: Direction,
        ready: Result<Ready>,
        together: bool,
        started: Instant,
    ) -> Result<Moved> {
        let moved = match together && self.meets(direction) {
            true => self.move_together(direction, ready)?,
            false => ready.and_then(|ready| self.move_bytes(&ready)).map(Moved::alone)?,
        };
        self.counters.moved(direction, moved.size, started);
        Ok(moved)
    }

    fn check(&self, operation: &Operation) -> Result<Checked> {
        let Buffer { address, count, datatype } = operation.buffer;
        let driver = self.driver()?;
        if operation.coordination == Coordination::Collective {
            self.no_split_access()?;
        }
        let count = u64::try_from(count)
            .map_err(|_| Error::new(Class::Count, format!("the count is {count}")))?;
        if datatype.is_null() {
            return Err(Error::new(Class::Type, "the datatype is MPI_DATATYPE_NULL"));
        }
        match operation.positioning {
            Positioning::Explicit(offset) => {
                self.random_access("an explicit offset")?;
                if offset < 0 {
                    let text = format!("the offset is {offset}");
                    return Err(Error::new(Class::Arg, text));
                }
            }
            Positioning::Individual => self.random_access("the individual file pointer")?,
            Positioning::Shared => {}
        }
        self.amode.allows(operation.direction)?;
        let (view, plan) = {
            let mut state = self.state.lock();
            if operation.direction == Direction::Write {
                self.mark_before_writing(&*driver, &mut state)?;
            }
            (state.view.clone(), state.plan)
        };
        let typemap = datatype.typemap()?;
        let item = match view.representation.is_native() {
            true => typemap.size(),
            false => typemap_in_file(datatype, &view.representation)?.size(),
        };
        let size = total(count, item)?;
        check_etypes(size, &view)?;
        if total(count, typemap.size())? > 0 && address == mpi::library()?.constants().in_place {
            return Err(Error::new(Class::Buffer, "the buffer is MPI_IN_PLACE"));
        }
        let memory = UserMemory::of_caller(address, typemap, count)?;
        let direction = operation.direction;
        Ok(Checked { direction, view, buffer: operation.buffer, memory, driver, plan, size })
    }

    /// Moves a rank's bytes by itself.
    pub(super) fn move_bytes(&self, ready: &Ready) -> Result<u64> {
        let Ready { checked, position } = ready;
        if checked.size == 0 {
            return Ok(0);
        }
        let (direction, view) = (checked.direction, &checked.view);
        let range = (*position, checked.size);
        let moved =
            self.atomically(&*checked.driver, direction, &view.layout, range, || {
                match view.representation.is_native() {
                    true => self.transfer(checked, *position, &checked.memory),
                    false => self.convert(checked, *position),
                }
            });
        moved.map_err(|error| ready.explain(error))
    }

    /// Hands bytes as they stand in the file to the engine: the user's own, or converted ones.
    pub(super) fn transfer(
        &self,
        checked: &Checked,
        position: u64,
        memory: &UserMemory,
    ) -> Result<u64> {
        let mut access = self.as_access(checked, position, memory);
        if self.atomicity() {
            // The locks of atomic mode are held already; a window would need others too, and who
            // has one of those may wait for one of these.
            access.plan.write.stride = 0;
            if access.plan.locked_reads {
                access.plan.read.stride = 0;
            }
            (access.plan.locked_writes, access.plan.locked_reads) = (false, false);
        }
        let done = transfer(&*checked.driver, &access)?;
        self.count(checked.direction, &done);
        Ok(done.size)
    }

    /// The access as the engines know it.
    pub(super) fn as_access<'a>(
        &'a self,
        checked: &'a Checked,
        position: u64,
        memory: &'a UserMemory,
    ) -> Access<'a> {
        let Checked { direction, plan, .. } = *checked;
        let view = &checked.view.layout;
        Access { direction, view, position, memory, plan, gate: &self.gate }
    }

    pub(super) fn count(&self, direction: Direction, done: &Done) {
        let way = match done.how {
            How::Direct => Some(Counter::Direct),
            How::Gathered => Some(Counter::Gathered),
            How::Vectored => Some(Counter::Vectored),
            How::Exchanged => Some(Counter::Exchanged),
            How::Sieved => None,
        };
        if let Some(way) = way {
            self.counters.add(way, 1);
        }
        let (windows, extra) = match direction {
            Direction::Read => (Counter::ReadWindows, Counter::ReadWindowExtraBytes),
            Direction::Write => (Counter::WriteWindows, Counter::WriteWindowExtraBytes),
        };
        if done.windows > 0 {
            self.counters.add(windows, done.windows);
            self.counters.add(extra, done.extra_bytes);
        }
        if done.bounced {
            self.counters.add(Counter::Bounced, 1);
        }
        self.counters.raise(Counter::Threads, done.threads as u64);
    }
}

fn total(count: u64, item: u64) -> Result<u64> {
    let size = count.checked_mul(item).filter(|size| *size <= i64::MAX as u64);
    let text = || format!("{count} items of {item} bytes are more than a file can hold");
    size.ok_or_else(|| Error::new(Class::Count, text()))
}

fn check_etypes(size: u64, view: &FileView) -> Result<()> {
    let etype_size = view.layout.etype_size;
    if size > 0 && view.layout.filetype.size() == 0 {
        return Err(Error::new(Class::Io, "the filetype of the view has no data"));
    }
    if size.is_multiple_of(etype_size) {
        return Ok(());
    }
    let text = format!("{size} bytes are not a whole number of etypes of {etype_size} bytes");
    Err(Error::new(Class::Io, text))
}
