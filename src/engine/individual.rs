//! The individual engine: one rank moves its own bytes.
//!
//! The access is cut into cycles; the place of each in memory and in the file is found by a jump
//! of two cursors (the pre-calculation), so threads build and move cycles independently. Within
//! a cycle the cheapest way is taken: contiguous memory as it lies, large pieces by vectored
//! calls, small ones through a buffer that stays in the cache; dense small pieces of the file by
//! sieving.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::bounce::Bounce;
use super::io_array::{IoArray, MemorySide};
use super::sieve::{self, Gate, Sieving, Tally};
use super::threads;
use crate::driver::Driver;
use crate::driver::advice::{Ahead, Intent};
use crate::error::Result;
use crate::memory::{Piece, Scratch, UserMemory};
use crate::operation::Direction;
use crate::view::cursor::Cursor;
use crate::view::layout::View;

/// Bytes that are gathered or scattered at a time: small enough to stay in the second-level
/// cache between the copy and the system call, large enough to hide the cost of the call.
pub(super) const STAGE_SIZE: u64 = 256 << 10;

/// Pieces of memory from this size on are cheaper in a vectored call than copied.
const VECTORED_PIECE: u64 = 16 << 10;

/// Gathering pieces up to this size takes longer than writing them. From 4 bytes on, a second
/// writer mostly burns a processor while it waits for the first.
const TINY_PIECE: u64 = 2;

/// Most pieces that a driver is told of ahead.
pub const MOST_AHEAD: usize = 1023;

/// Pieces behind a cycle of a read that are told with it: as many as a file system takes at once.
const READ_AHEAD: usize = 8;

/// How an access is to be done; comes from the hints and the driver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    /// Most threads to use.
    pub threads: usize,
    /// Whether the file system writes for several of them at a time.
    pub concurrent_writes: bool,
    /// How reads are sieved.
    pub read: Sieving,
    /// How writes are sieved.
    pub write: Sieving,
    /// Somebody may sieve writes on this file: take a lock beside every write.
    pub locked_writes: bool,
    /// Take one around many reads too, because the driver would take one for each.
    pub locked_reads: bool,
}

/// What one rank reads or writes, and how.
pub struct Access<'a> {
    /// Which way the bytes go.
    pub direction: Direction,
    /// What the rank sees of the file.
    pub view: &'a View,
    /// Where in the view the access starts, in bytes.
    pub position: u64,
    /// The memory; its size is the size of the access.
    pub memory: &'a UserMemory,
    /// How to do it.
    pub plan: Plan,
    /// Shared by all accesses to the file in this process.
    pub gate: &'a Gate,
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Bytes moved; fewer than the memory's size mean that a read met the end of the file.
    pub size: u64,
    /// In which way.
    pub how: How,
    /// By how many threads.
    pub threads: usize,
    /// Windows that were sieved.
    pub windows: u64,
    /// Bytes in them that nobody asked for.
    pub extra_bytes: u64,
    /// Whether some of it went through a buffer because its memory lies badly.
    pub bounced: bool,
}

/// The ways of the individual engine, for the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Memory as it lies.
    Direct,
    /// The user's pieces in vectored calls.
    Vectored,
    /// Small pieces of memory through a buffer.
    Gathered,
    /// With the holes of the file.
    Sieved,
    /// Together with other ranks.
    Exchanged,
}

impl Done {
    /// Nothing yet.
    pub fn new(how: How) -> Done {
        Done { size: 0, how, threads: 1, windows: 0, extra_bytes: 0, bounced: false }
    }
}

/// How the memory of an access is brought to the file.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// As it lies.
    Direct(Piece),
    /// Piece by piece in vectored calls.
    Vectored,
    /// Copied through a buffer.
    Staged,
}

/// Moves the bytes.
pub fn transfer(driver: &dyn Driver, access: &Access<'_>) -> Result<Done> {
    let size = access.memory.size();
    if size == 0 {
        return Ok(Done::new(How::Direct));
    }
    let way = access.way();
    let ranges = threads::split(size, access.threads());
    let tally = Tally::default();
    let size = threads::run(&ranges, |range| access.part(driver, way, range, &tally))?;
    let (windows, extra_bytes, bounced) = tally.total();
    let (how, threads) = (access.how(way), ranges.len());
    Ok(Done { size, how, threads, windows, extra_bytes, bounced })
}

