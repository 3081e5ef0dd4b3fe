//! Threads of the library's own that do what the program has started and not waited for.
//!
//! They sleep while there is nothing to do, and make no MPI call unless every thread may. There are
//! two kinds of work. An access of one rank alone needs nobody: there are at most as many of them at
//! a time as the rank has cores, and the others wait in a queue. What ranks do together sleeps while
//! it waits for them, perhaps for long, so it always gets a thread: two files on which two ranks
//! started in another order must not wait for each other. The call that starts it may not wait for
//! other ranks either, and the system may have no thread to give by then, so one is put by while a
//! file is opened, where ranks can still agree to do without.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::engine::threads::hire;

/// Something to do.
pub type Job = Box<dyn FnOnce() + Send>;

/// Accesses that wait in the queue at most; who brings one more does the oldest first.
const MOST_QUEUED: usize = 4096;

/// Longest wait without a look at the messages that other ranks may need.
const NAP: Duration = Duration::from_millis(1);

/// The threads and what they have to do.
pub struct Workers {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    /// Jobs that wait for other ranks: a thread each.
    together: VecDeque<Job>,
    /// Jobs that wait for nobody.
    alone: VecDeque<Job>,
    /// Of the latter, those that are being done, and how many may be at a time.
    busy: usize,
    most: usize,
    /// Threads that sleep or are about to look for work.
    idle: usize,
    /// All threads, and how many of them must stay.
    threads: usize,
    reserved: usize,
}

/// A thread that is there for one job at a time that waits for other ranks, as long as this lives.
pub struct Reserved(&'static Workers);

impl Drop for Reserved {
    fn drop(&mut self) {
        self.0.state.lock().reserved -= 1;
        // There may be one too many now.
        self.0.wake.notify_one();
    }
}

/// The ones of this process.
pub static WORKERS: Workers = Workers::new();

impl Workers {
    /// None yet.
    pub const fn new() -> Workers {
        let state = State {
            together: VecDeque::new(),
            alone: VecDeque::new(),
            busy: 0,
            most: 1,
            idle: 0,
            threads: 0,
            reserved: 0,
        };
        Workers { state: Mutex::new(state), wake: Condvar::new() }
    }

    /// Puts a thread by, if the system has one.
    pub fn reserve(&'static self) -> Option<Reserved> {
        let mut state = self.state.lock();
        if state.threads == state.reserved && !self.hire(&mut state) {
            return None;
        }
        state.reserved += 1;
        Some(Reserved(self))
    }

    /// Does a job that may wait for other ranks. Whoever brings it has a thread put by for it.
    pub fn together(&'static self, job: Job) {
        let mut state = self.state.lock();
        state.together.push_back(job);
        self.see_to(state);
    }

    /// Does a job that waits for nobody, with at most `most` of them at a time.
    pub fn alone(&'static self, most: usize, job: Job) {
        let mut state = self.state.lock();
        state.most = state.most.max(most);
        state.alone.push_back(job);
        let oldest = match state.alone.len() > MOST_QUEUED {
            true => state.alone.pop_front(),
            false => None,
        };
        self.see_to(state);
        if let Some(job) = oldest {
            job();
        }
    }

    /// Wakes or starts a thread if there is work for one more.
    ///
    /// Where no thread can be had, this one does all that waits for nobody: those that are there
    /// may soon wait for other ranks, and these for what is left lying here.
    fn see_to(&'static self, mut state: MutexGuard<'_, State>) {
        let alone = state.alone.len().min(state.most - state.busy.min(state.most));
        match state.together.len() + alone {
            0 => return,
            jobs if jobs <= state.idle => {
                self.wake.notify_one();
                return;
            }
            _ if self.hire(&mut state) => return,
            _ => {}
        }
        // One may sleep beside work that has become possible meanwhile.
        self.wake.notify_all();
        let left = std::mem::take(&mut state.alone);
        drop(state);
        left.into_iter().for_each(|job| job());
    }

    /// Starts one more thread, which is idle at first. Whether there is one.
    fn hire(&'static self, state: &mut State) -> bool {
        let hired = hire(|thread| thread.spawn(|| self.work())).is_ok();
        (state.threads, state.idle) =
            (state.threads + usize::from(hired), state.idle + usize::from(hired));
        hired
    }

    /// The life of a thread, which is idle when it begins.
    fn work(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.together.pop_front() {
                state.idle -= 1;
                run(&mut state, job);
            } else if state.busy < state.most
                && let Some(job) = state.alone.pop_front()
            {
                (state.idle, state.busy) = (state.idle - 1, state.busy + 1);
                run(&mut state, job);
                state.busy -= 1;
            } else if state.idle > state.most && state.threads > state.reserved {
                (state.idle, state.threads) = (state.idle - 1, state.threads - 1);
                return;
            } else {
                self.wake.wait(&mut state);
                continue;
            }
            state.idle += 1;
        }
    }
}

