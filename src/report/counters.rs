//! Counting while a file is open, cheaply enough to be always on.

use crate::driver::Calls;
use crate::operation::{Coordination, Direction, Synchronism};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// What is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter { $($(#[$doc])* $name,)* }

        impl Counter {
            /// Every counter, in the order of a summary.
            pub const ALL: &[Counter] = &[$(Counter::$name,)*];

            /// The name in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Counter::$name => $word,)* }
            }
        }
    };
}

counters! {
    /// Calls of MPI_File_read and its like.
    ReadsBlocking = "reads_blocking",
    /// Calls of MPI_File_iread and its like.
    ReadsNonblocking = "reads_nonblocking",
    /// Calls of MPI_File_read_all and its like.
    ReadsCollective = "reads_collective",
    /// Calls of MPI_File_iread_all and its like.
    ReadsCollectiveNonblocking = "reads_collective_nonblocking",
    /// Calls of MPI_File_read_all_begin and its like.
    ReadsCollectiveSplit = "reads_collective_split",
    /// Calls of MPI_File_write and its like.
    WritesBlocking = "writes_blocking",
    /// Calls of MPI_File_iwrite and its like.
    WritesNonblocking = "writes_nonblocking",
    /// Calls of MPI_File_write_all and its like.
    WritesCollective = "writes_collective",
    /// Calls of MPI_File_iwrite_all and its like.
    WritesCollectiveNonblocking = "writes_collective_nonblocking",
    /// Calls of MPI_File_write_all_begin and its like.
    WritesCollectiveSplit = "writes_collective_split",
    /// Bytes that reached the application.
    ReadBytes = "read_bytes",
    /// Bytes the application wrote.
    WriteBytes = "write_bytes",
    /// Time in reads.
    ReadNanoseconds = "read_nanoseconds",
    /// Time in writes.
    WriteNanoseconds = "write_nanoseconds",
    /// Requests that were one piece of memory and one stretch of the file.
    Direct = "direct",
    /// Requests whose memory was gathered or scattered around one stretch of the file.
    Gathered = "gathered",
    /// Requests done stretch by stretch, each with its pieces of memory.
    Vectored = "vectored",
    /// Requests that all ranks did together, through the collective buffer.
    Exchanged = "exchanged",
    /// Collective requests that each rank did for itself because the pieces are large.
    AloneLargePieces = "alone_large_pieces",
    /// ... because there is little to move.
    AloneLittle = "alone_little",
    /// ... because it lies far apart in the file.
    AloneSparse = "alone_sparse",
    /// ... because of the view, the representation or atomic mode.
    AloneView = "alone_view",
    /// ... because there is no memory for the collective buffer.
    AloneMemory = "alone_memory",
    /// Requests that went through a buffer of the library.
    Bounced = "bounced",
    /// Windows read with their holes.
    ReadWindows = "read_windows",
    /// Bytes of these windows that nobody asked for.
    ReadWindowExtraBytes = "read_window_extra_bytes",
    /// Windows read, changed and written back.
    WriteWindows = "write_windows",
    /// Bytes of these windows that nobody wrote.
    WriteWindowExtraBytes = "write_window_extra_bytes",
    /// Most threads in one access.
    Threads = "threads",
    /// System calls that read.
    SystemReads = "system_reads",
    /// Bytes they read.
    SystemReadBytes = "system_read_bytes",
    /// System calls that wrote.
    SystemWrites = "system_writes",
    /// Bytes they wrote.
    SystemWriteBytes = "system_write_bytes",
    /// Ranges locked.
    Locks = "locks",
    /// Ranges that had to be waited for.
    LockWaits = "lock_waits",
    /// Calls of fsync.
    Syncs = "syncs",
    /// Bytes that went past the page cache.
    UncachedBytes = "uncached_bytes",
    /// Ranges that the file system was told of beforehand.
    Advices = "advices",
    /// Of these, refused.
    AdvicesRefused = "advices_refused",
    /// 1 on a rank that read independently.
    IndependentReaders = "independent_readers",
    /// 1 on a rank that wrote independently.
    IndependentWriters = "independent_writers",
}

/// How many counters there are.
pub const COUNT: usize = Counter::ALL.len();

/// The counters of one rank's open file. Any thread may count at any time.
#[derive(Debug)]
pub struct Counters([AtomicU64; COUNT]);

impl Default for Counters {
    fn default() -> Counters {
        Counters([const { AtomicU64::new(0) }; COUNT])
    }
}

impl Counters {
    /// Adds to a counter.
    pub fn add(&self, counter: Counter, amount: u64) {
        self.0[counter as usize].fetch_add(amount, Relaxed);
    }

    /// Raises a counter to this value if it is less.
    pub fn raise(&self, counter: Counter, value: u64) {
        self.0[counter as usize].fetch_max(value, Relaxed);
    }

