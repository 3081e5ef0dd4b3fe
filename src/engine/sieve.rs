//! Data sieving: one large access that also moves the holes, instead of many small ones.
//!
//! A read looks at a whole window of the file and picks its bytes out of it. A write must put
//! the holes back as they were, so it reads the window first and keeps everybody else out of it
//! meanwhile: it is only done where a lock does that (see [`Sieving`]).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use parking_lot::{Mutex, RwLock};

use crate::driver::ranges::without;
use crate::driver::{Driver, LockKind};
use crate::error::Result;
use crate::memory::{Piece, Scratch, Window, aliasing};
use crate::operation::Direction;
use crate::view::cursor::Cursor;
use crate::view::layout::View;
use crate::view::typemap::Monotony;

/// Whether accesses of one direction are sieved, and with how much memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sieving {
    /// Sieve accesses whose pieces are on average at most this many bytes apart, from start to
    /// start; 0 never.
    pub stride: u64,
    /// Size of a window.
    pub buffer_size: usize,
}

impl Sieving {
    /// Whether an access through `view` is sieved. One that names bytes twice never is: how much
    /// of it lies in a window, or before the end of the file, is no longer a matter of counting.
    pub fn pays(&self, view: &View) -> bool {
        self.stride > 0
            && view.granularity().1 <= self.stride
            && view.filetype.monotony() == Monotony::Increasing
    }
}

/// Keeps sieving writers of one process out of each other's windows, and everybody else out of
/// all of them: the file's range locks only work between processes and openings.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Doors>);

#[derive(Debug, Default)]
struct Doors {
    /// Held for writing by who sieves, for reading by who locks beside.
    sieving: RwLock<()>,
    /// Who locks beside. A byte that several threads have locked is given back by the last.
    beside: Mutex<Neighbours>,
}

#[derive(Debug, Default)]
struct Neighbours {
    all: Vec<Neighbour>,
    came: u64,
}

#[derive(Debug)]
struct Neighbour {
    number: u64,
    range: Range<u64>,
    progress: Progress,
}

#[derive(Debug, PartialEq, Eq)]
enum Progress {
    /// For the lock. What others give back meanwhile it must not keep: those who have what it
    /// waits for may want just that.
    Waits,
    /// Something was given back that it may have had by then.
    MustAskAgain,
    Locked,
}

impl Neighbours {
    fn add(&mut self, range: Range<u64>) -> u64 {
        self.came += 1;
        self.all.push(Neighbour { number: self.came, range, progress: Progress::Waits });
        self.came
    }

    /// The system has given the lock. If it may have lost some again, what is left of it is
    /// returned, to be given back before it is asked for anew: nobody keeps some and waits.
    fn settle(&mut self, number: u64) -> Option<Vec<Range<u64>>> {
        let one = self.all.iter_mut().find(|one| one.number == number)?;
        if one.progress == Progress::Waits {
            one.progress = Progress::Locked;
            return None;
        }
        one.progress = Progress::Waits;
        let range = one.range.clone();
        Some(self.free(number, range))
    }

    /// Goes, and returns what is to be given back.
    fn remove(&mut self, number: u64, range: Range<u64>) -> Vec<Range<u64>> {
        self.all.retain(|one| one.number != number);
        self.free(number, range)
    }

    /// What nobody else has locked of a range, which will be given back by the caller.
    fn free(&mut self, number: u64, range: Range<u64>) -> Vec<Range<u64>> {
        let locked = self.all.iter().filter(|one| one.progress == Progress::Locked);
        let free = locked.map(|one| &one.range).fold(vec![range], without);
        for one in self.all.iter_mut().filter(|one| one.number != number) {
            let touched =
                |free: &Range<u64>| free.start < one.range.end && one.range.start < free.end;
            if one.progress == Progress::Waits && free.iter().any(touched) {
                one.progress = Progress::MustAskAgain;
            }
        }
        free
    }
}

