//! Collective data access: the ranks tell each other what they have, choose one way for all, and
//! go it together.

use super::File;
use super::access::Ready;
use super::aggregators::aggregators;
use crate::driver::Layout;
use crate::engine::ranks::Ranks;
use crate::engine::route::{LARGE_PIECE, Reason, Route, Wish, route};
use crate::engine::two_phase::{
    self, Choice, Digest, Layers, Nodes, Overlap, Part, Partitioning, Shape, Transfer, explore,
    share_parts,
};
use crate::error::Result;
use crate::hint::{Hints, Override, Toggle};
use crate::memory::{Piece, UserMemory};
use crate::operation::Direction;
use crate::report::Counter;
use crate::run::block_on;

/// File systems that lock in larger units than this are better divided along them.
const LARGE_UNIT: u64 = 64 << 10;

/// What the hints say about a collective access. The same on all ranks.
struct Said {
    wish: Wish,
    /// Pieces of this size are accessed one by one.
    large_piece: u64,
    /// Whether writes may be sieved as they are elsewhere.
    sieves: bool,
    buffer_size: u64,
    layers: Layers,
    local_aggregators: usize,
    /// None where it is left to the library.
    partitioning: Option<Partitioning>,
    /// What the layout of the file is the reason for.
    by_layout: bool,
    transfer: Option<Transfer>,
    overlap: Option<Overlap>,
    aggregators: Option<Vec<usize>>,
    /// What counts once all ranks could start.
    layout: Layout,
}

/// What became of a collective access.
pub(super) struct Moved {
    /// Bytes of this rank.
    pub(super) size: u64,
    /// Whether all ranks know already that nobody has failed.
    pub(super) agreed: bool,
}

impl Moved {
    /// Of a rank that has not heard what became of the others.
    pub(super) fn alone(size: u64) -> Moved {
        Moved { size, agreed: false }
    }
}

/// Contiguous accesses of at most so many bytes are over before the ranks have met.
const LITTLE: u64 = 16 << 10;

impl File {
    /// Whether collective accesses look for a common way at all. The same on all ranks.
    pub(super) fn meets(&self, direction: Direction) -> bool {
        self.ranks.size() > 1 && wish(&self.state.lock().hints, direction).is_some()
    }

    /// Moves the bytes of all ranks. Also one that cannot start takes part. Collective.
    pub(super) fn move_together(
        &self,
        direction: Direction,
        ready: Result<Ready>,
    ) -> Result<Moved> {
        let said = self.said(direction);
        let Some(groups) = self.ranks.groups(said.layers, said.local_aggregators) else {
            self.counters.add(Counter::AloneMemory, 1);
            return ready.and_then(|ready| self.move_bytes(&ready)).map(Moved::alone);
        };
        let begun = ready.and_then(|ready| self.begin_alone(ready, &said));
        let part = |(ready, done): &(Ready, Option<u64>)| match done {
            Some(_) => Part::DONE,
            None => self.part(ready),
        };
        let shared = share_parts(&self.ranks, groups, begun, part);
        let ((ready, done), parts, all) = block_on(&self.ranks, shared)?;
        if all.done {
            self.counters.add(Counter::AloneLittle, 1);
            return Ok(Moved { size: done.unwrap_or(0), agreed: true });
        }
        let nothing = UserMemory::packed(Piece::of(&[]));
        let memory = if done.is_some() { &nothing } else { &ready.checked.memory };
        let moved = self.move_with_all(&ready, memory, said, (groups, &parts, &all))?;
        Ok(Moved::alone(done.unwrap_or(moved)))
    }

    /// Moves so few bytes that the others need not be asked about them, and tells how many. Where
    /// a server has to be asked, neighbours' bytes are better brought to it together.
    fn begin_alone(&self, ready: Ready, said: &Said) -> Result<(Ready, Option<u64>)> {
        let checked = &ready.checked;
        let little = checked.size <= LITTLE
            && said.wish == Wish::Automatic
            && said.layout.answers_at_once()
            && self.filesystem.is_local()
            && checked.view.layout.is_contiguous(ready.position, checked.size);
        match checked.size == 0 || little {
            true => self.move_bytes(&ready).map(|size| (ready, Some(size))),
            false => Ok((ready, None)),
        }
    }