impl Access<'_> {
    /// What it does, in the driver's words.
    pub fn intent(&self) -> Intent {
        match self.direction {
            Direction::Read => Intent::Read,
            Direction::Write => Intent::Write,
        }
    }

    fn way(&self) -> Way {
        match self.memory.contiguous() {
            Some(piece) => Way::Direct(piece),
            None if !self.sieved() && self.memory.piece_size() >= VECTORED_PIECE => Way::Vectored,
            None => Way::Staged,
        }
    }

    /// Runs `act` on bytes in `range`, with the lock around them that the plan asks for.
    fn beside<T>(
        &self,
        driver: &dyn Driver,
        range: Range<u64>,
        act: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let locked = match self.direction {
            Direction::Read => self.plan.locked_reads,
            Direction::Write => self.plan.locked_writes,
        };
        if locked { self.gate.beside(driver, self.direction, range, act) } else { act() }
    }

    fn sieving(&self) -> &Sieving {
        match self.direction {
            Direction::Read => &self.plan.read,
            Direction::Write => &self.plan.write,
        }
    }

    fn sieved(&self) -> bool {
        !self.view.is_contiguous(self.position, self.memory.size())
            && self.sieving().pays(self.view)
    }

    /// How many threads help. Writers that exclude each other would only wait, unless gathering
    /// their bytes is most of the work; those that sieve always do.
    fn threads(&self) -> usize {
        let gathering = self.memory.piece_size() <= TINY_PIECE;
        match self.direction {
            Direction::Read => self.plan.threads,
            Direction::Write if self.sieved() => 1,
            Direction::Write if self.plan.concurrent_writes || gathering => self.plan.threads,
            Direction::Write => 1,
        }
    }

    fn how(&self, way: Way) -> How {
        match way {
            _ if self.sieved() => How::Sieved,
            Way::Direct(_) => How::Direct,
            Way::Vectored => How::Vectored,
            Way::Staged => How::Gathered,
        }
    }

    /// Moves the bytes of `range`, counted from the start of the access.
    fn part(&self, driver: &dyn Driver, way: Way, range: Range<u64>, tally: &Tally) -> Result<u64> {
        let mut file = self.view.cursor(self.position + range.start);
        let (io_array, bounce) = (IoArray::new(), Bounce::default());
        let mut cycle = Cycle { access: self, driver, io_array, bounce, tally };
        let size = range.end - range.start;
        let moved = match way {
            Way::Direct(piece) => {
                let piece = piece.skip(range.start as usize).take(size as usize);
                cycle.packed(&mut file, piece)
            }
            Way::Vectored => {
                let mut memory = self.memory.cursor(range.start);
                let mut side = MemorySide::Scattered(self.memory, &mut memory);
                cycle.listed(&mut file, &mut side, size)
            }
            Way::Staged => cycle.staged(&mut file, range),
        };
        tally.bounced.fetch_or(cycle.bounce.used, Relaxed);
        moved
    }
}

/// What a thread needs to run its cycles.
struct Cycle<'a, 'b> {
    access: &'a Access<'b>,
    driver: &'a dyn Driver,
    io_array: IoArray,
    bounce: Bounce,
    tally: &'a Tally,
}

impl Cycle<'_, '_> {
    /// Moves scattered memory through a buffer, a stage at a time.
    fn staged(&mut self, file: &mut Cursor<'_>, range: Range<u64>) -> Result<u64> {
        let size = range.end - range.start;
        let mut scratch = Scratch::new(size.min(STAGE_SIZE) as usize)?;
        let mut memory = self.access.memory.cursor(range.start);
        let mut done = 0;
        while done < size {
            let stage = scratch.piece((size - done).min(STAGE_SIZE) as usize);
            let moved = match self.access.direction {
                Direction::Write => {
                    self.access.memory.gather(&mut memory, stage);
                    self.packed(file, stage)?
                }
                Direction::Read => {
                    let moved = self.packed(file, stage)?;
                    self.access.memory.scatter(&mut memory, stage.take(moved as usize));
                    moved
                }
            };
            done += moved;
            if moved < stage.len() as u64 {
                break;
            }
        }
        Ok(done)
    }

