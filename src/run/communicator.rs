//! The ranks of a file as the engines see them, over a private communicator.
//!
//! Ranks of one node meet at a board in shared memory; ranks of several send messages.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use super::block_on;
use super::board::{self, Board};
use super::groups::{Groups, rows};
use super::helper::{Helper, Job};
use super::letters::{HEAD_SIZE, Letters, sealed};
use super::patience::{NAP, Patience, processors, scheduled_with};
use super::workers::is_without_mpi;
use crate::engine::ranks::{Combined, Ranks, Survey, agree};
use crate::engine::two_phase::{BOX_SIZE, INBOX_BOXES, Layers, Nodes, Ring, Transfer};
use crate::error::{Class, Doing, Error, Result};
use crate::memory::{Bell, Mapped, Offer, Scratch, Shared, Ticket, may_make_files_of};
use crate::mpi::{Comm, Inbox, NodeInfo, Pending};

/// A communicator of the library's own, with what never changes about it.
pub struct Communicator {
    comm: Comm,
    rank: usize,
    size: usize,
    nodes: NodeInfo,
    /// None with several nodes, and where ranks of one cannot share memory.
    meeting: Option<Board>,
    /// For one layer and for two. Made when first needed; none where the MPI cannot.
    groups: [OnceLock<Option<Groups>>; 2],
    /// For these. Made when first needed; none where there is no memory for it.
    rings: [OnceLock<Option<Ring>>; 2],
    /// What was asked for then.
    ring_sizes: [OnceLock<u64>; 2],
    /// The place of the groups in use, and of their ring.
    in_use: AtomicUsize,
    /// For fenced puts and for others. Made when first needed; none where the MPI cannot.
    inboxes: [OnceLock<Option<Inbox>>; 2],
    /// The place of the inbox in use.
    inbox: AtomicUsize,
    /// Made when it is first needed.
    helper: OnceLock<Helper>,
    letters: Letters,
    /// One more than the rings of the bell when somebody last looked for what it tells; 0 once
    /// that has come.
    listening: AtomicU64,
    patience: Patience,
}

impl Communicator {
    /// Takes over `comm`, which nobody else sends on. Collective.
    pub fn new(comm: Comm) -> Result<Communicator> {
        let (rank, size) = (comm.rank()?, comm.size()?);
        let nodes = match size {
            1 => NodeInfo { node_count: 1, node_size: 1, node_rank: 0, leader: 0 },
            _ => comm.node_info()?,
        };
        let mut ranks = Communicator {
            comm,
            rank,
            size,
            nodes,
            meeting: None,
            groups: Default::default(),
            rings: Default::default(),
            ring_sizes: Default::default(),
            in_use: AtomicUsize::new(0),
            inboxes: Default::default(),
            inbox: AtomicUsize::new(0),
            helper: OnceLock::new(),
            letters: Letters::default(),
            listening: AtomicU64::new(0),
            patience: Patience::default(),
        };
        if size > 1 && nodes.node_count == 1 {
            let memory = ranks.shared_memory(None, Board::memory_size(size));
            ranks.meeting = memory.map(|memory| Board::new(memory, rank, size)).ok();
        }
        if ranks.meeting.is_some() {
            let mut survey = Survey::new(&ranks);
            let group = survey.same(scheduled_with(size));
            let ((), answers) = block_on(&ranks, survey.hold(Ok(())))?;
            ranks.patience = Patience::new(!answers.same(group));
        }
        Ok(ranks)
    }

    /// Gives the core away until what was last looked for may have come.
    pub(super) fn rest(&self) {
        let heard = self.listening.swap(0, Relaxed);
        match self.bell() {
            Some(bell) if heard > 0 => {
                let heard = (heard - 1) as u32;
                if self.patience.is_crowded() || !self.patience.linger(bell, heard) {
                    bell.sleep(heard, NAP);
                    if !is_without_mpi() {
                        self.comm.progress();
                    }
                }
            }
            _ => std::thread::yield_now(),
        }
    }

    /// What rings when ranks of this node change what others may wait for.
    fn bell(&self) -> Option<&Bell> {
        let ring = &self.rings[self.in_use.load(Relaxed)];
        let meeting = self.meeting.as_ref().map(Board::bell);
        meeting.or_else(|| ring.get()?.as_ref().map(Ring::bell))
    }

    /// Whether all ranks see the same memory, so that those of one group can do everything
    /// together without a message.
    pub fn share_memory(&self) -> bool {
        self.meeting.is_some()
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
        self.meeting.as_ref().map(|board| board.memory().clone())
    }