    /// Moves what is in `memory` of a rank's access, together with all others or each for itself.
    /// Collective.
    fn move_with_all(
        &self,
        ready: &Ready,
        memory: &UserMemory,
        said: Said,
        (groups, parts, all): (&Nodes, &[Part], &Digest),
    ) -> Result<u64> {
        let checked = &ready.checked;
        let ring = match route(all, checked.direction, said.wish, said.large_piece) {
            Route::TwoPhase => {
                self.ranks.ring(said.layers, said.buffer_size).ok_or(Counter::AloneMemory)
            }
            Route::Individual(reason) => Err(counter(reason)),
        };
        let ring = match ring {
            Ok(ring) => ring,
            Err(why) => {
                self.counters.add(why, u64::from(memory.size() > 0));
                return match memory.size() {
                    0 => Ok(0),
                    _ => self.move_bytes(ready),
                };
            }
        };
        let several = groups.count() > 1;
        let wanted = said.transfer.unwrap_or_default();
        let transfer = match several && self.ranks.can(wanted) {
            true => wanted,
            false => Transfer::TwoSided,
        };
        let (choice, sieves) = (said.choice(checked.direction, transfer), said.sieves);
        let reasons = said.reasons(transfer);
        let territory = block_on(&self.ranks, explore(&self.ranks, groups, parts, all))?;
        let mut shape = Shape::new(self.ranks.rank(), territory, all, groups);
        let everybody = || groups.choose(usize::MAX, |_| usize::MAX);
        if said.aggregators.is_some() || said.partitioning.is_some() {
            let aggregators = said.aggregators.unwrap_or_else(everybody);
            shape = shape.divided(choice.partitioning, aggregators, said.layout);
        }
        let told = said_of(choice, said.layers, wanted, several, reasons);
        let mut state = self.state.lock();
        if state.engine != told {
            state.engine = told;
        }
        drop(state);
        let mut access = self.as_access(checked, ready.position, memory);
        if !sieves {
            access.plan.write.stride = 0;
        }
        // Another host may access this rank's bytes, which the rank has seen or changed by itself
        // before, and will again: to itself its accesses must come one after the other.
        if self.hidden {
            self.see_each_other(Ok(()))?;
        }
        let moved = two_phase::transfer(
            &self.ranks,
            (ring, groups),
            &checked.driver,
            &access,
            &shape,
            choice,
        );
        let mut done = block_on(&self.ranks, moved).map_err(|error| ready.explain(error));
        if self.hidden && checked.direction == Direction::Write {
            done = self.see_each_other(done);
        }
        let done = done?;
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

    /// Whether all ranks are one group, which needs no messages.
    pub(super) fn are_one_group(&self, hints: &Hints) -> bool {
        let layers = Layers::named(&hints.layers).unwrap_or_default();
        self.ranks.share_memory() && layers == Layers::Two && hints.local_aggregators <= 1
    }

    /// How bytes come from group to group, and in which order of steps, where that cannot be as it
    /// was asked for.
    pub(super) fn ways_not_gone(&self, hints: &Hints, certain_ranks: bool) -> Vec<Override> {
        let one_group = self.ranks.size() == 1 || self.are_one_group(hints);
        let asked = Transfer::named(&hints.transfer);
        let refused = asked.is_some_and(|transfer| self.ranks.refuses(transfer));
        let transfer = match (one_group, asked, hints.transfer.as_str()) {
            (true, Some(_), _) => Some(("shared_memory", "all ranks share memory")),
            (false, _, "shared_memory") => {
                Some(("two_sided", "between groups of ranks there are messages"))
            }
            (false, _, _) if refused => Some(("two_sided", "the MPI has no window for it")),
            _ => None,
        };
        let puts = asked.is_some_and(|transfer| transfer != Transfer::TwoSided);
        let puts = puts && !one_group && !refused;
        let rounds = hints.overlap == "flow" && (puts || certain_ranks);
        let overlap = rounds.then_some((
            "automatic",
            "rounds are needed where certain ranks access the file, or bytes are put",
        ));
        let told = |key, (value, why): (&str, &str)| Override {
            key,
            value: value.to_string(),
            why: why.to_string(),
        };
        let transfer = transfer.map(|word| told("mpiio_rs_transfer", word));
        let overlap = overlap.map(|word| told("mpiio_rs_overlap", word));
        transfer.into_iter().chain(overlap).collect()
    }

    /// How the file is best divided where nobody has said anything. Servers that know writers by
    /// their node give each node a part of its own; where nodes do not disturb each other there,
    /// large stretches save messages.
    fn preferred(&self, layout: Layout) -> Option<Partitioning> {
        let several = self.ranks.nodes().node_count > 1;
        match layout {
            _ if layout.shared_servers => Some(Partitioning::Even),
            _ if several && layout.stripe_count > 1 => Some(Partitioning::StaticCyclic),
            _ if several && layout.alignment > LARGE_UNIT => Some(Partitioning::Even),
            _ => None,
        }
    }

    fn said(&self, direction: Direction) -> Said {
        let layout = self.layout;
        let state = self.state.lock();
        let hints = &state.hints;
        let asked = Partitioning::named(&hints.partitioning);
        let layers = Layers::named(&hints.layers);
        let wish = match layers {
            Some(_) => Wish::Always,
            None => wish(hints, direction).unwrap_or_default(),
        };
        Said {
            wish,
            large_piece: hints.coll_threshold.unwrap_or(LARGE_PIECE),
            sieves: hints.ds_in_coll != Toggle::Disable,
            buffer_size: hints.cb_buffer_size,
            layers: layers.unwrap_or_default(),
            local_aggregators: hints.local_aggregators as usize,
            partitioning: asked.or(self.preferred(layout)),
            by_layout: asked.is_none() && self.preferred(layout).is_some(),
            transfer: Transfer::named(&hints.transfer),
            overlap: Overlap::named(&hints.overlap),
            aggregators: aggregators(hints, layout, &self.homes, self.ranks.size()),
            layout,
        }
    }
}

impl Said {
    /// What all ranks do. A rank that was chosen to access the file does so itself, and puts are
    /// made round by round; else the flow, which is the fastest for reads, for writes not always.
    /// The shuffle of a read is over when it has been begun, so only what reads ahead of it gains.
    fn choice(&self, direction: Direction, transfer: Transfer) -> Choice {
        let rounds = self.aggregators.is_some() || transfer != Transfer::TwoSided;
        let overlap = match self.overlap {
            None | Some(Overlap::Flow) if rounds => match direction {
                Direction::Read => Overlap::Write,
                Direction::Write => Overlap::WriteCommunication2,
            },
            None => Overlap::Flow,
            Some(overlap) => overlap,
        };
        Choice { partitioning: self.partitioning.unwrap_or_default(), transfer, overlap }
    }