impl Default for Workers {
    fn default() -> Workers {
        Workers::new()
    }
}

fn run(state: &mut MutexGuard<'_, State>, job: Job) {
    MutexGuard::unlocked(state, || {
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            // It has said where; ranks wait for what it was to do.
            std::process::abort();
        }
    });
}

/// Counts what has been started and is not done.
#[derive(Default)]
pub struct Tally {
    left: Mutex<usize>,
    none: Condvar,
}

impl Tally {
    /// Nothing.
    pub const fn new() -> Tally {
        Tally { left: Mutex::new(0), none: Condvar::new() }
    }

    /// One more.
    pub fn add(&self) {
        *self.left.lock() += 1;
    }

    /// One is done.
    pub fn done(&self) {
        let mut left = self.left.lock();
        *left -= 1;
        if *left == 0 {
            self.none.notify_all();
        }
    }

    /// Waits until all are done; calls `look` now and then.
    pub fn wait(&self, look: impl Fn()) {
        let mut left = self.left.lock();
        while *left > 0 {
            if self.none.wait_for(&mut left, NAP).timed_out() {
                MutexGuard::unlocked(&mut left, &look);
            }
        }
    }
}

/// Jobs that are done one after the other.
#[derive(Default)]
pub struct Lane {
    queue: Mutex<VecDeque<Job>>,
}

impl Lane {
    /// Does the job after those before it. If there is none, `start` is to see to it that the
    /// lane gets a thread.
    pub fn push(self: &std::sync::Arc<Lane>, job: Job, start: impl FnOnce(Job)) {
        let first = {
            let mut queue = self.queue.lock();
            queue.push_back(job);
            queue.len() == 1
        };
        if first {
            let lane = self.clone();
            start(Box::new(move || lane.run()));
        }
    }

    /// Does what is there, and what comes meanwhile. A job stays in the queue until it is done, so
    /// that nobody else begins to work here.
    fn run(&self) {
        loop {
            let job = std::mem::replace(&mut self.queue.lock()[0], Box::new(|| {}));
            job();
            let mut queue = self.queue.lock();
            queue.pop_front();
            if queue.is_empty() {
                return;
            }
        }
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`, which makes no MPI call.
pub fn without_mpi<T>(work: impl FnOnce() -> T) -> T {
    let before = QUIET.replace(true);
    let value = work();
    QUIET.set(before);
    value
}

/// Whether this thread is doing something that makes no MPI call.
pub fn is_without_mpi() -> bool {
    QUIET.get()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;

    #[test]
    fn everything_is_done_and_never_too_much_at_a_time() {
        let workers: &'static Workers = Box::leak(Box::new(Workers::new()));
        let (tally, now, most) =
            (Arc::new(Tally::new()), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 * MOST_QUEUED {
            tally.add();
            let (tally, now, most, done) = (tally.clone(), now.clone(), most.clone(), done.clone());
            workers.alone(
                2,
                Box::new(move || {
                    most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                    done.fetch_add(1, SeqCst);
                    now.fetch_sub(1, SeqCst);
                    tally.done();
                }),
            );
        }
        tally.wait(|| {});
        assert_eq!(done.load(SeqCst), 3 * MOST_QUEUED);
        assert!(most.load(SeqCst) <= 3, "two threads, and the one that brings work");
    }

    #[test]
    fn jobs_that_wait_for_each_other_have_threads_of_their_own() {
        let workers: &'static Workers = Box::leak(Box::new(Workers::new()));
        let (tally, met) = (Arc::new(Tally::new()), Arc::new(std::sync::Barrier::new(9)));
        let reserved: Vec<_> = (0..9).map(|_| workers.reserve()).collect();
        assert_eq!(workers.state.lock().threads, 9);
        for _ in 0..9 {
            tally.add();
            let (tally, met) = (tally.clone(), met.clone());
            workers.together(Box::new(move || {
                met.wait();
                tally.done();
            }));
        }
        tally.wait(|| {});
        assert_eq!(workers.state.lock().threads, 9, "they stay");
        drop(reserved);
        assert_eq!(workers.state.lock().reserved, 0);
    }

    #[test]
    fn a_lane_keeps_its_order() {
        let (lane, tally) = (Arc::new(Lane::default()), Arc::new(Tally::new()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        for number in 0..1000 {
            tally.add();
            let (tally, seen) = (tally.clone(), seen.clone());
            let job = Box::new(move || {
                seen.lock().push(number);
                tally.done();
            });
            lane.push(job, |work| WORKERS.alone(1, work));
        }
        tally.wait(|| {});
        assert_eq!(*seen.lock(), (0..1000).collect::<Vec<_>>());
    }
}
