//! One rank's work at a window: between its memory, the window and the file.

use std::sync::Arc;

use super::Shape;
use super::holes::Filled;
use super::ring::Slot;
use super::windows::Window;
use crate::driver::Driver;
use crate::driver::advice::{Ahead, Intent};
use crate::engine::individual::{Access, Done, How, STAGE_SIZE};
use crate::engine::sieve::Tally;
use crate::error::Result;
use crate::memory::{self, Scratch};
use crate::operation::Direction;
use crate::view::cursor::Cursor;

/// A rank that fills and empties windows.
pub struct Visitor<'a, 'b> {
    access: &'a Access<'b>,
    driver: &'a dyn Driver,
    shape: &'a Shape,
    file: Cursor<'a>,
    memory: Cursor<'a>,
    /// Where scattered memory is gathered; made when it is needed.
    scratch: Option<Scratch>,
    /// Where in the view a read has met the end of the file.
    ended: Option<u64>,
    /// The first failure.
    verdict: Result<()>,
    /// What was read back for writes, by whichever thread.
    tally: Arc<Tally>,
}

impl<'a, 'b> Visitor<'a, 'b> {
    /// At the start of its access.
    pub fn new(
        driver: &'a dyn Driver,
        access: &'a Access<'b>,
        shape: &'a Shape,
    ) -> Visitor<'a, 'b> {
        Visitor {
            access,
            driver,
            shape,
            file: access.view.cursor(access.position),
            memory: access.memory.cursor(0),
            scratch: None,
            ended: None,
            verdict: Ok(()),
            tally: Arc::default(),
        }
    }

    /// What became of it all.
    pub fn finish(self) -> Result<Done> {
        let end = self.ended.unwrap_or(self.access.position + self.access.memory.size());
        let (windows, extra_bytes, _) = self.tally.total();
        self.verdict.map(|()| Done {
            size: end - self.access.position,
            windows,
            extra_bytes,
            ..Done::new(How::Exchanged)
        })
    }

    /// Remembers the first failure: a rank whose work fails goes on with its visits, so that nobody
    /// waits for it, but has nothing to do there any more.
    pub fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if self.verdict.is_ok() {
                    self.verdict = Err(error);
                }
                None
            }
        }
    }

    /// Goes to this rank's first byte at or after `offset` of the file.
    fn seek(&mut self, offset: u64) {
        let position = self.position_of(offset);
        if self.file.position() != position {
            self.file.seek(position);
            self.memory.seek(position - self.access.position);
        }
    }

    /// Where in the view this rank's first byte at or after `offset` of the file is.
    fn position_of(&self, offset: u64) -> u64 {
        let Access { view, position, memory, .. } = self.access;
        view.size_before(offset).clamp(*position, position + memory.size())
    }

    /// Puts this rank's bytes into the window.
    pub fn fill(&mut self, slot: &Slot<'_>, window: &Window) {
        if self.verdict.is_err() {
            return;
        }
        let bytes = memory::Window::new(slot.bytes(), self.shape.start_of(window));
        let marks = slot.marks(self.shape.grain);
        self.seek(window.range.start);
        let size = self.position_of(window.range.end) - self.file.position();
        let origin = self.access.view.displacement;
        let filled = self.pieces(size, |file, piece| bytes.put_marked(file, origin, piece, marks));
        self.note(filled);
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
    pub fn write_out(&mut self, slot: &Slot<'_>, window: &Window) {
        let written = self.writing(slot, window)(self.driver);
        self.note(written);
    }

    /// What writes a window, by any thread.
    pub fn writing(
        &self,
        slot: &Slot<'_>,
        window: &Window,
    ) -> impl FnOnce(&dyn Driver) -> Result<()> + Send + 'static {
        let (bytes, marks) = (slot.bytes(), slot.marks(self.shape.grain));
        let (start, inside) = (self.shape.start_of(window), self.shape.inside(window));
        let filled = Filled { bytes, marks, start, inside, tally: self.tally.clone() };
        let (plan, gate) = (self.access.plan, self.access.gate.clone());
        let told = window.range.clone();
        move |driver| {
            tell(driver, Intent::Write, told);
            let written = filled.write(driver, &plan, &gate);
            filled.marks.clear(filled.inside);
            written
        }
    }

    /// What reads a window, by any thread.
    pub fn reading(
        &self,
        slot: &Slot<'_>,
        window: &Window,
    ) -> impl FnOnce(&dyn Driver) -> Result<u64> + Send + 'static {
        let inside = self.shape.inside(window);
        let piece = slot.bytes().skip(inside.start).take(inside.len());
        let offset = window.range.start;
        let told = window.range.clone();
        move |driver| {
            tell(driver, Intent::Read, told);
            driver.read_at(offset, &[piece])
        }
    }

    /// Reads a window. A failure is published as an empty one: its reader tells everybody in the
    /// end.
    pub fn read_in(&mut self, slot: &Slot<'_>, window: &Window) {
        let read = self.reading(slot, window)(self.driver);
        slot.publish(*read.as_ref().unwrap_or(&0));
        self.note(read);
    }

    /// Picks this rank's bytes out of a window of which `found` bytes could be read.
    pub fn empty(&mut self, slot: &Slot<'_>, window: &Window, found: u64) {
        if self.verdict.is_err() {
            return;
        }
        let bytes = memory::Window::new(slot.bytes(), self.shape.start_of(window));
        let origin = self.access.view.displacement;
        self.seek(window.range.start);
        let start = self.file.position();
        let end = self.position_of(window.range.start + found);
        if end < self.position_of(window.range.end) {
            self.ended = Some(self.ended.map_or(end, |ended| ended.min(end)));
        }
        let emptied = self.pieces(end - start, |file, piece| bytes.take(file, origin, piece));
        self.note(emptied);
    }
}

/// Tells the driver of a window just before it is accessed.
fn tell(driver: &dyn Driver, intent: Intent, range: std::ops::Range<u64>) {
    driver.will_access(Ahead::Window, intent, &[range]);
}