    /// Counts one call of a data access routine.
    pub fn call(&self, direction: Direction, coordination: Coordination, synchronism: Synchronism) {
        use {Coordination::*, Counter::*, Synchronism::*};
        let counters = match direction {
            Direction::Read => [
                ReadsBlocking,
                ReadsNonblocking,
                ReadsCollective,
                ReadsCollectiveNonblocking,
                ReadsCollectiveSplit,
            ],
            Direction::Write => [
                WritesBlocking,
                WritesNonblocking,
                WritesCollective,
                WritesCollectiveNonblocking,
                WritesCollectiveSplit,
            ],
        };
        let index = match (coordination, synchronism) {
            (Independent, Blocking) => 0,
            (Independent, Nonblocking) => 1,
            (Collective, Blocking) => 2,
            (Collective, Nonblocking) => 3,
            (_, Split) => 4, // split routines are collective
        };
        self.add(counters[index], 1);
    }

    /// Counts the bytes a call moved for the application, and the time since it started.
    pub fn moved(&self, direction: Direction, bytes: u64, started: Instant) {
        let (volume, time) = match direction {
            Direction::Read => (Counter::ReadBytes, Counter::ReadNanoseconds),
            Direction::Write => (Counter::WriteBytes, Counter::WriteNanoseconds),
        };
        self.add(volume, bytes);
        self.add(time, u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }

    /// The counters as plain numbers, with those that the driver kept.
    pub fn summary(&self, calls: &Calls) -> Summary {
        let mut summary = Summary::default();
        for (value, counter) in summary.0.iter_mut().zip(&self.0) {
            *value = i64::try_from(counter.load(Relaxed)).unwrap_or(i64::MAX);
        }
        let driver = [
            (Counter::SystemReads, calls.reads),
            (Counter::SystemReadBytes, calls.read_bytes),
            (Counter::SystemWrites, calls.writes),
            (Counter::SystemWriteBytes, calls.write_bytes),
            (Counter::Locks, calls.locks),
            (Counter::LockWaits, calls.lock_waits),
            (Counter::Syncs, calls.syncs),
            (Counter::UncachedBytes, calls.uncached_bytes),
            (Counter::Advices, calls.advised.told),
            (Counter::AdvicesRefused, calls.advised.refused),
        ];
        for (counter, value) in driver {
            summary.0[counter as usize] = i64::try_from(value).unwrap_or(i64::MAX);
        }
        let readers = summary.independent(Direction::Read) > 0;
        let writers = summary.independent(Direction::Write) > 0;
        summary.0[Counter::IndependentReaders as usize] = readers.into();
        summary.0[Counter::IndependentWriters as usize] = writers.into();
        summary
    }
}

/// The counters of one rank, or of all ranks together: numbers that a reduction can add or take
/// the largest of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary([i64; COUNT]);

impl Default for Summary {
    fn default() -> Summary {
        Summary([0; COUNT])
    }
}

impl Summary {
    /// One of its numbers.
    pub fn get(&self, counter: Counter) -> i64 {
        self.0[counter as usize]
    }

    /// All of them, for a reduction over the ranks.
    pub fn values_mut(&mut self) -> &mut [i64] {
        &mut self.0
    }

    /// Independent calls.
    pub fn independent(&self, direction: Direction) -> i64 {
        match direction {
            Direction::Read => self.sum(&[Counter::ReadsBlocking, Counter::ReadsNonblocking]),
            Direction::Write => self.sum(&[Counter::WritesBlocking, Counter::WritesNonblocking]),
        }
    }

    /// Collective calls, each counted on every rank.
    pub fn collective(&self, direction: Direction) -> i64 {
        use Counter::*;
        match direction {
            Direction::Read => {
                self.sum(&[ReadsCollective, ReadsCollectiveNonblocking, ReadsCollectiveSplit])
            }
            Direction::Write => {
                self.sum(&[WritesCollective, WritesCollectiveNonblocking, WritesCollectiveSplit])
            }
        }
    }

    fn sum(&self, counters: &[Counter]) -> i64 {
        counters.iter().map(|&counter| self.get(counter)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_what_was_counted() {
        let counters = Counters::default();
        counters.call(Direction::Write, Coordination::Independent, Synchronism::Nonblocking);
        counters.call(Direction::Write, Coordination::Collective, Synchronism::Split);
        counters.call(Direction::Read, Coordination::Collective, Synchronism::Blocking);
        counters.moved(Direction::Write, 100, Instant::now());
        counters.moved(Direction::Write, 20, Instant::now());
        counters.raise(Counter::Threads, 4);
        counters.raise(Counter::Threads, 2);
        let calls = Calls { writes: 3, lock_waits: 2, ..Calls::default() };
        let summary = counters.summary(&calls);
        assert_eq!(summary.independent(Direction::Write), 1);
        assert_eq!(summary.collective(Direction::Write), 1);
        assert_eq!(summary.collective(Direction::Read), 1);
        assert_eq!(summary.get(Counter::WriteBytes), 120);
        assert_eq!(summary.get(Counter::Threads), 4);
        assert_eq!(summary.get(Counter::SystemWrites), 3);
        assert_eq!(summary.get(Counter::LockWaits), 2);
        assert_eq!(summary.get(Counter::IndependentWriters), 1);
        assert_eq!(summary.get(Counter::IndependentReaders), 0);
    }

    #[test]
    fn counters_are_numbered_in_order() {
        for (index, &counter) in Counter::ALL.iter().enumerate() {
            assert_eq!(counter as usize, index);
        }
    }
}
