//! Collective data access: the ranks tell each other what they have, choose one way for all, and
//! go it together.

use super::File;
use super::access::Ready;
use crate::engine::ranks::{Ranks, share};
use crate::engine::route::{Reason, Route, Wish, route};
use crate::engine::two_phase::{self, Part, Shape};
use crate::error::Result;
use crate::hint::{Hints, Toggle};
use crate::operation::Direction;
use crate::report::Counter;
use crate::run::block_on;

impl File {
    /// Whether collective accesses look for a common way at all. The same on all ranks.
    pub(super) fn meets(&self, direction: Direction) -> bool {
        self.ranks.size() > 1 && wish(&self.state.lock().hints, direction).is_some()
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
        let buffer = match route(&parts, wish.unwrap_or_default()) {
            Route::TwoPhase => self.ranks.ring(size).ok_or(Counter::AloneMemory),
            Route::Individual(reason) => Err(counter(reason)),
        };
        let buffer = match buffer {
            Ok(buffer) => buffer,
            Err(why) => {
                self.counters.add(why, u64::from(ready.checked.size > 0));
                return self.move_bytes(&ready);
            }
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

/// Where the report counts it.
fn counter(reason: Reason) -> Counter {
    match reason {
        Reason::LargePieces => Counter::AloneLargePieces,
        Reason::Little | Reason::Nothing => Counter::AloneLittle,
        Reason::Sparse => Counter::AloneSparse,
        Reason::Disorderly => Counter::AloneView,
    }
}

/// None where the user wants no collective buffering.
fn wish(hints: &Hints, direction: Direction) -> Option<Wish> {
    let toggle = match direction {
        Direction::Read => hints.romio_cb_read,
        Direction::Write => hints.romio_cb_write,
    };
    match toggle {
        Toggle::Automatic => Some(Wish::Automatic),
        Toggle::Enable => Some(Wish::Always),
        Toggle::Disable => None,
    }
}
