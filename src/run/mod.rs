//! Runners of the one engine: who steps an operation, and until when.

#![forbid(unsafe_code)]

mod board;
mod communicator;
mod groups;
mod helper;
pub mod letters;
mod patience;
mod workers;

use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub use communicator::Communicator;
pub use groups::homes;
pub use workers::{Job, Lane, Reserved, Tally, WORKERS, without_mpi};

/// Steps `future`, in which `ranks` wait for each other, until it is done: a blocking call.
///
/// A step looks whether what is waited for has come; nothing wakes anybody here. Between steps the
/// ranks know best how to rest.
pub fn block_on<T>(ranks: &Communicator, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        ranks.rest();
    }
}