    /// Who shares a collective buffer with whom; none where that cannot be found out. With two
    /// layers there are `count` groups in all, or one on each node if that is 0. Collective the
    /// first time, and of no other count later.
    pub fn groups(&self, layers: Layers, count: usize) -> Option<&Nodes> {
        let place = layers as usize;
        let groups = self.groups[place].get_or_init(|| match (layers, &self.meeting) {
            (Layers::One, _) => Some(Groups::each(self.size)),
            (Layers::Two, Some(_)) => Some(Groups::on_one_node(self.size, count)),
            (Layers::Two, None) => Groups::on_nodes(self, count).ok(),
        });
        self.in_use.store(place, Relaxed);
        groups.as_ref().map(|groups| &groups.nodes)
    }

    /// The collective buffer of about `size` bytes that this rank shares with its group; none where
    /// there is no memory for it. Collective the first time, and of no other size later.
    pub fn ring(&self, layers: Layers, size: u64) -> Option<&Ring> {
        let place = layers as usize;
        let groups = self.groups[place].get()?.as_ref()?;
        self.ring_sizes[place].get_or_init(|| size);
        let ring = self.rings[place].get_or_init(|| match layers {
            Layers::One => self.make_own_ring(size).ok(),
            Layers::Two => self.make_ring(size, groups).ok(),
        });
        ring.as_ref()
    }

    /// The size that stays, once there is such a buffer.
    pub fn ring_size(&self, layers: Layers) -> Option<u64> {
        self.ring_sizes[layers as usize].get().copied()
    }

    fn make_own_ring(&self, size: u64) -> Result<Ring> {
        let slots = Ring::slots_within(size, usize::MAX);
        let memory = Shared::of_process(Bell::SIZE + Ring::size(slots));
        let memory = block_on(self, agree(self, memory))?;
        let bell = self.bell_in(&memory);
        Ok(Ring::new(memory, bell, slots, Bell::SIZE))
    }

    fn make_ring(&self, size: u64, groups: &Groups) -> Result<Ring> {
        // On several nodes all have as many, whatever their processors.
        let workers = match self.meeting {
            Some(_) => {
                let most = block_on(self, self.max(Box::new([processors() as i64])))?[0];
                self.size.min(most as usize)
            }
            None => usize::MAX,
        };
        let slots = Ring::slots_within(size, workers);
        let bytes = Ring::size(slots);
        // The groups of a node have their rings one after the other.
        let (own, neighbours) = groups.place(self.rank);
        let memory = self.shared_memory(groups.node(), Bell::SIZE + neighbours * bytes)?;
        let bell = self.bell_in(&memory);
        Ok(Ring::new(memory, bell, slots, Bell::SIZE + own * bytes))
    }

    /// The bell of all, or one at the start of such memory.
    fn bell_in(&self, memory: &Shared) -> Bell {
        match &self.meeting {
            Some(board) => board.bell().clone(),
            None => Bell::new(memory.clone(), 0),
        }
    }

    /// Whether bytes can be brought from one group to another in this way. Collective the first
    /// time.
    pub fn can(&self, transfer: Transfer) -> bool {
        let fenced = match transfer {
            Transfer::TwoSided => return true,
            Transfer::PutFence => true,
            Transfer::PutLock => false,
        };
        let place = usize::from(fenced);
        let inbox = self.inboxes[place].get_or_init(|| {
            // The MPI may well make the windows of a node in memory that its ranks share.
            let possible = room_for_windows(INBOX_BOXES * BOX_SIZE * self.nodes.node_size);
            block_on(self, agree(self, possible)).ok()?;
            let made = Inbox::new(self.comm, INBOX_BOXES, BOX_SIZE, fenced);
            let inbox = block_on(self, agree(self, made)).ok()?;
            // Only all ranks together can give it back.
            block_on(self, agree(self, inbox.open())).inspect_err(|_| inbox.free()).ok()?;
            Some(inbox)
        });
        self.inbox.store(place, Relaxed);
        inbox.is_some()
    }

    /// Whether it turned out that they cannot.
    pub fn refuses(&self, transfer: Transfer) -> bool {
        let made = |place: usize| matches!(self.inboxes[place].get(), Some(None));
        match transfer {
            Transfer::TwoSided => false,
            Transfer::PutFence => made(1),
            Transfer::PutLock => made(0),
        }
    }

    fn groups_in_use(&self) -> Result<&Groups> {
        let groups = self.groups[self.in_use.load(Relaxed)].get().and_then(Option::as_ref);
        groups.ok_or_else(|| Error::new(Class::Intern, "this rank has no group"))
    }

