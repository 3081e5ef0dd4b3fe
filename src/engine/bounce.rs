//! Accesses from and to memory that lies badly for the kernel's copies.
//!
//! Where the processor copies slowly between places that lie alike in their pages (see
//! [`aliasing`]), bytes go faster through a small buffer that lies well to both sides and stays
//! in the cache.

use std::ops::Range;

use crate::driver::Driver;
use crate::error::Result;
use crate::memory::{Piece, Scratch, aliasing, copy_between};
use crate::operation::Direction;

/// Stays in the cache between the kernel's copy and ours, and hides the cost of a call.
const BUFFER_SIZE: usize = 64 << 10;

/// Pieces below this are soon copied in any case.
const WORTHWHILE: usize = 1 << 10;

/// The buffer of one thread, there once it is needed.
#[derive(Default)]
pub struct Bounce {
    buffer: Option<Scratch>,
    /// Whether anything went through it.
    pub used: bool,
}

impl Bounce {
    /// As the driver's `read_at`.
    pub fn read(&mut self, driver: &dyn Driver, offset: u64, pieces: &[Piece]) -> Result<u64> {
        match self.buffer_for(Direction::Read, offset, pieces) {
            None => driver.read_at(offset, pieces),
            Some(buffer) => read_through(driver, buffer, offset, pieces),
        }
    }

    /// As the driver's `write_at`.
    pub fn write(&mut self, driver: &dyn Driver, offset: u64, pieces: &[Piece]) -> Result<()> {
        match self.buffer_for(Direction::Write, offset, pieces) {
            None => driver.write_at(offset, pieces),
            Some(buffer) => write_through(driver, buffer, offset, pieces),
        }
    }

    /// The buffer, if the access is to go through it. Without memory for one it need not.
    fn buffer_for(
        &mut self,
        direction: Direction,
        offset: u64,
        pieces: &[Piece],
    ) -> Option<&mut Scratch> {
        if !lie_badly(direction, offset, pieces) || !aliasing::is_slow() {
            return None;
        }
        if self.buffer.is_none() {
            self.buffer = Scratch::new(BUFFER_SIZE + aliasing::PAGE).ok();
        }
        self.used |= self.buffer.is_some();
        self.buffer.as_mut()
    }
}

/// Whether that holds for most of the bytes.
fn lie_badly(direction: Direction, offset: u64, pieces: &[Piece]) -> bool {
    let (mut at, mut badly) = (offset as usize, 0);
    for piece in pieces {
        let (from, to) = match direction {
            Direction::Read => (at, piece.address() as usize),
            Direction::Write => (piece.address() as usize, at),
        };
        if piece.len() >= WORTHWHILE && aliasing::lie_badly(from, to) {
            badly += piece.len();
        }
        at = at.wrapping_add(piece.len());
    }
    badly > at.wrapping_sub(offset as usize) / 2
}

/// The buffer for what lies at `offset` of the file.
fn place(buffer: &mut Scratch, offset: u64) -> Piece {
    let aside = aliasing::far_from(offset as usize);
    buffer.piece(aside + BUFFER_SIZE).skip(aside)
}

fn read_through(
    driver: &dyn Driver,
    buffer: &mut Scratch,
    offset: u64,
    pieces: &[Piece],
) -> Result<u64> {
    let mut walk = Walk::new(pieces);
    let mut done = 0;
    while walk.left > 0 {
        let stage = place(buffer, offset + done).take(walk.left.min(BUFFER_SIZE));
        let moved = driver.read_at(offset + done, &[stage])? as usize;
        walk.next(moved, |piece, range| {
            copy_between(piece, stage.skip(range.start).take(range.len()))
        });
        done += moved as u64;
        if moved < stage.len() {
            break;
        }
    }
    Ok(done)
}

fn write_through(
    driver: &dyn Driver,
    buffer: &mut Scratch,
    offset: u64,
    pieces: &[Piece],
) -> Result<()> {
    let mut walk = Walk::new(pieces);
    let mut done = 0;
    while walk.left > 0 {
        let stage = place(buffer, offset + done).take(walk.left.min(BUFFER_SIZE));
        walk.next(stage.len(), |piece, range| {
            copy_between(stage.skip(range.start).take(range.len()), piece);
        });
        driver.write_at(offset + done, &[stage])?;
        done += stage.len() as u64;
    }
    Ok(())
}

