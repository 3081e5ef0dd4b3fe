//! Runners of the one engine: who steps an operation, and until when.

#![forbid(unsafe_code)]

mod board;
mod communicator;

use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub use communicator::Communicator;

/// Steps `future` until it is done: a blocking call.
///
/// Nothing wakes anybody here: a step asks the MPI whether the messages have come. Between steps
/// the core is given away, since the rank we wait for may need it.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::yield_now();
    }
}
