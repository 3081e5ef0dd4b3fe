//! Which engine a collective access takes. Every rank decides from the same facts, so all decide
//! alike.

use super::two_phase::Digest;
use crate::operation::Direction;

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

/// Pieces from this size on are as well accessed one by one, where nobody says anything.
pub const LARGE_PIECE: u64 = 64 << 10;

/// An access of fewer bytes in all is over before the ranks have met.
const LITTLE: u64 = 64 << 10;

/// Bytes of windows for each byte of data that are too many.
const SPARSE: u64 = 4;

/// The same of a write whose windows are asked for: there would be next to nothing in them. A read
/// reads them whole.
const NEARLY_EMPTY: u64 = 256;

/// Chooses for all ranks from the facts about all; pieces of `large_piece` bytes are large, and of 0
/// none are.
pub fn route(all: &Digest, direction: Direction, wish: Wish, large_piece: u64) -> Route {
    let (total, span) = (all.size, all.span.end - all.span.start);
    let sparse = match (wish, direction) {
        (Wish::Always, Direction::Write) => NEARLY_EMPTY,
        _ => SPARSE,
    };
    let reason = if total == 0 {
        Reason::Nothing
    } else if !all.orderly {
        Reason::Disorderly
    } else if span / sparse > total.max(LITTLE) {
        Reason::Sparse
    } else if wish == Wish::Always {
        return Route::TwoPhase;
    } else if large_piece > 0 && total / all.pieces.max(1) >= large_piece {
        Reason::LargePieces
    } else if total < LITTLE {
        Reason::Little
    } else {
        return Route::TwoPhase;
    };
    Route::Individual(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::two_phase::Part;

    /// The way of an access of 1 MiB without holes, in pieces of so many bytes.
    fn way(piece: u64, wish: Wish, large_piece: u64) -> Route {
        let (size, end) = (1 << 20, 1 << 20);
        let part = Part { end, size, piece, orderly: true, ..Part::default() };
        route(&Digest::of(&[part]), Direction::Write, wish, large_piece)
    }

    #[test]
    fn who_asks_for_windows_gets_them_unless_they_are_nearly_empty() {
        let way = |distance, direction, wish| {
            let (size, piece) = (1 << 20, 512);
            let end = size * distance;
            let part = Part { end, size, piece, orderly: true, ..Part::default() };
            route(&Digest::of(&[part]), direction, wish, LARGE_PIECE)
        };
        let alone = Route::Individual(Reason::Sparse);
        for (direction, most) in [(Direction::Read, 4), (Direction::Write, 256)] {
            assert_eq!(way(4, direction, Wish::Automatic), Route::TwoPhase);
            assert_eq!(way(6, direction, Wish::Automatic), alone);
            assert_eq!(way(most, direction, Wish::Always), Route::TwoPhase);
            assert_eq!(way(most + 2, direction, Wish::Always), alone);
        }
    }

    #[test]
    fn the_user_may_say_what_is_large() {
        let alone = Route::Individual(Reason::LargePieces);
        assert_eq!(way(64 << 10, Wish::Automatic, LARGE_PIECE), alone);
        assert_eq!(way(32 << 10, Wish::Automatic, LARGE_PIECE), Route::TwoPhase);
        assert_eq!(way(64 << 10, Wish::Automatic, 1 << 20), Route::TwoPhase);
        assert_eq!(way(1 << 20, Wish::Automatic, 1 << 20), alone);
        assert_eq!(way(1 << 20, Wish::Automatic, 0), Route::TwoPhase);
        assert_eq!(way(1 << 20, Wish::Always, 1), Route::TwoPhase);
    }
}