/// The pieces of an access as one stream.
struct Walk<'a> {
    pieces: &'a [Piece],
    /// Bytes of the first piece that are done.
    consumed: usize,
    /// Bytes that are not.
    left: usize,
}

impl Walk<'_> {
    fn new(pieces: &[Piece]) -> Walk<'_> {
        Walk { pieces, consumed: 0, left: pieces.iter().map(Piece::len).sum() }
    }

    /// Steps over `size` bytes, and shows each part of a piece with its place among them.
    fn next(&mut self, size: usize, mut part: impl FnMut(Piece, Range<usize>)) {
        let mut done = 0;
        while done < size {
            let first = self.pieces[0].skip(self.consumed);
            let length = first.len().min(size - done);
            part(first.take(length), done..done + length);
            done += length;
            self.consumed += length;
            if self.consumed == self.pieces[0].len() {
                self.pieces = &self.pieces[1..];
                self.consumed = 0;
            }
        }
        self.left -= size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::disk::Disk;

    /// Pieces of these lengths in `memory`, with a gap of three bytes after each.
    fn pieces(memory: &mut [u8], lengths: &[usize]) -> Vec<Piece> {
        let whole = Piece::of_mut(memory);
        let mut at = 5;
        let mut place = |&length: &usize| {
            let piece = whole.skip(at).take(length);
            at += length + 3;
            piece
        };
        lengths.iter().map(&mut place).collect()
    }

    const LENGTHS: [&[usize]; 4] = [&[1], &[200_000], &[0, 4096, 0, 70_000, 1, 65_536], &[65_536]];

    #[test]
    fn what_goes_through_the_buffer_arrives() {
        for lengths in LENGTHS {
            let total: usize = lengths.iter().sum();
            let mut memory: Vec<u8> = (0..250_000).map(|byte| (byte % 251) as u8).collect();
            let list = pieces(&mut memory, lengths);
            let data: Vec<u8> = list.iter().flat_map(|piece| piece.to_vec()).collect();
            let mut buffer = Scratch::new(BUFFER_SIZE + aliasing::PAGE).unwrap();

            let disk = Disk::with(vec![9; 300]);
            write_through(&disk, &mut buffer, 100, &list).unwrap();
            let file = disk.bytes.lock().clone();
            assert_eq!(file[..100], [9; 100]);
            assert_eq!(file[100..100 + total], data);

            // The file ends before the access does.
            let missing = total.min(10);
            disk.bytes.lock().truncate(100 + total - missing);
            let mut memory = vec![0; 250_000];
            let list = pieces(&mut memory, lengths);
            let moved = read_through(&disk, &mut buffer, 100, &list).unwrap();
            assert_eq!(moved as usize, total - missing);
            let read: Vec<u8> = list.iter().flat_map(|piece| piece.to_vec()).collect();
            assert_eq!(read[..total - missing], data[..total - missing]);
            let named: usize = memory.iter().filter(|&&byte| byte != 0).count();
            assert_eq!(named, read.iter().filter(|&&byte| byte != 0).count());
        }
    }

    #[test]
    fn only_what_lies_badly_goes_through_the_buffer() {
        let mut memory = vec![0; 3 * aliasing::PAGE];
        let start = aliasing::PAGE - memory.as_ptr() as usize % aliasing::PAGE;
        let at = |place, size| Piece::of_mut(&mut memory).skip(start + place).take(size);
        let mut at = at;
        for (direction, offset, place, size, badly) in [
            (Direction::Read, 0, 16, 4096, true),
            (Direction::Read, 0, 16, 512, false),
            (Direction::Read, 0, 0, 4096, false),
            (Direction::Read, 16, 0, 4096, false),
            (Direction::Read, 8192 + 100, 116, 4096, true),
            (Direction::Write, 0, 16, 4096, false),
            (Direction::Write, 32, 16, 4096, true),
        ] {
            assert_eq!(lie_badly(direction, offset, &[at(place, size)]), badly, "{offset} {place}");
        }
        let mixed = [at(16, 1024), at(3000, 1500)];
        assert!(!lie_badly(Direction::Read, 0, &mixed), "the larger part lies well");
    }
}
