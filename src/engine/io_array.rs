//! The io_array: triplets (memory address, file offset, length) of one cycle.
//!
//! It is allocated once and never grows: with N pieces in memory and M in the file a cycle has
//! at most N + M - 1 entries, because each entry ends a piece on one side or the other.

use crate::error::{Class, Error, Result};
use crate::memory::{Piece, UserMemory};
use crate::view::cursor::Cursor;

/// Entries in one cycle; as many as one vectored system call takes.
pub const CAPACITY: usize = 1024;

/// The memory side of a cycle.
pub enum MemorySide<'a, 'b> {
    /// One piece.
    Contiguous(Piece),
    /// The user's pieces, from the cursor on.
    Scattered(&'a UserMemory, &'b mut Cursor<'a>),
}

/// The entries of one cycle, in file order.
pub struct IoArray {
    offsets: Vec<u64>,
    pieces: Vec<Piece>,
}

impl IoArray {
    /// An empty one. It gets all the room it will ever have when it is first filled: most small
    /// accesses never do.
    pub fn new() -> IoArray {
        IoArray { offsets: Vec::new(), pieces: Vec::new() }
    }

    /// Fills the array with the next at most `limit` bytes of both sides, as far as it has room,
    /// and returns how many. The file cursor's displacements count from `origin`. Fails only for
    /// lack of memory.
    pub fn build(
        &mut self,
        file: &mut Cursor<'_>,
        origin: u64,
        memory: &mut MemorySide<'_, '_>,
        limit: u64,
    ) -> Result<u64> {
        self.offsets.clear();
        self.pieces.clear();
        let offsets = self.offsets.try_reserve_exact(CAPACITY);
        offsets.and_then(|()| self.pieces.try_reserve_exact(CAPACITY)).map_err(|_| {
            Error::new(Class::NoMem, format!("no memory for a list of {CAPACITY} pieces"))
        })?;
        let mut built = 0;
        while built < limit && self.pieces.len() < CAPACITY {
            let offset = origin.saturating_add_signed(file.displacement());
            let most = file.left_in_run().min(limit - built);
            let piece = match memory {
                MemorySide::Contiguous(rest) => {
                    let piece = rest.take(most.min(rest.len() as u64) as usize);
                    *rest = rest.skip(piece.len());
                    piece
                }
                MemorySide::Scattered(user, cursor) => user.next_piece(cursor, most),
            };
            let length = piece.len() as u64;
            file.next(length);
            self.offsets.push(offset);
            self.pieces.push(piece);
            built += length;
        }
        Ok(built)
    }

    /// Entries in it.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Stretches of the file without a gap: where each starts, and the pieces of memory for it.
    pub fn runs(&self) -> impl Iterator<Item = (u64, &[Piece])> {
        let mut first = 0;
        std::iter::from_fn(move || {
            let start = *self.offsets.get(first)?;
            let mut end = first + 1;
            let mut reached = start + self.pieces[first].len() as u64;
            while end < self.pieces.len() && self.offsets[end] == reached {
                reached += self.pieces[end].len() as u64;
                end += 1;
            }
            let pieces = &self.pieces[first..end];
            first = end;
            Some((start, pieces))
        })
    }

    /// The smallest range of the file that holds all entries.
    pub fn range(&self) -> std::ops::Range<u64> {
        let end = self.offsets.iter().zip(&self.pieces).map(|(o, p)| o + p.len() as u64).max();
        let start = self.offsets.iter().copied().min();
        start.unwrap_or(0)..end.unwrap_or(0)
    }
}

impl Default for IoArray {
    fn default() -> IoArray {
        IoArray::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::typemap::Typemap;

    #[test]
    fn n_and_m_pieces_give_at_most_n_plus_m_minus_1_entries() {
        let mut bytes = vec![0u8; 4096];
        for (memory, file) in [(3, 5), (7, 2), (16, 16), (5, 3)] {
            let size = 240;
            let in_memory = Typemap::bytes(size / memory).hvector(memory, 1, 200);
            let in_file = Typemap::bytes(size / file).hvector(file, 1, 1000);
            let user = UserMemory::within(&mut bytes, 0, in_memory, 1);
            let mut array = IoArray::new();
            let mut cursor = user.cursor(0);
            let mut side = MemorySide::Scattered(&user, &mut cursor);
            let moved = size / memory * memory;
            let built = array.build(&mut Cursor::new(&in_file, 0), 0, &mut side, moved);
            assert_eq!(built.unwrap(), moved);
            assert!((array.len() as u64) < memory + file, "{memory} and {file} pieces");
            assert_eq!(array.pieces.capacity(), CAPACITY, "the array has grown");
        }
    }

    #[test]
    fn neighbours_in_the_file_are_one_run() {
        let bytes = [0u8; 64];
        let file = Typemap::bytes(8).hindexed(&[(0, 1), (16, 1)]);
        let mut array = IoArray::new();
        let mut side = MemorySide::Contiguous(Piece::of(&bytes[..24]));
        array.build(&mut Cursor::new(&file, 0), 100, &mut side, 24).unwrap();
        let runs: Vec<_> = array.runs().map(|(offset, pieces)| (offset, pieces.len())).collect();
        // The last 8 bytes are the first piece of the next tile, which touches.
        assert_eq!(runs, [(100, 1), (116, 2)]);
        assert_eq!(array.range(), 100..132);
    }
}
