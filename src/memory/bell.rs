//! Sleeping until another rank has changed something in shared memory.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use super::shared::Shared;

/// A bell that all ranks of a node hear: whoever changes what others may wait for rings it.
///
/// Ranks that poll take the cores from those that work. One that sleeps here is woken by the
/// kernel, and soon: the scheduler prefers who has slept.
#[derive(Clone)]
pub struct Bell {
    memory: Shared,
    offset: usize,
}

impl Bell {
    /// Bytes that it takes, zero at the start.
    pub const SIZE: usize = 64;

    /// The bell at byte `offset` of memory that all ranks see.
    pub fn new(memory: Shared, offset: usize) -> Bell {
        assert!(offset.is_multiple_of(Bell::SIZE));
        Bell { memory, offset }
    }

    fn rings(&self) -> &AtomicU32 {
        self.memory.half_word(self.offset)
    }

    fn sleepers(&self) -> &AtomicU32 {
        self.memory.half_word(self.offset + 4)
    }

    /// How often it has rung. To be asked before looking whether one has to wait.
    pub fn count(&self) -> u32 {
        self.rings().load(SeqCst)
    }

    /// Wakes everybody.
    pub fn ring(&self) {
        self.rings().fetch_add(1, SeqCst);
        // A sleeper is counted before the kernel compares the rings: either it is seen here, or
        // it sees this ring and does not sleep.
        if self.sleepers().load(SeqCst) > 0 {
            let address = self.rings().as_ptr();
            // SAFETY: the word is there; waking reads nothing.
            unsafe { libc::syscall(libc::SYS_futex, address, libc::FUTEX_WAKE, i32::MAX) };
        }
    }

    /// Sleeps until it has rung more often than `count`, but not longer than `most`.
    pub fn sleep(&self, count: u32, most: Duration) {
        let time = libc::timespec { tv_sec: 0, tv_nsec: most.subsec_nanos() as libc::c_long };
        self.sleepers().fetch_add(1, SeqCst);
        let address = self.rings().as_ptr();
        // SAFETY: the word and the time are there while the call lasts. Whatever it answers, the
        // caller looks again.
        unsafe {
            libc::syscall(libc::SYS_futex, address, libc::FUTEX_WAIT, count, &raw const time)
        };
        self.sleepers().fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ring_is_missed() {
        let memory = Shared::of_process(128).unwrap();
        let bell = Bell::new(memory.clone(), 0);
        std::thread::scope(|scope| {
            for turn in 0..2u64 {
                let (memory, bell) = (memory.clone(), bell.clone());
                scope.spawn(move || {
                    let word = memory.word(64);
                    for round in 0..2000 {
                        loop {
                            let count = bell.count();
                            if word.load(SeqCst) == 2 * round + turn {
                                break;
                            }
                            // Longer than the test may take: a ring that is missed is noticed.
                            bell.sleep(count, Duration::from_millis(999));
                        }
                        word.fetch_add(1, SeqCst);
                        bell.ring();
                    }
                });
            }
        });
        assert_eq!(memory.word(64).load(SeqCst), 4000);
    }
}
