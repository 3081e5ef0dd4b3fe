//! The ranks of a file as the engines see them, over a private communicator.

use std::task::Poll;

use crate::engine::ranks::Ranks;
use crate::error::{Error, Result};
use crate::mpi::{Comm, Pending};

/// A communicator of the library's own, with what never changes about it.
#[derive(Clone, Copy, Debug)]
pub struct Communicator {
    comm: Comm,
    rank: usize,
    size: usize,
}

impl Communicator {
    /// Takes over `comm`, which nobody else sends on.
    pub fn new(comm: Comm) -> Result<Communicator> {
        Ok(Communicator { comm, rank: comm.rank()?, size: comm.size()? })
    }

    /// The communicator itself.
    pub fn comm(&self) -> Comm {
        self.comm
    }
}

impl Ranks for Communicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    async fn max(&self, values: Box<[i64]>) -> Result<Box<[i64]>> {
        if self.size == 1 {
            return Ok(values);
        }
        finished(self.comm.start_allreduce_max(values)?).await
    }

    async fn broadcast(&self, bytes: Box<[u8]>, root: usize) -> Result<Box<[u8]>> {
        if self.size == 1 {
            return Ok(bytes);
        }
        finished(self.comm.start_broadcast(bytes, root)?).await
    }
}

/// Done when the MPI is.
async fn finished<T>(mut pending: Pending<T>) -> Result<T> {
    std::future::poll_fn(|_| match pending.poll() {
        Ok(None) => Poll::Pending,
        Ok(Some(value)) => Poll::Ready(Ok(value)),
        Err(error) => Poll::Ready(Err::<T, Error>(error)),
    })
    .await
}