    fn inbox_in_use(&self) -> Result<&Inbox> {
        let inbox = self.inboxes[self.inbox.load(Relaxed)].get().and_then(Option::as_ref);
        inbox.ok_or_else(|| Error::new(Class::Intern, "this rank has no inbox"))
    }

    /// `size` bytes, zero at first, that all ranks of `node` see, or all if there is only one.
    /// Collective.
    fn shared_memory(&self, node: Option<Comm>, size: usize) -> Result<Shared> {
        let first = match node {
            Some(node) => node.rank().map(|rank| rank == 0),
            None => Ok(self.rank == 0),
        };
        let offer = match first {
            Ok(true) => Offer::new(size).map(Some),
            other => other.map(|_| None),
        };
        let ticket = offer.as_ref().ok().and_then(Option::as_ref).map_or([0; 4], Offer::ticket);
        let ticket = block_on(self, self.told_by_first(node, ticket));
        let memory = offer.as_ref().map_err(Clone::clone).and_then(|offer| match offer {
            Some(offer) => offer.map(size),
            None => ticket.and_then(|ticket| Mapped::find(ticket, size)),
        });
        // Only then the offer ends.
        block_on(self, agree(self, memory)).map(Shared::mapped)
    }

    /// What the first rank of `node`, or of all, tells the others there.
    async fn told_by_first(&self, node: Option<Comm>, ticket: Ticket) -> Result<Ticket> {
        let words = match node {
            None => self.gather(ticket.into()).await?,
            Some(node) => finished(node.start_allgather(&ticket)?).await?,
        };
        words.first_chunk().copied().ok_or_else(|| Error::new(Class::Intern, "nobody told"))
    }

    /// Gives everything back; nobody may meet here any more. Collective.
    pub fn free(&self) {
        for inbox in self.inboxes.iter().filter_map(|inbox| inbox.get()?.as_ref()) {
            inbox.free();
        }
        for groups in self.groups.iter().filter_map(|groups| groups.get()?.as_ref()) {
            groups.free();
        }
        self.comm.free();
    }

