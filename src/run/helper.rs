//! A thread that accesses the file while its rank does something else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};

use crate::engine::threads::hire;

/// Something to do.
pub type Job = Box<dyn FnOnce() + Send>;

/// The thread, which ends with this value.
pub struct Helper(Option<Sender<Job>>);

impl Helper {
    /// A new one. Where no thread can be had, what it should do is done by whoever asks.
    pub fn new() -> Helper {
        let (sender, receiver) = channel::<Job>();
        let work = move || {
            for job in receiver {
                if catch_unwind(AssertUnwindSafe(job)).is_err() {
                    // It has said where; the ranks wait for what it was to do.
                    std::process::abort();
                }
            }
        };
        let thread = hire(|thread| thread.spawn(work));
        Helper(thread.is_ok().then_some(sender))
    }

    /// Does the job after those before it.
    pub fn run(&self, job: Job) {
        match &self.0 {
            Some(sender) => {
                if let Err(refused) = sender.send(job) {
                    (refused.0)();
                }
            }
            None => job(),
        }
    }
}