impl Gate {
    /// Runs `write` while no other writer of this or another process that locks can touch
    /// `size` bytes at `offset`.
    pub fn alone<T>(
        &self,
        driver: &dyn Driver,
        offset: u64,
        size: u64,
        write: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let _inside = self.0.sieving.write();
        driver.lock(offset, size, LockKind::Exclusive)?;
        let written = publishing(driver, offset, size, write);
        driver.unlock(offset, size);
        written
    }

    /// Runs `act`, which changes nothing but its own bytes in `range`, while nobody sieves there.
    pub fn beside<T>(
        &self,
        driver: &dyn Driver,
        direction: Direction,
        range: Range<u64>,
        act: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let (offset, length) = (range.start, range.end - range.start);
        if !driver.readable() {
            // Only who may read can share a lock. One that is not shared must not be kept for a
            // thread that still waits for the rest of its own: others may wait for it so too.
            return self.alone(driver, offset, length, act);
        }
        let _inside = self.0.sieving.read();
        let number = self.0.beside.lock().add(range.clone());
        let locked = loop {
            let asked = driver.lock(offset, length, LockKind::Shared);
            let mut beside = self.0.beside.lock();
            let left = beside.settle(number);
            let Some(left) = left.filter(|_| asked.is_ok()) else { break asked };
            give_back(driver, left);
            // Without letting others in: two could go on disturbing each other.
            match driver.try_lock(offset, length, LockKind::Shared) {
                Ok(false) => {}
                Ok(true) => {
                    beside.settle(number);
                    break Ok(());
                }
                Err(error) => break Err(error),
            }
        };
        let outcome = locked.map(|()| match direction {
            Direction::Read => act(),
            Direction::Write => publishing(driver, offset, length, act),
        });
        // Nobody is taken for locked before what is found free here has been given back.
        let mut beside = self.0.beside.lock();
        give_back(driver, beside.remove(number, range));
        drop(beside);
        outcome?
    }
}

fn give_back(driver: &dyn Driver, ranges: Vec<Range<u64>>) {
    for range in ranges {
        driver.unlock(range.start, range.end - range.start);
    }
}

/// Runs `write` and sends what it has written, also if that is not all.
fn publishing<T>(
    driver: &dyn Driver,
    offset: u64,
    length: u64,
    write: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let written = write();
    let published = driver.publish(offset, length);
    written.and_then(|written| published.map(|()| written))
}

/// The part of the view that fits into one window: its place in the file and its data.
struct Cut {
    offset: u64,
    /// Bytes of the file from the first byte of data to the last.
    span: usize,
    /// Bytes of data.
    size: usize,
}

fn cut(view: &View, cursor: &Cursor<'_>, limit: usize, buffer_size: usize) -> Cut {
    let position = cursor.position();
    let offset = view.displacement.saturating_add_signed(cursor.displacement());
    let fits = view.size_before(offset + buffer_size as u64) - position;
    let size = fits.min(limit as u64);
    let end = view.offset_of(position + size - 1) + 1;
    Cut { offset, span: (end - offset) as usize, size: size as usize }
}

/// What the threads of one access have done so far: windows, the bytes in them that nobody asked
/// for, and whether any went through a buffer.
#[derive(Debug, Default)]
pub struct Tally {
    windows: AtomicU64,
    extra_bytes: AtomicU64,
    pub(super) bounced: AtomicBool,
}

impl Tally {
    /// Counts a window with so many bytes that nobody asked for.
    pub fn add(&self, extra: usize) {
        self.windows.fetch_add(1, Relaxed);
        self.extra_bytes.fetch_add(extra as u64, Relaxed);
    }

    /// Windows, extra bytes, bounced.
    pub fn total(&self) -> (u64, u64, bool) {
        let bounced = self.bounced.load(Relaxed);
        (self.windows.load(Relaxed), self.extra_bytes.load(Relaxed), bounced)
    }
}