    /// Why it is not the flow over windows in turn, where nobody has asked for something else.
    fn reasons(&self, transfer: Transfer) -> [&'static str; 2] {
        let rounds = match self.overlap {
            None | Some(Overlap::Flow) if self.aggregators.is_some() => {
                "; in rounds, because certain ranks access the file"
            }
            None | Some(Overlap::Flow) if transfer != Transfer::TwoSided => {
                "; in rounds, because of the puts"
            }
            _ => "",
        };
        [rounds, if self.by_layout { "; divided as the file's layout asks" } else { "" }]
    }
}

/// What was chosen and why, for the report.
fn said_of(
    choice: Choice,
    layers: Layers,
    wanted: Transfer,
    several: bool,
    reasons: [&str; 2],
) -> String {
    let Choice { partitioning, transfer, overlap } = choice;
    let transfer = match several {
        false => "shared memory",
        true => transfer.name(),
    };
    let refused = match several && wanted != choice.transfer {
        true => format!(" (the MPI has no window for {})", wanted.name()),
        false => String::new(),
    };
    let (layers, partitioning, overlap) = (layers.name(), partitioning.name(), overlap.name());
    let why = reasons.concat();
    format!("{overlap}, {partitioning}, {transfer}{refused}, layers {layers}{why}")
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
    if hints.layers == "0" {
        return None;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_read_ahead_unless_another_order_is_asked_for() {
        let said = |aggregators, overlap| Said {
            wish: Wish::Automatic,
            large_piece: LARGE_PIECE,
            sieves: true,
            buffer_size: 1,
            layers: Layers::Two,
            local_aggregators: 0,
            partitioning: None,
            by_layout: false,
            transfer: None,
            overlap,
            aggregators,
            layout: Layout::default(),
        };
        let order = |direction, aggregators, overlap, transfer| {
            said(aggregators, overlap).choice(direction, transfer).overlap
        };
        let (read, write, chosen) = (Direction::Read, Direction::Write, || Some(vec![0]));
        for asked in [None, Some(Overlap::Flow)] {
            assert_eq!(order(read, chosen(), asked, Transfer::TwoSided), Overlap::Write);
            assert_eq!(order(read, None, asked, Transfer::PutLock), Overlap::Write);
            let behind = order(write, chosen(), asked, Transfer::TwoSided);
            assert_eq!(behind, Overlap::WriteCommunication2);
            assert_eq!(order(read, None, asked, Transfer::TwoSided), Overlap::Flow);
        }
        let asked = Some(Overlap::WriteCommunication2);
        assert_eq!(order(read, chosen(), asked, Transfer::TwoSided), Overlap::WriteCommunication2);
    }
}
