//! The collective buffer: slots in memory that the ranks of a node share.
//!
//! Window number n of all accesses so far goes into slot n modulo the number of slots, as soon as
//! the window before it there is done. Ranks copy straight between the user's memory and a slot,
//! and nobody owns one: of those who fill a window for a write, the last to finish writes it; a
//! window for a read is read by the first who has time. So the file calls spread over the cores,
//! and while one rank is in the kernel the others copy.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::memory::{Bell, Marks, Piece, Shared};

/// Bytes of the file in one slot at most.
pub const SLOT_SIZE: usize = 512 << 10;

/// Marks of one slot: a mark for each byte of a quarter of it, or for four bytes each of all.
const MARKS_SIZE: usize = SLOT_SIZE / 4;

/// More slots only leave the cache.
const MOST_SLOTS: usize = 8;

/// The words that tell the state of a slot, with a cache line between slots.
const STATE_SIZE: usize = 128;

/// The slots, as one rank sees them.
pub struct Ring {
    memory: Shared,
    bell: Bell,
    /// Where in the memory it starts.
    start: usize,
    slots: u64,
    /// Windows of all accesses before this one; counted alike by all ranks.
    before: AtomicU64,
}

/// Where one window is.
pub struct Slot<'a> {
    ring: &'a Ring,
    index: usize,
    /// How many windows have been in the slot before this one.
    lap: u64,
}

impl Ring {
    /// How many slots a collective buffer of `size` bytes has for so many who work at a time: one
    /// for each of them and one that is being filled meanwhile. Every slot more is memory that the
    /// kernel has to find when a file is first accessed, which takes longer than to write it.
    pub fn slots_within(size: u64, workers: usize) -> usize {
        (size as usize / SLOT_SIZE).min(workers.saturating_add(1)).clamp(2, MOST_SLOTS)
    }

    /// Bytes that `slots` slots need, all zero at the start.
    pub fn size(slots: usize) -> usize {
        slots * (STATE_SIZE + MARKS_SIZE + SLOT_SIZE)
    }

    /// A ring of `slots` slots in such memory, from byte `start` on. All ranks make it alike.
    pub fn new(memory: Shared, bell: Bell, slots: usize, start: usize) -> Ring {
        Ring { memory, bell, start, slots: slots as u64, before: AtomicU64::new(0) }
    }

    /// Rings when a slot becomes free or has been read into.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// How many slots there are.
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// The largest window whose grains of `1 << shift` bytes can all be marked.
    pub fn window_size(shift: u32) -> u64 {
        SLOT_SIZE.min(MARKS_SIZE << shift) as u64
    }

    /// Where window `number` of the access goes.
    pub fn slot(&self, number: u64) -> Slot<'_> {
        let number = self.before.load(Relaxed) + number;
        Slot { ring: self, index: (number % self.slots) as usize, lap: number / self.slots }
    }

    /// The access is over, and had so many windows. All ranks say so.
    pub fn pass(&self, windows: u64) {
        self.before.fetch_add(windows, Relaxed);
    }
}

impl Slot<'_> {
    fn word(&self, number: usize) -> &AtomicU64 {
        self.ring.memory.word(self.ring.start + self.index * STATE_SIZE + number * 8)
    }

    /// Windows that have left the slot.
    fn laps(&self) -> &AtomicU64 {
        self.word(0)
    }

    /// Ranks that are done with the window in it.
    fn visits(&self) -> &AtomicU64 {
        self.word(1)
    }

    /// Windows that somebody has begun to read into it or to write.
    fn claims(&self) -> &AtomicU64 {
        self.word(2)
    }

    /// Windows that have been read into it.
    fn reads(&self) -> &AtomicU64 {
        self.word(3)
    }

    /// Bytes that were there to read.
    fn found(&self) -> &AtomicU64 {
        self.word(4)
    }

    /// Whether the window before this one has left the slot.
    pub fn is_free(&self) -> bool {
        self.laps().load(Acquire) == self.lap
    }

    /// This rank is done with the window; answers whether it is the last of so many.
    pub fn leave(&self, visitors: u64) -> bool {
        self.visits().fetch_add(1, AcqRel) + 1 == visitors
    }

    /// As `leave`, for those whose host waits until all are done.
    pub fn leave_to_host(&self, visitors: u64) {
        if self.leave(visitors) {
            self.ring.bell.ring();
        }
    }

    /// Whether the window is in the slot and so many are done with it.
    pub fn is_left_by(&self, visitors: u64) -> bool {
        self.is_free() && self.visits().load(Acquire) == visitors
    }

    /// All are done: the next window may come. Said by the last.
    pub fn release(&self) {
        self.visits().store(0, Relaxed);
        self.laps().store(self.lap + 1, Release);
        self.ring.bell.ring();
    }

    /// Whether somebody reads or writes the window, or has done so.
    pub fn is_claimed(&self) -> bool {
        self.claims().load(Relaxed) > self.lap
    }

    /// Answers whether it falls to this rank to read the window, or to write it once it is full.
    pub fn claim(&self) -> bool {
        let seen = self.claims().load(Relaxed);
        seen <= self.lap
            && self.is_free()
            && self.claims().compare_exchange(seen, self.lap + 1, AcqRel, Relaxed).is_ok()
    }

    /// The window was read, and had `found` bytes before the end of the file.
    pub fn publish(&self, found: u64) {
        self.found().store(found, Relaxed);
        self.reads().store(self.lap + 1, Release);
        self.ring.bell.ring();
    }

    /// How many bytes were read, once they are there.
    pub fn published(&self) -> Option<u64> {
        (self.reads().load(Acquire) == self.lap + 1).then(|| self.found().load(Relaxed))
    }

    /// Its memory.
    pub fn bytes(&self) -> Piece {
        let before = self.ring.start + self.ring.slots as usize * (STATE_SIZE + MARKS_SIZE);
        self.ring.memory.piece(before + self.index * SLOT_SIZE, SLOT_SIZE)
    }

    /// The marks of what has been put there.
    pub fn marks(&self, shift: u32) -> Marks {
        let before = self.ring.start + self.ring.slots as usize * STATE_SIZE;
        Marks::new(self.ring.memory.piece(before + self.index * MARKS_SIZE, MARKS_SIZE), shift)
    }
}
