//! Two-phase access through a collective buffer that the ranks share.
//!
//! The file is handled window by window. For a write all ranks put their pieces into the window,
//! and it goes to the file in one call, or in a few where nobody put anything; for a read it comes
//! in one call, and the ranks pick their pieces out. Who has to do with which window follows from
//! the parts that the ranks told each other at the start.

mod part;
mod ring;
mod windows;

use std::ops::Range;

pub use self::part::Part;
use self::ring::Slot;
pub use self::ring::{Ring, SLOT_SIZE};
use self::windows::{Window, Windows};
use super::individual::{Access, Done, How, STAGE_SIZE};
use super::ranks::Ranks;
use crate::driver::Driver;
use crate::error::Result;
use crate::memory::{self, Scratch};
use crate::operation::Direction;
use crate::view::cursor::Cursor;

/// How a collective access goes through the ring.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Every rank's part of the file.
    parts: Vec<Range<u64>>,
    /// Bytes in a window.
    window_size: u64,
    /// Pieces start and end at multiples of `1 << grain`.
    grain: u32,
}

/// Windows smaller than this cost more to agree about than to move.
const SMALLEST_WINDOW: u64 = 64 << 10;

impl Shape {
    /// For these parts, cut so that all ranks find work.
    pub fn new(parts: &[Part]) -> Shape {
        let start = parts.iter().filter(|part| part.size > 0).map(|part| part.start).min();
        let end = parts.iter().map(|part| part.end).max();
        let span = end.unwrap_or(0) - start.unwrap_or(0);
        let share = (span / (2 * parts.len() as u64)).next_power_of_two();
        Shape::with_windows(parts, share.clamp(SMALLEST_WINDOW, SLOT_SIZE as u64))
    }

    /// With windows of `size` bytes, a power of two, if the marks are enough for as many.
    pub fn with_windows(parts: &[Part], size: u64) -> Shape {
        let grains = parts.iter().filter(|part| part.size > 0).map(|part| part.grain);
        let grain = grains.min().unwrap_or(0).min(size.trailing_zeros());
        let window_size = size.min(Ring::window_size(grain));
        Shape { parts: parts.iter().map(Part::range).collect(), window_size, grain }
    }

    /// Where in the file the first byte of the window's slot lies.
    fn start_of(&self, window: &Window) -> u64 {
        window.range.start / self.window_size * self.window_size
    }
}

/// Moves this rank's bytes, together with all others.
///
/// A rank whose own work fails goes on with its visits, so that nobody waits for it.
pub async fn transfer<R: Ranks>(
    ranks: &R,
    ring: &Ring,
    driver: &dyn Driver,
    access: &Access<'_>,
    shape: &Shape,
) -> Result<Done> {
    let mut visitor = Visitor {
        access,
        driver,
        shape,
        file: access.view.cursor(access.position),
        memory: access.memory.cursor(0),
        scratch: None,
        ended: false,
        done: Done::new(How::Exchanged),
    };
    let own = shape.parts[ranks.rank()].clone();
    let (mut verdict, mut count) = (Ok(()), 0);
    let mut rest = Windows::new(&shape.parts, shape.window_size);
    while let Some(window) = rest.next() {
        count += 1;
        if !window.concerns(&own) {
            continue;
        }
        let slot = ring.slot(window.number);
        let visited = match access.direction {
            Direction::Write => {
                ranks.until(|| slot.is_free()).await;
                visitor.fill(&slot, &window, verdict.is_ok())
            }
            Direction::Read => {
                let fetched = visitor.fetch(ranks, ring, &window, &rest).await;
                visitor.empty(&slot, &window, fetched, verdict.is_ok())
            }
        };
        verdict = verdict.and(visited);
    }
    ring.pass(count);
    verdict.map(|()| visitor.done)
}

/// A rank on its way through the windows.
struct Visitor<'a, 'b> {
    access: &'a Access<'b>,
    driver: &'a dyn Driver,
    shape: &'a Shape,
    file: Cursor<'a>,
    memory: Cursor<'a>,
    /// Where scattered memory is gathered; made when it is needed.
    scratch: Option<Scratch>,
    /// A read has met the end of the file.
    ended: bool,
    done: Done,
}

impl Visitor<'_, '_> {
    /// Bytes of this rank that lie in the file before `offset` and are not yet done.
    fn size_before(&self, offset: u64) -> u64 {
        let Access { view, position, memory, .. } = self.access;
        let reached = view.size_before(offset).min(position + memory.size());
        reached.saturating_sub(self.file.position())
    }

