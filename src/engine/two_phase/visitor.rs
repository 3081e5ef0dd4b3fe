//! One rank's work at a window: between its memory, the window and the file.

use super::Shape;
use super::ring::Slot;
use super::windows::Window;
use crate::driver::Driver;
use crate::engine::individual::{Access, Done, How, STAGE_SIZE};
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
    /// A read has met the end of the file.
    ended: bool,
    /// The first failure.
    verdict: Result<()>,
    done: Done,
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
            ended: false,
            verdict: Ok(()),
            done: Done::new(How::Exchanged),
        }
    }

    /// What became of it all.
    pub fn finish(self) -> Result<Done> {
        self.verdict.map(|()| self.done)
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

    /// Bytes of this rank that lie in the file before `offset` and are not yet done.
    fn size_before(&self, offset: u64) -> u64 {
        let Access { view, position, memory, .. } = self.access;
        let reached = view.size_before(offset).min(position + memory.size());
        reached.saturating_sub(self.file.position())
    }

    /// Puts this rank's bytes into the window.
    pub fn fill(&mut self, slot: &Slot<'_>, window: &Window) {
        if self.verdict.is_err() {
            return;
        }
        let bytes = memory::Window::new(slot.bytes(), self.shape.start_of(window));
        let marks = slot.marks(self.shape.grain);
        let size = self.size_before(window.range.end);
        let origin = self.access.view.displacement;
        let filled = self.pieces(size, |file, piece| bytes.put_marked(file, origin, piece, marks));
        if self.note(filled).is_some() {
            self.done.size += size;
        }
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
        let start = self.shape.start_of(window);
        let inside = self.shape.inside(window);
        let marks = slot.marks(self.shape.grain);
        let bytes = slot.bytes();
        let (plan, gate) = (&self.access.plan, self.access.gate);
        let mut runs = marks.runs(inside.clone());
        let written = runs.try_for_each(|run| {
            let offset = start + run.start as u64;
            let piece = bytes.skip(run.start).take(run.len());
            let write = || self.driver.write_at(offset, &[piece]);
            match plan.locked_writes {
                true => gate.beside(self.driver, offset..offset + run.len() as u64, write),
                false => write(),
            }
        });
        marks.clear(inside);
        self.done.windows += 1;
        self.note(written);
    }

    /// Reads a window. A failure is published as an empty one: its reader tells everybody in the
    /// end.
    pub fn read_in(&mut self, slot: &Slot<'_>, window: &Window) {
        let inside = self.shape.inside(window);
        let piece = slot.bytes().skip(inside.start).take(inside.len());
        let read = self.driver.read_at(window.range.start, &[piece]);
        slot.publish(*read.as_ref().unwrap_or(&0));
        self.note(read);
    }

    /// Picks this rank's bytes out of a window of which `found` bytes could be read.
    pub fn empty(&mut self, slot: &Slot<'_>, window: &Window, found: u64) {
        if self.ended || self.verdict.is_err() {
            return;
        }
        let bytes = memory::Window::new(slot.bytes(), self.shape.start_of(window));
        let origin = self.access.view.displacement;
        let size = self.size_before(window.range.start + found);
        self.ended = size < self.size_before(window.range.end);
        let emptied = self.pieces(size, |file, piece| bytes.take(file, origin, piece));
        if self.note(emptied).is_some() {
            self.done.size += size;
        }
    }
}
