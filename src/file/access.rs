//! Data access: from an operation to the engine.

use std::sync::Arc;
use std::time::Instant;

use super::File;
use super::view::{FileView, typemap_in_file};
use crate::driver::Driver;
use crate::engine::individual::{Access, Done, How, Plan, transfer};
use crate::error::{Class, Error, Result};
use crate::memory::UserMemory;
use crate::operation::{Buffer, Coordination, Direction, Operation, Positioning, Synchronism};
use crate::report::Counter;

/// An operation whose arguments have been checked.
pub(super) struct Checked {
    pub(super) direction: Direction,
    pub(super) view: Arc<FileView>,
    pub(super) buffer: Buffer,
    pub(super) memory: UserMemory,
    driver: Arc<dyn Driver>,
    plan: Plan,
    /// Bytes in the file; in memory there are as many unless the representation converts.
    pub(super) size: u64,
}

impl Checked {
    fn etypes(&self) -> i64 {
        (self.size / self.view.layout.etype_size.max(1)) as i64
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
                self.perform(operation)
            }
            _ => self.agree(self.perform(operation)),
        }
    }

    fn perform(&self, operation: &Operation) -> Result<u64> {
        let started = Instant::now();
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
        let checked = checked?;
        let position = checked.view.position_of(place?)?;
        let size = self.move_bytes(&checked, position).map_err(|error| {
            let what = match operation.direction {
                Direction::Read => "reading",
                Direction::Write => "writing",
            };
            error.within(format_args!("{what} {} bytes at {position} of the view", checked.size))
        })?;
        self.counters.moved(operation.direction, size, started);
        Ok(size)
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
            let state = self.state.lock();
            (state.view.clone(), state.plan)
        };
        let typemap = datatype.typemap()?;
        let item = match view.representation.is_native() {
            true => typemap.size(),
            false => typemap_in_file(datatype, &view.representation)?.size(),
        };
        let size = total(count, item)?;
        check_etypes(size, &view)?;
        total(count, typemap.size())?;
        let memory = UserMemory::of_caller(address, typemap, count)?;
        let direction = operation.direction;
        Ok(Checked { direction, view, buffer: operation.buffer, memory, driver, plan, size })
    }

    fn move_bytes(&self, checked: &Checked, position: u64) -> Result<u64> {
        if checked.size == 0 {
            return Ok(0);
        }
        let end = position.checked_add(checked.size);
        let last = end.map(|end| checked.view.layout.offset_of(end - 1));
        if last.is_none_or(|last| last >= i64::MAX as u64) {
            return Err(Error::new(Class::Arg, "the access ends beyond the largest file offset"));
        }
        let (direction, view) = (checked.direction, &checked.view);
        view.check_repetition(direction, position, checked.size)?;
        let range = (position, checked.size);
        self.atomically(&*checked.driver, direction, &view.layout, range, || {
            match view.representation.is_native() {
                true => self.transfer(checked, position, &checked.memory),
                false => self.convert(checked, position),
            }
        })
    }

    /// Hands bytes as they stand in the file to the engine: the user's own, or converted ones.
    pub(super) fn transfer(
        &self,
        checked: &Checked,
        position: u64,
        memory: &UserMemory,
    ) -> Result<u64> {
        let (direction, view, mut plan) = (checked.direction, &checked.view.layout, checked.plan);
        if self.atomicity() {
            // The locks of atomic mode are held already; a window would need others too.
            (plan.write.stride, plan.locked_writes) = (0, false);
        }
        let access = Access { direction, view, position, memory, plan, gate: &self.gate };
        let done = transfer(&*checked.driver, &access)?;
        self.count(direction, &done);
        Ok(done.size)
    }

    fn count(&self, direction: Direction, done: &Done) {
        let counter = match (done.how, direction) {
            (How::Direct, _) => Counter::Direct,
            (How::Gathered, _) => Counter::Gathered,
            (How::Vectored, _) => Counter::Vectored,
            (How::Sieved, Direction::Read) => Counter::ReadWindows,
            (How::Sieved, Direction::Write) => Counter::WriteWindows,
        };
        let extra = match direction {
            Direction::Read => Counter::ReadWindowExtraBytes,
            Direction::Write => Counter::WriteWindowExtraBytes,
        };
        let times = if done.how == How::Sieved { done.windows } else { 1 };
        self.counters.add(counter, times);
        if done.extra_bytes > 0 {
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
