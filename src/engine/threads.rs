//! Dividing an access among the cores that a rank has.

use std::ops::Range;
use std::thread::Builder;

use crate::error::Result;
use crate::memory::without_signals;

/// Less than this for each thread is done faster by one: starting a thread costs as much as
/// moving some hundred kilobytes.
const PER_THREAD: u64 = 4 << 20;

/// Parts begin at multiples of this, so that two threads do not share a page of the file.
const GRAIN: u64 = 64 << 10;

/// Cuts `size` bytes into parts for at most `threads` threads.
pub fn split(size: u64, threads: usize) -> Vec<Range<u64>> {
    let parts = (size / PER_THREAD).clamp(1, threads.max(1) as u64);
    let length = size.div_ceil(parts).next_multiple_of(GRAIN);
    (0..parts)
        .map(|part| (part * length).min(size)..((part + 1) * length).min(size))
        .filter(|range| !range.is_empty())
        .collect()
}

/// Starts a thread of the library's own, which leaves all signals to those of the program: it may
/// wait for one in a thread of its choice and block it in its others, but ours it does not know.
pub fn hire<T>(start: impl FnOnce(Builder) -> T) -> T {
    without_signals(|| start(Builder::new().name("mpiio-rs".into())))
}

/// Runs `part` for every range at once, and adds up the bytes moved: those of ranges behind one
/// that fell short do not count, since an access ends at the first byte that is not there.
pub fn run(ranges: &[Range<u64>], part: impl Fn(Range<u64>) -> Result<u64> + Sync) -> Result<u64> {
    if let [range] = ranges {
        return part(range.clone());
    }
    let results: Vec<Result<u64>> = std::thread::scope(|scope| {
        let handles: Vec<_> = ranges[1..]
            .iter()
            .map(|range| {
                let part = &part;
                let work = move || part(range.clone());
                hire(|thread| thread.spawn_scoped(scope, work)).map_err(|_| range)
            })
            .collect();
        let mut results = vec![part(ranges[0].clone())];
        for handle in handles {
            results.push(match handle {
                // A panic in a thread is a panic of the call.
                Ok(handle) => {
                    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                // No more threads allowed here: the work is done all the same.
                Err(range) => part(range.clone()),
            });
        }
        results
    });
    let mut total = 0;
    let mut open = true;
    for (range, result) in ranges.iter().zip(results) {
        let moved = result?;
        if open {
            total += moved;
        }
        open = open && moved == range.end - range.start;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_accesses_stay_in_one_thread() {
        assert_eq!(split(100, 8), [0..100]);
        assert_eq!(split(PER_THREAD * 2 - 1, 8).len(), 1);
    }

    #[test]
    fn parts_cover_everything_once() {
        for size in [PER_THREAD * 2, PER_THREAD * 3 + 5, PER_THREAD * 100 + 12345] {
            for threads in 1..5 {
                let parts = split(size, threads);
                assert!(parts.len() <= threads);
                assert_eq!(parts[0].start, 0);
                assert_eq!(parts[parts.len() - 1].end, size);
                assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            }
        }
    }

    #[test]
    fn bytes_behind_the_end_do_not_count() {
        let ranges = [0..10, 10..20, 20..30];
        let moved = run(&ranges, |range| Ok(if range.start == 10 { 4 } else { 10 }));
        assert_eq!(moved.unwrap(), 14);
    }
}
