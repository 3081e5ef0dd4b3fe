//! How a rank waits for others of its machine: by giving the core away, or asleep.

use std::fs::read_to_string;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::memory::Bell;

/// Longest sleep: the MPI must be called now and then, another rank may need a message of ours.
pub(super) const NAP: Duration = Duration::from_millis(1);

/// As long as a sleep and a waking take, together with what the others do meanwhile.
const LINGER: Duration = Duration::from_micros(50);

/// Ranks that only look whether they may go on give a core back sooner.
const LONG_YIELD: Duration = Duration::from_micros(200);

/// Waits until lingering is tried again.
const HURRIED_WAITS: u32 = 200;

/// What one rank knows about waiting.
#[derive(Default)]
pub(super) struct Patience {
    /// Whether there are more ranks than processors, and a yield does not let all of them run.
    crowded: bool,
    /// How many waits are to sleep at once.
    hurried: AtomicU32,
}

impl Patience {
    /// Of a rank that has waited for nobody yet.
    pub(super) fn new(crowded: bool) -> Patience {
        Patience { crowded, hurried: AtomicU32::new(0) }
    }

    /// Whether a rank should sleep at once, unless what it waits for takes the others no time.
    pub(super) fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Lets others run for a moment, and answers whether the bell has rung meanwhile. Sooner than
    /// sleeping and waking, as long as nobody else wants the cores: a yield that takes long shows
    /// that somebody does, and then the next waits sleep at once.
    pub(super) fn linger(&self, bell: &Bell, heard: u32) -> bool {
        let hurried = self.hurried.load(Relaxed);
        if hurried > 0 {
            self.hurried.store(hurried - 1, Relaxed);
            return false;
        }
        let started = Instant::now();
        let mut before = Duration::ZERO;
        while before < LINGER {
            std::thread::yield_now();
            if bell.count() != heard {
                return true;
            }
            let now = started.elapsed();
            if now - before > LONG_YIELD {
                self.hurried.store(HURRIED_WAITS, Relaxed);
                return false;
            }
            before = now;
        }
        false
    }
}

/// The group in which the kernel schedules this process where there are more ranks than
/// processors; 0 where there are not, or where it makes no such groups. It makes one for each
/// session, and MPICH's launcher a session for each rank: a yield lets only those of a group run.
pub(super) fn scheduled_with(ranks: usize) -> i64 {
    let says = |path| read_to_string(path).unwrap_or_default();
    let grouped = || says("/proc/sys/kernel/sched_autogroup_enabled").trim() == "1";
    match ranks > processors() && grouped() {
        true => group(&says("/proc/self/autogroup")).unwrap_or(0),
        false => 0,
    }
}

/// The number in `/autogroup-17 nice 0`.
fn group(told: &str) -> Option<i64> {
    told.strip_prefix("/autogroup-")?.split_whitespace().next()?.parse().ok()
}

/// How many processors this machine has, however this rank is bound; one where it does not tell.
pub(super) fn processors() -> usize {
    let online = read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    online.trim().split(',').filter_map(count_range).sum::<usize>().max(1)
}

/// How many numbers `3` or `0-7` names.
fn count_range(range: &str) -> Option<usize> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (last.checked_sub(first)?).checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_from_their_ranges() {
        for (range, count) in [("0", Some(1)), ("0-7", Some(8)), ("", None), ("5-3", None)] {
            assert_eq!(count_range(range), count, "{range}");
        }
        assert!(processors() >= 1);
    }

    #[test]
    fn groups_are_known_by_their_number() {
        assert_eq!(group("/autogroup-17 nice 0\n"), Some(17));
        for other in ["", "/autogroup-", "/autogroup-x nice 0", "17"] {
            assert_eq!(group(other), None, "{other}");
        }
        assert_eq!(scheduled_with(1), 0);
    }
}
