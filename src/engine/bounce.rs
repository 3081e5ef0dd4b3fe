//! Reads into memory that lies badly for the kernel's copy loop.
//!
//! On some processors a copy to an address that is not a multiple of a cache line takes twice
//! the time. There a read goes faster through a small aligned buffer that stays in the cache. On
//! others it does not matter. The first large read of a process tries both and remembers.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::driver::Driver;
use crate::error::Result;
use crate::memory::{Piece, Scratch, copy_between};

/// Fits into the second-level cache of every machine in use, and hides the cost of a call.
const BUFFER_SIZE: usize = 256 << 10;

/// Below this the alignment does not matter enough to look.
const WORTHWHILE: usize = 1 << 20;

const CACHE_LINE: usize = 64;

/// Nanoseconds for one buffer's worth, smallest seen; 0 means not yet known.
static DIRECT: AtomicU64 = AtomicU64::new(0);
static BOUNCED: AtomicU64 = AtomicU64::new(0);

/// Reads a contiguous stretch of the file into a contiguous piece of memory. Tells how many bytes
/// were there, and whether they went through a buffer.
pub fn read(driver: &dyn Driver, offset: u64, piece: Piece) -> Result<(u64, bool)> {
    let aligned = (piece.address() as usize).is_multiple_of(CACHE_LINE);
    if aligned || piece.len() < WORTHWHILE {
        return Ok((driver.read_at(offset, &[piece])?, false));
    }
    let mut scratch = Scratch::new(BUFFER_SIZE)?;
    let mut done = 0;
    for trial in 0..4 {
        let part = piece.skip(done).take(BUFFER_SIZE);
        let (way, known) = if trial % 2 == 0 { (false, &DIRECT) } else { (true, &BOUNCED) };
        let start = Instant::now();
        let moved = one(driver, offset + done as u64, part, way.then_some(&mut scratch))?;
        done += moved as usize;
        if moved < BUFFER_SIZE as u64 {
            return Ok((done as u64, false));
        }
        let elapsed = (start.elapsed().as_nanos() as u64).max(1);
        let before = known.load(Relaxed);
        known.store(if before == 0 { elapsed } else { before.min(elapsed) }, Relaxed);
    }
    if BOUNCED.load(Relaxed) >= DIRECT.load(Relaxed) {
        let rest = driver.read_at(offset + done as u64, &[piece.skip(done)])?;
        return Ok((done as u64 + rest, false));
    }
    while done < piece.len() {
        let size = BUFFER_SIZE.min(piece.len() - done);
        let part = piece.skip(done).take(size);
        let moved = one(driver, offset + done as u64, part, Some(&mut scratch))?;
        done += moved as usize;
        if moved < size as u64 {
            break;
        }
    }
    Ok((done as u64, true))
}

fn one(driver: &dyn Driver, offset: u64, to: Piece, through: Option<&mut Scratch>) -> Result<u64> {
    let Some(scratch) = through else { return driver.read_at(offset, &[to]) };
    let buffer = scratch.piece(to.len());
    let moved = driver.read_at(offset, &[buffer])?;
    copy_between(to.take(moved as usize), buffer.take(moved as usize));
    Ok(moved)
}
