//! Collective data access: the ranks tell each other what they have, choose one way for all, and
//! go it together.

use super::File;
use super::access::Ready;
use crate::engine::ranks::{Ranks, share};
use crate::engine::route::{Route, Wish, route};
use crate::engine::two_phase::{self, Part, Shape};
use crate::error::Result;
use crate::hint::{Hints, Toggle};
use crate::operation::Direction;
use crate::run::block_on;

impl File {
    /// Whether collective accesses look for a common way at all. The same on all ranks.
    pub(super) fn meets(&self, direction: Direction) -> bool {
        self.ranks.size() > 1 && wish(&self.state.lock().hints, direction) != Wish::Never
    }

    /// Moves the bytes of all ranks. Also one that cannot start takes part. Collective.
    pub(super) fn move_together(&self, ready: Result<Ready>) -> Result<u64> {
        let part = |ready: &Ready| self.part(ready).encode();
        let (ready, parts) = block_on(&self.ranks, share(&self.ranks, ready, part))?;
        let parts: Vec<Part> = parts.iter().map(|numbers| Part::decode(numbers)).collect();
        let (wish, size) = {
            let hints = &self.state.lock().hints;
            (wish(hints, ready.checked.direction), hints.cb_buffer_size)
        };
        let ring = match route(&parts, wish) {
            Route::TwoPhase => self.ranks.ring(size),
            Route::Individual(_) => None,
        };
        let Some(buffer) = ring else {
            return self.move_bytes(&ready);
        };
        let shape = Shape::new(&parts);
        let checked = &ready.checked;
        let access = self.as_access(checked, ready.position, &checked.memory);
        let moved = two_phase::transfer(&self.ranks, buffer, &*checked.driver, &access, &shape);
        let done = block_on(&self.ranks, moved).map_err(|error| ready.explain(error))?;
        self.count(checked.direction, &done);
        Ok(done.size)
    }

    fn part(&self, ready: &Ready) -> Part {
        let checked = &ready.checked;
        let part = Part::of(&self.as_access(checked, ready.position, &checked.memory));
        // Locks and conversions are each rank's own.
        let plain = checked.view.representation.is_native() && !self.atomicity();
        Part { orderly: part.orderly && plain, ..part }
    }
}

fn wish(hints: &Hints, direction: Direction) -> Wish {
    let toggle = match direction {
        Direction::Read => hints.romio_cb_read,
        Direction::Write => hints.romio_cb_write,
    };
    match toggle {
        Toggle::Automatic => Wish::Automatic,
        Toggle::Enable => Wish::Always,
        Toggle::Disable => Wish::Never,
    }
}