    /// What every rank has pinned, row by row; none where they cannot meet at the board.
    async fn meet(&self, values: &[i64]) -> Option<Box<[i64]>> {
        let board = self.meeting.as_ref()?;
        if values.len() > board::ROOM {
            return None;
        }
        let heard = board.bell().count();
        let step = board.pin(values);
        if self.patience.is_crowded() && !board.complete(step) {
            // Before most meetings nobody has much to do.
            self.patience.linger(board.bell(), heard);
        }
        self.until(|| board.complete(step)).await;
        let mut all = Vec::with_capacity(self.size * values.len());
        for rank in 0..self.size {
            all.extend(board.values(step, rank, values.len()));
        }
        Some(all.into_boxed_slice())
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

    async fn gather_in_group(&self, groups: &Nodes, values: Box<[i64]>) -> Result<Box<[i64]>> {
        match self.meet(&values).await {
            // All ranks, in their order.
            Some(all) if groups.count() == 1 => Ok(all),
            Some(all) => {
                let group = groups.ranks(groups.of(self.rank)).iter().copied();
                Ok(rows(&all, values.len(), group))
            }
            None => self.groups_in_use()?.gather(self, values).await,
        }
    }

    async fn combine(
        &self,
        groups: &Nodes,
        sums: Box<[i64]>,
        most: Box<[i64]>,
    ) -> Result<Combined> {
        let both = [&sums[..], &most].concat();
        let Some(all) = self.meet(&both).await else {
            return self.groups_in_use()?.combine(self, sums, most).await;
        };
        let of_groups = rows(&all, both.len(), groups.leaders());
        let column = |place: usize| of_groups[place..].iter().step_by(both.len()).copied();
        let summed = (0..sums.len()).map(|place| column(place).sum());
        let largest = (sums.len()..both.len()).map(|place| column(place).max().unwrap_or(0));
        Ok((summed.collect(), largest.collect()))
    }

    async fn gather_of_groups(&self, groups: &Nodes, values: Box<[i64]>) -> Result<Box<[i64]>> {
        match self.meet(&values).await {
            Some(all) => Ok(rows(&all, values.len(), groups.leaders())),
            None => self.groups_in_use()?.gather_all(self, values).await,
        }
    }

    fn send(
        &self,
        to: usize,
        tag: u64,
        bytes: Vec<u8>,
    ) -> Result<impl Future<Output = Result<()>>> {
        let message = sealed(self.rank, tag, &bytes);
        let sent = self.comm.start_send(message.into(), to, message_tag(tag))?;
        Ok(async { finished(sent).await.map(drop) })
    }

    async fn receive(&self, from: Option<usize>, tag: u64, most: usize) -> Result<Vec<u8>> {
        let next = async || {
            let room = vec![0; HEAD_SIZE + most].into();
            let message = finished(self.comm.start_receive(room, from, message_tag(tag))?).await?;
            Ok(Vec::from(message))
        };
        self.letters.receive(from, tag, next).await
    }

    async fn until(&self, done: impl Fn() -> bool) {
        std::future::poll_fn(|_| {
            let count = self.bell().map_or(0, Bell::count);
            match done() {
                true => {
                    self.listening.store(0, Relaxed);
                    Poll::Ready(())
                }
                false => {
                    // Of several waits in one step the oldest look counts: the bell may have rung
                    // for it before the next.
                    let (heard, now) = (self.listening.load(Relaxed), u64::from(count) + 1);
                    if heard == 0 || now < heard {
                        self.listening.store(now, Relaxed);
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn put(&self, to: usize, place: usize, bytes: Vec<u8>) -> Result<()> {
        self.inbox_in_use()?.put(to, place, bytes)
    }

    async fn fence(&self) -> Result<()> {
        self.inbox_in_use()?.fence()
    }

    fn flush(&self, to: usize) -> Result<()> {
        self.inbox_in_use()?.flush(to)
    }

    fn inbox(&self, place: usize, size: usize) -> Vec<u8> {
        self.inbox_in_use().map_or_else(
            |_| Vec::new(),
            |inbox| {
                inbox.look();
                inbox.memory().piece(place, size).to_vec()
            },
        )
    }

    fn clear_inbox(&self, place: usize, size: usize) {
        if let Ok(inbox) = self.inbox_in_use() {
            inbox.memory().piece(place, size).zero();
        }
    }

    fn aside(&self, work: Job) -> impl Future<Output = ()> {
        // Done, and done with the bell, whose memory may go when this rank goes on.
        let states = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let (told, bell) = (states.clone(), self.bell().cloned());
        self.helper.get_or_init(Helper::new).run(Box::new(move || {
            work();
            told[0].store(true, Release);
            if let Some(bell) = bell {
                bell.ring();
            }
            told[1].store(true, Release);
        }));
        async move {
            self.until(|| states[0].load(Acquire)).await;
            while !states[1].load(Acquire) {
                std::thread::yield_now();
            }
        }
    }

    async fn broadcast(&self, bytes: Box<[u8]>, root: usize) -> Result<Box<[u8]>> {
        if self.size == 1 {
            return Ok(bytes);
        }
        if self.meeting.is_none() {
            return finished(self.comm.start_broadcast(bytes, root)?).await;
        }
        // Seldom, and then no rank has to call the MPI for it.
        let mut told = Vec::with_capacity(bytes.len());
        for stretch in bytes.chunks(board::ROOM * WORD_SIZE) {
            let word = |bytes: &[u8]| {
                let mut word = [0; WORD_SIZE];
                word[..bytes.len()].copy_from_slice(bytes);
                i64::from_le_bytes(word)
            };
            let words: Box<[i64]> = stretch.chunks(WORD_SIZE).map(word).collect();
            let all = self.gather(words).await?;
            let width = stretch.len().div_ceil(WORD_SIZE);
            let words = all[root * width..][..width].iter();
            told.extend(words.flat_map(|word| word.to_le_bytes()).take(stretch.len()));
        }
        Ok(told.into())
    }
}

/// Fails where this process has no descriptors or room for windows that the MPI makes in memory
/// which ranks share. To be asked on all ranks first: one on which the MPI fails there leaves the
/// others waiting within it.
fn room_for_windows(size: usize) -> Result<()> {
    let doing = || format!("sharing {size} bytes of memory between ranks");
    std::io::pipe().doing(doing)?;
    let size = size + WINDOW_MARGIN;
    // Not touched: all ranks of a node ask for the windows of all of them at the same time.
    std::hint::black_box(Scratch::new(size)?);
    may_make_files_of(size).doing(doing)
}

/// What an MPI keeps beside the memory of a window.
const WINDOW_MARGIN: usize = 1 << 20;

/// Bytes of a number on the board.
const WORD_SIZE: usize = 8;

/// Every MPI has tags up to 32767.
fn message_tag(tag: u64) -> i32 {
    (tag % 32768) as i32
}

/// Done when the MPI is.
pub(super) async fn finished<T>(mut pending: Pending<T>) -> Result<T> {
    std::future::poll_fn(|_| match pending.poll() {
        Ok(None) => Poll::Pending,
        Ok(Some(value)) => Poll::Ready(Ok(value)),
        Err(error) => Poll::Ready(Err::<T, Error>(error)),
    })
    .await
}