    /// Puts this rank's bytes into the window; the last to do so writes it.
    fn fill(&mut self, slot: &Slot<'_>, window: &Window, well: bool) -> Result<()> {
        let start = self.shape.start_of(window);
        let bytes = memory::Window::new(slot.bytes(), start);
        let marks = slot.marks(self.shape.grain);
        let size = self.size_before(window.range.end);
        let origin = self.access.view.displacement;
        let filled = match well {
            true => self.pieces(size, |file, piece| bytes.put_marked(file, origin, piece, marks)),
            false => Ok(()),
        };
        if filled.is_ok() {
            self.done.size += size;
        }
        if !slot.leave(window.visitors) {
            return filled;
        }
        let written = self.write_out(slot, window, start);
        slot.release();
        filled.and(written)
    }

    /// Hands the next `size` bytes of the user's memory to `act` as packed pieces, together with
    /// the file cursor that `act` moves on.
    fn pieces(
        &mut self,
        size: u64,
        mut act: impl FnMut(&mut Cursor<'_>, memory::Piece),
    ) -> Result<()> {
        let Access { memory, direction, .. } = self.access;
        if let Some(whole) = memory.contiguous() {
            let done = self.memory.position() as usize;
            self.memory.seek(done as u64 + size);
            act(&mut self.file, whole.skip(done).take(size as usize));
            return Ok(());
        }
        let mut left = size;
        while left > 0 {
            if self.scratch.is_none() {
                self.scratch = Some(Scratch::new(STAGE_SIZE as usize)?);
            }
            let Some(scratch) = &mut self.scratch else { continue };
            let stage = scratch.piece(left.min(STAGE_SIZE) as usize);
            if *direction == Direction::Write {
                memory.gather(&mut self.memory, stage);
            }
            act(&mut self.file, stage);
            if *direction == Direction::Read {
                memory.scatter(&mut self.memory, stage);
            }
            left -= stage.len() as u64;
        }
        Ok(())
    }

    /// Writes what is marked, and takes the marks away.
    fn write_out(&mut self, slot: &Slot<'_>, window: &Window, start: u64) -> Result<()> {
        let inside = (window.range.start - start) as usize..(window.range.end - start) as usize;
        let marks = slot.marks(self.shape.grain);
        let bytes = slot.bytes();
        let (plan, gate) = (&self.access.plan, self.access.gate);
        let mut written = Ok(());
        for run in marks.runs(inside.clone()) {
            let offset = start + run.start as u64;
            let piece = bytes.skip(run.start).take(run.len());
            let write = || self.driver.write_at(offset, &[piece]);
            written = match plan.locked_writes {
                true => gate.beside(self.driver, offset..offset + run.len() as u64, write),
                false => write(),
            };
            if written.is_err() {
                break;
            }
        }
        marks.clear(inside);
        self.done.windows += 1;
        written
    }

    /// Sees to it that the window is read, by this rank or another. While another does, this one
    /// reads a window that will be wanted next.
    async fn fetch<R: Ranks>(
        &self,
        ranks: &R,
        ring: &Ring,
        window: &Window,
        rest: &Windows<'_>,
    ) -> Result<u64> {
        let slot = ring.slot(window.number);
        let mut verdict = Ok(());
        let mut ahead = rest.clone().take(ring.slots() as usize - 1);
        let mut next = Some(window.clone());
        while slot.published().is_none() {
            let Some(wanted) = next.take().or_else(|| ahead.next()) else {
                ranks.until(|| slot.published().is_some()).await;
                break;
            };
            let place = ring.slot(wanted.number);
            ranks.until(|| wanted.number > window.number || place.is_free()).await;
            if place.claim() {
                verdict = verdict.and(self.read_in(&place, &wanted));
            }
        }
        verdict.map(|()| slot.published().unwrap_or(0))
    }

    /// Reads a window. A failure is published as an empty one: its reader tells everybody in the
    /// end.
    fn read_in(&self, slot: &Slot<'_>, window: &Window) -> Result<()> {
        let start = self.shape.start_of(window);
        let skipped = (window.range.start - start) as usize;
        let length = (window.range.end - window.range.start) as usize;
        let piece = slot.bytes().skip(skipped).take(length);
        let read = self.driver.read_at(window.range.start, &[piece]);
        slot.publish(*read.as_ref().unwrap_or(&0));
        read.map(drop)
    }

    /// Picks this rank's bytes out of the window; the last to do so lets the next one in.
    fn empty(
        &mut self,
        slot: &Slot<'_>,
        window: &Window,
        fetched: Result<u64>,
        well: bool,
    ) -> Result<()> {
        let emptied = fetched.and_then(|found| {
            let bytes = memory::Window::new(slot.bytes(), self.shape.start_of(window));
            let origin = self.access.view.displacement;
            if self.ended || !well {
                return Ok(());
            }
            let size = self.size_before(window.range.start + found);
            self.ended = size < self.size_before(window.range.end);
            self.pieces(size, |file, piece| bytes.take(file, origin, piece))?;
            self.done.size += size;
            Ok(())
        });
        if slot.leave(window.visitors) {
            slot.release();
        }
        emptied
    }
}
