//! The ranks of a file as the engines see them, over a private communicator.
//!
//! Ranks of one node meet at a board in shared memory; ranks of several send messages.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;
use std::time::Duration;

use super::block_on;
use super::board::{self, Board};
use crate::engine::ranks::{Ranks, agree};
use crate::engine::two_phase::Ring;
use crate::error::{Error, Result};
use crate::memory::Shared;
use crate::mpi::{Comm, NodeInfo, Pending, SharedWindow};

/// A communicator of the library's own, with what never changes about it.
pub struct Communicator {
    comm: Comm,
    rank: usize,
    size: usize,
    nodes: NodeInfo,
    meeting: Option<(SharedWindow, Board)>,
    /// Made when it is first needed; none where there is no memory for it.
    ring: OnceLock<Option<(SharedWindow, Ring)>>,
    /// One more than the rings of the bell when somebody last looked for what it tells; 0 once
    /// that has come.
    listening: AtomicU64,
    /// How often to look before going to sleep.
    looks: u32,
}

/// Longest sleep: the MPI must be called now and then, another rank may need a message of ours.
const NAP: Duration = Duration::from_millis(1);

/// Looks before a sleep where every rank has a core of its own: some microseconds, as long as a
/// sleep and a waking take.
const LOOKS: u32 = 2000;

impl Communicator {
    /// Takes over `comm`, which nobody else sends on. Collective.
    pub fn new(comm: Comm) -> Result<Communicator> {
        let (rank, size) = (comm.rank()?, comm.size()?);
        let nodes = match size {
            1 => NodeInfo { node_count: 1, node_size: 1, node_rank: 0 },
            _ => comm.node_info()?,
        };
        let crowded = nodes.node_size > std::thread::available_parallelism().map_or(1, usize::from);
        let looks = if crowded { 0 } else { LOOKS };
        let (ring, listening) = (OnceLock::new(), AtomicU64::new(0));
        let mut ranks =
            Communicator { comm, rank, size, nodes, meeting: None, ring, listening, looks };
        if size > 1 && nodes.node_count == 1 {
            let bytes = Board::memory_size(size);
            let window = ranks.shared_window(bytes, bytes)?;
            let board = Board::new(window.memory().clone(), rank, size);
            ranks.meeting = Some((window, board));
        }
        Ok(ranks)
    }

    /// Gives the core away until what was last looked for may have come.
    pub(super) fn rest(&self) {
        let heard = self.listening.load(Relaxed);
        match &self.meeting {
            Some((_, board)) if heard > 0 => {
                for _ in 0..self.looks {
                    if u64::from(board.bell().count()) + 1 != heard {
                        return;
                    }
                    std::hint::spin_loop();
                }
                board.bell().sleep((heard - 1) as u32, NAP);
                self.comm.progress();
            }
            _ => std::thread::yield_now(),
        }
    }

    /// The communicator itself.
    pub fn comm(&self) -> Comm {
        self.comm
    }

    /// How the ranks are spread over the nodes.
    pub fn nodes(&self) -> NodeInfo {
        self.nodes
    }

    /// A cache line of memory that all ranks see, if there is any.
    pub fn shared(&self) -> Option<Shared> {
        self.meeting.as_ref().map(|(_, board)| board.memory().clone())
    }

    /// The collective buffer of about `size` bytes, if the ranks share memory. Collective the first
    /// time, and of no other size later.
    pub fn ring(&self, size: u64) -> Option<&Ring> {
        let ring = self.ring.get_or_init(|| self.make_ring(size));
        ring.as_ref().map(|(_, ring)| ring)
    }

    fn make_ring(&self, size: u64) -> Option<(SharedWindow, Ring)> {
        let (_, board) = self.meeting.as_ref()?;
        let slots = Ring::slots_within(size);
        let (bytes, clean) = Ring::size(slots);
        let window = self.shared_window(bytes, clean).ok()?;
        let ring = Ring::new(window.memory().clone(), board.bell().clone(), slots);
        Some((window, ring))
    }

    /// `size` bytes that all ranks see, of which the first `clean` are zero. Collective.
    fn shared_window(&self, size: usize, clean: usize) -> Result<SharedWindow> {
        block_on(self, agree(self, SharedWindow::is_possible()))?;
        let window = block_on(self, agree(self, SharedWindow::new(self.comm, size)))?;
        let prepared = match self.rank {
            0 => window.memory().prepare(clean),
            _ => Ok(()),
        };
        block_on(self, agree(self, prepared)).inspect_err(|_| window.free())?;
        Ok(window)
    }

    /// Gives everything back; nobody may meet here any more. Collective.
    pub fn free(&self) {
        if let Some(Some((window, _))) = self.ring.get() {
            window.free();
        }
        if let Some((window, _)) = &self.meeting {
            window.free();
        }
        self.comm.free();
    }

    /// What every rank has pinned, row by row; none where they cannot meet at the board.
    async fn meet(&self, values: &[i64]) -> Option<Box<[i64]>> {
        let (_, board) = self.meeting.as_ref()?;
        if values.len() > board::ROOM {
            return None;
        }
        let step = board.pin(values);
        self.until(|| board.complete(step)).await;
        let ranks = 0..self.size;
        let row = |rank| (0..values.len()).map(move |place| board.value(step, rank, place));
        Some(ranks.flat_map(row).collect())
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
        match self.meet(&values).await {
            Some(all) => {
                let rows = all.chunks_exact(values.len());
                let most = |place: usize| rows.clone().map(|row| row[place]).max().unwrap_or(0);
                Ok((0..values.len()).map(most).collect())
            }
            None => finished(self.comm.start_allreduce_max(values)?).await,
        }
    }

    async fn gather(&self, values: Box<[i64]>) -> Result<Box<[i64]>> {
        if self.size == 1 {
            return Ok(values);
        }
        match self.meet(&values).await {
            Some(all) => Ok(all),
            None => finished(self.comm.start_allgather(&values)?).await,
        }
    }

    async fn until(&self, done: impl Fn() -> bool) {
        std::future::poll_fn(|_| {
            let count = self.meeting.as_ref().map_or(0, |(_, board)| board.bell().count());
            match done() {
                true => {
                    self.listening.store(0, Relaxed);
                    Poll::Ready(())
                }
                false => {
                    self.listening.store(u64::from(count) + 1, Relaxed);
                    Poll::Pending
                }
            }
        })
        .await
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