    /// Moves one piece of memory to or from the next bytes of the view.
    fn packed(&mut self, file: &mut Cursor<'_>, piece: Piece) -> Result<u64> {
        let Access { view, gate, direction, .. } = *self.access;
        let size = piece.len() as u64;
        let contiguous = file.left_in_run() >= size;
        if !contiguous && self.access.sieving().pays(view) {
            let job = sieve::Job {
                driver: self.driver,
                view,
                gate,
                buffer_size: self.access.sieving().buffer_size,
                tally: self.tally,
            };
            return match direction {
                Direction::Read => job.read(file, piece),
                Direction::Write => job.write(file, piece).map(|()| size),
            };
        }
        if contiguous && !(direction == Direction::Write && self.access.plan.locked_writes) {
            let offset = view.displacement.saturating_add_signed(file.displacement());
            let (intent, range) = (self.access.intent(), [offset..offset + size]);
            self.driver.will_access(Ahead::Elements, intent, &range);
            file.next(size);
            let moved = match direction {
                Direction::Read => self.bounce.read(self.driver, offset, &[piece])?,
                Direction::Write => {
                    self.bounce.write(self.driver, offset, &[piece]).map(|()| size)?
                }
            };
            self.driver.has_accessed(Ahead::Elements, intent, &range);
            return Ok(moved);
        }
        self.listed(file, &mut MemorySide::Contiguous(piece), size)
    }

    /// Moves `size` bytes run by run, through the io_array.
    fn listed(
        &mut self,
        file: &mut Cursor<'_>,
        memory: &mut MemorySide<'_, '_>,
        size: u64,
    ) -> Result<u64> {
        let origin = self.access.view.displacement;
        let mut done = 0;
        while done < size {
            let built = self.io_array.build(file, origin, memory, size - done)?;
            let elements = self.announce(file);
            let moved = match self.access.direction {
                Direction::Read => self.read_runs()?,
                Direction::Write => self.write_runs().map(|()| built)?,
            };
            self.driver.has_accessed(Ahead::Elements, self.access.intent(), &elements);
            done += moved;
            if moved < built {
                break;
            }
        }
        Ok(done)
    }

    /// Tells the driver of the runs of this cycle, and for a read of some behind them; `file` is
    /// where they start. Returns the runs of this cycle, if the driver listens.
    fn announce(&self, file: &Cursor<'_>) -> Vec<Range<u64>> {
        let intent = self.access.intent();
        if !self.driver.listens(Ahead::Elements, intent) {
            return Vec::new();
        }
        let size = |pieces: &[Piece]| pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
        let runs = self.io_array.runs();
        let mut told: Vec<_> = runs.map(|(at, pieces)| at..at + size(pieces)).collect();
        let count = told.len();
        if intent == Intent::Read {
            told.extend(self.access.view.elements(file.position(), READ_AHEAD));
        }
        self.driver.will_access(Ahead::Elements, intent, &told);
        told.truncate(count);
        told
    }

    fn read_runs(&mut self) -> Result<u64> {
        let (driver, bounce) = (self.driver, &mut self.bounce);
        let read = || {
            let mut done = 0;
            for (offset, pieces) in self.io_array.runs() {
                let size: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
                let moved = bounce.read(driver, offset, pieces)?;
                done += moved;
                if moved < size {
                    break;
                }
            }
            Ok(done)
        };
        self.access.beside(driver, self.io_array.range(), read)
    }

    fn write_runs(&mut self) -> Result<()> {
        let (driver, bounce) = (self.driver, &mut self.bounce);
        let write = || {
            let mut runs = self.io_array.runs();
            runs.try_for_each(|(offset, pieces)| bounce.write(driver, offset, pieces))
        };
        self.access.beside(driver, self.io_array.range(), write)
    }
}
