//! What a rank tells the others about its part of a collective access.

use std::ops::Range;

use crate::engine::individual::Access;
use crate::view::typemap::Monotony;

/// The facts about one rank's part that all ranks choose by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// First byte of the file that the rank accesses.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Bytes it accesses between them.
    pub size: u64,
    /// Average length of a contiguous piece of them.
    pub piece: u64,
    /// Pieces start and end at multiples of `1 << grain`.
    pub grain: u32,
    /// Its bytes lie in the file in the order of the access, none twice.
    pub orderly: bool,
}

/// Pages and more are no finer to tell apart.
const COARSEST: u32 = 12;

impl Part {
    /// The part of one access, which does not reach beyond the largest offset.
    pub fn of(access: &Access<'_>) -> Part {
        let (view, position, size) = (access.view, access.position, access.memory.size());
        if size == 0 {
            return Part { orderly: true, grain: COARSEST, ..Part::default() };
        }
        let start = view.offset_of(position);
        let end = view.offset_of(position + size - 1) + 1;
        let (piece, grain) = match view.is_contiguous(position, size) {
            true => (size, (start | size).trailing_zeros()),
            false => {
                let places = (position | size | view.displacement).trailing_zeros();
                (view.granularity().0, view.filetype.grain().min(places))
            }
        };
        let orderly = view.filetype.monotony() == Monotony::Increasing;
        Part { start, end, size, piece, grain: grain.min(COARSEST), orderly }
    }

    /// From the first byte to the last.
    pub fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// How many numbers a part is sent as.
    pub const NUMBERS: usize = 5;

    /// As numbers for an exchange.
    pub fn encode(&self) -> [i64; Part::NUMBERS] {
        let rest = i64::from(self.grain) << 1 | i64::from(self.orderly);
        [self.start as i64, self.end as i64, self.size as i64, self.piece as i64, rest]
    }

    /// Back from numbers.
    pub fn decode(numbers: &[i64]) -> Part {
        Part {
            start: numbers[0] as u64,
            end: numbers[1] as u64,
            size: numbers[2] as u64,
            piece: numbers[3] as u64,
            grain: (numbers[4] >> 1) as u32,
            orderly: numbers[4] & 1 == 1,
        }
    }
}