/// What to sieve, and with what.
#[allow(missing_docs)]
pub struct Job<'a> {
    pub driver: &'a dyn Driver,
    pub view: &'a View,
    pub gate: &'a Gate,
    pub buffer_size: usize,
    pub tally: &'a Tally,
}

impl Job<'_> {
    /// Fills `packed` from the view, window by window; fewer bytes mean end of file.
    pub fn read(&self, cursor: &mut Cursor<'_>, packed: Piece) -> Result<u64> {
        let view = self.view;
        let mut scratch = Scratch::new(self.buffer_size + aliasing::PAGE)?;
        let mut done = 0;
        while done < packed.len() {
            let cut = cut(view, cursor, packed.len() - done, self.buffer_size);
            self.tally.add(cut.span - cut.size);
            let aside = aliasing::far_from(cut.offset as usize);
            let whole = scratch.piece(cut.span + aside).skip(aside);
            let window = Window::new(whole, cut.offset);
            let filled = self.driver.read_at(cut.offset, &[whole])?;
            let end = cut.offset + filled;
            let size = match filled < cut.span as u64 {
                false => cut.size,
                true => view.size_before(end).saturating_sub(cursor.position()) as usize,
            };
            window.take(cursor, view.displacement, packed.skip(done).take(size));
            done += size;
            if size < cut.size {
                break;
            }
        }
        Ok(done as u64)
    }

    /// Writes `packed` through the view, window by window, and leaves the holes as they are.
    pub fn write(&self, cursor: &mut Cursor<'_>, packed: Piece) -> Result<()> {
        let (driver, view) = (self.driver, self.view);
        let mut scratch = Scratch::new(self.buffer_size)?;
        let mut done = 0;
        while done < packed.len() {
            let cut = cut(view, cursor, packed.len() - done, self.buffer_size);
            self.tally.add(cut.span - cut.size);
            let whole = scratch.piece(cut.span);
            let window = Window::new(whole, cut.offset);
            self.gate.alone(driver, cut.offset, cut.span as u64, || {
                if cut.span > cut.size {
                    // Beyond the end of the file there is nothing to keep: holes there are zero.
                    let filled = driver.read_at(cut.offset, &[whole])? as usize;
                    whole.skip(filled).zero();
                }
                window.put(cursor, view.displacement, packed.skip(done).take(cut.size));
                driver.write_at(cut.offset, &[whole])
            })?;
            done += cut.size;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::disk::Disk;

    #[test]
    fn who_waits_keeps_nothing_that_others_give_back() {
        let mut all = Neighbours::default();
        let (first, second) = (all.add(300..400), all.add(390..500));
        assert_eq!(all.settle(first), None);
        assert_eq!(all.settle(second), None);
        let (waiting, aside) = (all.add(50..350), all.add(0..50));
        assert_eq!(all.remove(first, 300..400), [300..390]);
        assert_eq!(all.settle(aside), None);
        // It may have been given its lock just before 300..350 were given back.
        assert_eq!(all.settle(waiting), Some(vec![50..350]));
        assert_eq!(all.settle(waiting), None);
        assert_eq!(all.remove(second, 390..500), [390..500]);
        assert_eq!(all.remove(waiting, 50..350), [50..350]);
    }

    #[test]
    fn what_two_have_locked_is_given_back_by_the_last() {
        let (disk, gate) = (Disk::default(), Gate::default());
        let beside = |range, act: &dyn Fn() -> Result<()>| {
            gate.beside(&disk, Direction::Write, range, act).unwrap();
        };
        beside(0..10, &|| {
            beside(5..15, &|| Ok(()));
            assert!(disk.is_locked(0..10) && !disk.is_locked(10..11));
            beside(2..4, &|| Ok(()));
            beside(0..10, &|| Ok(()));
            assert!(disk.is_locked(0..10));
            Ok(())
        });
        assert_eq!(disk.locks_left(), 0);
    }
}
