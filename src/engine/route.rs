//! Which engine a collective access takes. Every rank decides from the same facts, so all decide
//! alike.

use super::two_phase::Digest;

/// What the user wants of collective buffering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// What is faster.
    #[default]
    Automatic,
    /// Wherever it is possible.
    Always,
}

/// The way of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Each rank for itself.
    Individual(Reason),
    /// Together, through the collective buffer.
    TwoPhase,
}

/// Why each rank goes for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nobody has anything to move.
    Nothing,
    /// Some rank's bytes do not lie in the order of the access.
    Disorderly,
    /// Much less than the windows would hold.
    Sparse,
    /// The pieces are large enough for calls of their own.
    LargePieces,
    /// So little that meeting costs more than moving it.
    Little,
}

/// Pieces from this size on are as well accessed one by one.
const LARGE_PIECE: u64 = 64 << 10;

/// An access of fewer bytes in all is over before the ranks have met.
const LITTLE: u64 = 64 << 10;

/// Bytes of windows for each byte of data that are too many.
const SPARSE: u64 = 4;

/// Chooses for all ranks from the facts about all.
pub fn route(all: &Digest, wish: Wish) -> Route {
    let (total, span) = (all.size, all.span.end - all.span.start);
    let reason = if total == 0 {
        Reason::Nothing
    } else if !all.orderly {
        Reason::Disorderly
    } else if span / SPARSE > total.max(LITTLE) {
        Reason::Sparse
    } else if wish == Wish::Always {
        return Route::TwoPhase;
    } else if total / all.pieces.max(1) >= LARGE_PIECE {
        Reason::LargePieces
    } else if total < LITTLE {
        Reason::Little
    } else {
        return Route::TwoPhase;
    };
    Route::Individual(reason)
}
