//! Two-phase access through collective buffers, one on each node, that the ranks there share.
//!
//! The file is handled window by window. For a write all ranks put their pieces into the window,
//! and it goes to the file in one call, or in a few where nobody put anything; for a read it comes
//! in one call, and the ranks pick their pieces out. Who has to do with which window follows from
//! the parts that the ranks told each other at the start.
//!
//! With several nodes each window has an owner, the node that accesses the file for it. The ranks
//! of another node fill it in their own buffer all the same, and what they put there goes to the
//! owner as one message; a window that was read goes to the other nodes as one message each.
//!
//! Nobody waits in a circle: all ranks go through the windows in one order, and what one waits for
//! at a window depends on no later one. Nor is a full window forgotten: whoever needs its slot writes
//! it, and the last windows are looked after by everybody who has come to the end, among them the
//! one that was the last to fill them.
//!
//! That is the flow, in which windows are accessed by whoever has time. Where somebody is chosen to
//! access the file, or an order of the steps, `stages.rs` goes through rounds of windows instead.

mod choice;
mod domains;
mod exchange;
mod holes;
mod nodes;
mod parcel;
mod part;
mod ring;
mod rounds;
mod schedule;
mod stages;
mod visitor;
mod windows;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

pub use self::choice::{Choice, Layers, Overlap, Partitioning, Transfer};
pub use self::domains::Domains;
pub use self::exchange::{BOX_SIZE, INBOX_BOXES};
use self::exchange::{send, unsent};
pub use self::nodes::Nodes;
pub use self::part::{Digest, Part, explore, share_parts};
use self::ring::Slot;
pub use self::ring::{Ring, SLOT_SIZE};
use self::schedule::{Order, Underway};
use self::visitor::Visitor;
pub use self::windows::Territory;
use self::windows::{Window, Windows};
use super::individual::{Access, Done, MOST_AHEAD};
use super::ranks::Ranks;
use crate::driver::advice::{Ahead, Intent};
use crate::driver::{Driver, Layout};
use crate::error::{Class, Error, Result};
use crate::operation::Direction;

/// How a collective access goes through the ring.
#[derive(Clone, Debug)]
pub struct Shape {
    /// This rank's part of the file.
    own: Range<u64>,
    /// Who else accesses what.
    territory: Territory,
    /// Bytes in a window.
    window_size: u64,
    /// Pieces start and end at multiples of `1 << grain`.
    grain: u32,
    /// Who accesses what.
    domains: Domains,
}

/// Windows smaller than this cost more to agree about than to move.
const SMALLEST_WINDOW: u64 = 64 << 10;

impl Shape {
    /// For what a rank has heard of all others; cut so that all find work.
    pub fn new(rank: usize, territory: Territory, all: &Digest, nodes: &Nodes) -> Shape {
        let span = all.span.end - all.span.start;
        let share = (span / (2 * nodes.size() as u64)).next_power_of_two();
        let size = share.clamp(SMALLEST_WINDOW, SLOT_SIZE as u64);
        Shape::with_windows(rank, territory, all.grain, nodes, size)
    }

    /// With windows of `size` bytes, a power of two, if the marks are enough for as many.
    pub fn with_windows(
        rank: usize,
        territory: Territory,
        grain: u32,
        nodes: &Nodes,
        size: u64,
    ) -> Shape {
        let grain = grain.min(size.trailing_zeros());
        let window_size = size.min(Ring::window_size(grain));
        let domains = Domains::in_turn(nodes, window_size);
        let place = nodes.ranks(nodes.of(rank)).iter().position(|&other| other == rank);
        let own = place.map_or(0..0, |place| territory.parts[place].clone());
        Shape { own, territory, window_size, grain, domains }
    }

    /// The same with the file divided in this way among these aggregators, along its layout.
    pub fn divided(
        mut self,
        partitioning: Partitioning,
        aggregators: Vec<usize>,
        layout: Layout,
    ) -> Shape {
        self.domains = Domains::new(partitioning, aggregators, layout, self.window_size);
        // Blocks may end where no grain does.
        self.grain = self.grain.min(self.domains.block().trailing_zeros());
        self.window_size = self.window_size.min(Ring::window_size(self.grain));
        self
    }

    /// What a rank will access in the file, if the driver wants to know.
    fn domain(&self, rank: usize, driver: &dyn Driver, intent: Intent) -> Vec<Range<u64>> {
        let stretches = || self.territory.stretches.iter().flatten();
        let start = stretches().map(|stretch| stretch.start).min();
        let end = stretches().map(|stretch| stretch.end).max();
        match (start.zip(end), driver.listens(Ahead::Domain, intent)) {
            (Some((start, end)), true) => self.domains.of(rank, start..end, MOST_AHEAD),
            _ => Vec::new(),
        }
    }

    /// Where in the file the first byte of the window's slot lies.
    fn start_of(&self, window: &Window) -> u64 {
        window.range.start / self.window_size * self.window_size
    }

    /// What the ranks of a node are told of a window that was read: how much there was, and their
    /// bytes from the first to the last.
    fn told(&self, slot: &Slot<'_>, window: &Window, found: u64, node: usize) -> Vec<u8> {
        let wanted = self.territory.wanted(&window.range, node);
        let end = wanted.end.min(window.range.start + found).max(wanted.start);
        let bytes = slot.bytes().skip((wanted.start - self.start_of(window)) as usize);
        let mut message = found.to_le_bytes().to_vec();
        message.extend(bytes.take((end - wanted.start) as usize).to_vec());
        message
    }

    /// Puts what was told into the slot of a node. What is no such message is published as an empty
    /// window.
    fn hear(&self, slot: &Slot<'_>, window: &Window, message: &[u8], node: usize) {
        let mut found = 0;
        if let Some((head, bytes)) = message.split_first_chunk::<FOUND_SIZE>() {
            found = u64::from_le_bytes(*head);
            let wanted = self.territory.wanted(&window.range, node);
            let place = (wanted.start - self.start_of(window)) as usize;
            slot.bytes().skip(place).take(bytes.len()).fill_from(bytes);
        }
        slot.publish(found);
    }

    /// Where in the slot the window's bytes are.
    fn inside(&self, window: &Window) -> Range<usize> {
        let start = self.start_of(window);
        (window.range.start - start) as usize..(window.range.end - start) as usize
    }
}

/// Moves this rank's bytes, together with all others.
pub async fn transfer<R: Ranks>(
    ranks: &R,
    buffer: (&Ring, &Nodes),
    driver: &Arc<dyn Driver>,
    access: &Access<'_>,
    shape: &Shape,
    choice: Choice,
) -> Result<Done> {
    let domain = shape.domain(ranks.rank(), &**driver, access.intent());
    driver.will_access(Ahead::Domain, access.intent(), &domain);
    let done = match Order::of(choice.overlap, access.direction) {
        None => flow(ranks, buffer, &**driver, access, shape).await,
        Some(order) => {
            let transfer = choice.transfer;
            stages::transfer(ranks, buffer, driver, access, shape, transfer, order).await
        }
    };
    driver.has_accessed(Ahead::Domain, access.intent(), &domain);
    done
}

/// The same window by window, each accessed by whoever has time.
async fn flow<R: Ranks>(
    ranks: &R,
    (ring, nodes): (&Ring, &Nodes),
    driver: &dyn Driver,
    access: &Access<'_>,
    shape: &Shape,
) -> Result<Done> {
    let node = nodes.of(ranks.rank());
    let visitor = Visitor::new(driver, access, shape);
    let (behind, sent) = (VecDeque::new(), VecDeque::new());
    let mut walk = Walk { ranks, ring, nodes, node, shape, visitor, behind, sent };
    let mut windows =
        Windows::new(&shape.territory, nodes, node, &shape.domains, shape.window_size);
    let mut count = 0;
    while let Some(window) = windows.next() {
        count += 1;
        match access.direction {
            Direction::Write => {
                walk.write(&window).await;
                walk.leave_behind(window);
            }
            Direction::Read => walk.read(&window, &windows).await,
        }
    }
    while walk.write_full() {}
    walk.sent_all_but(0).await;
    ring.pass(count);
    walk.visitor.finish()
}

/// Most messages that a rank has under way: two, so that one is packed while another travels.
const UNDER_WAY: usize = 2;

/// Bytes before the data of a window that was read: how many there were.
const FOUND_SIZE: usize = 8;

/// A rank on its way through the windows.
struct Walk<'a, 'b, R> {
    ranks: &'a R,
    ring: &'a Ring,
    nodes: &'a Nodes,
    node: usize,
    shape: &'a Shape,
    visitor: Visitor<'a, 'b>,
    /// Windows that it has been at and that may not have been written yet, as many as there are slots.
    behind: VecDeque<Window>,
    /// Messages under way.
    sent: VecDeque<Underway<'a>>,
}

impl<R: Ranks> Walk<'_, '_, R> {
    /// Whether this rank speaks for its node about a window.
    fn hosts(&self, window: &Window) -> bool {
        let rank = match window.owner == self.node {
            true => window.host,
            false => self.nodes.speaker(self.node, window.index),
        };
        rank == self.ranks.rank()
    }

    async fn write(&mut self, window: &Window) {
        let visits = window.concerns(&self.shape.own);
        let serves = !window.guests.is_empty() && self.hosts(window);
        let excuses = window.is_empty_handed() && self.hosts(window);
        if !visits && !serves && !excuses {
            return;
        }
        let slot = self.ring.slot(window.number);
        self.make_room(&slot).await;
        if excuses {
            self.pass_on(&slot, window).await;
        }
        if visits {
            self.visitor.fill(&slot, window);
            self.leave_filled(&slot, window).await;
        }
        if serves {
            for _ in &window.guests {
                let inside = self.shape.inside(window);
                // One of a later window may come first, from a node that has nothing to do before.
                let most = parcel::largest(self.shape.grain, self.shape.window_size as usize);
                let parcel = self.ranks.receive(None, window.sequence, most).await;
                match self.visitor.note(parcel) {
                    Some(parcel) if parcel.is_empty() => {
                        let text = "another node could not send its part of a window";
                        self.visitor.note::<()>(Err(Error::new(Class::Io, text)));
                    }
                    Some(parcel) => parcel::unpack(&parcel, &slot, self.shape.grain, inside),
                    None => {}
                }
                self.leave_filled(&slot, window).await;
            }
        }
    }

    /// A rank, or a node that a host stands for, has filled its part of the window. The last sends
    /// it where it belongs. A window of this node's own is left to whoever has to wait for
    /// something: the last to fill it is the one who is behind.
    async fn leave_filled(&mut self, slot: &Slot<'_>, window: &Window) {
        if !slot.leave(window.parts()) {
            return;
        }
        match window.owner == self.node {
            true => self.ring.bell().ring(),
            false => self.pass_on(slot, window).await,
        }
    }

    /// Waits until a window may be put into the slot, and writes others meanwhile.
    async fn make_room(&mut self, slot: &Slot<'_>) {
        while !slot.is_free() {
            if self.write_full() {
                continue;
            }
            let full = || self.behind.iter().any(|window| self.is_full(window));
            self.ranks.until(|| slot.is_free() || full()).await;
        }
    }

    /// Writes a window that all have filled, if there is one that nobody writes.
    fn write_full(&mut self) -> bool {
        let full = |window: &Window| self.is_full(window) && self.ring.slot(window.number).claim();
        let Some(place) = self.behind.iter().position(full) else { return false };
        let window = &self.behind[place];
        let slot = self.ring.slot(window.number);
        self.visitor.write_out(&slot, window);
        slot.release();
        true
    }

    fn is_full(&self, window: &Window) -> bool {
        let slot = self.ring.slot(window.number);
        slot.is_left_by(window.parts()) && !slot.is_claimed()
    }

    fn leave_behind(&mut self, window: Window) {
        if window.owner != self.node {
            return;
        }
        if self.behind.len() as u64 == self.ring.slots() {
            self.behind.pop_front();
        }
        self.behind.push_back(window);
    }

    /// Sends the owner what this node has put into the window.
    async fn pass_on(&mut self, slot: &Slot<'_>, window: &Window) {
        let parcel = parcel::pack(slot, self.shape.grain, self.shape.inside(window));
        self.send(window.host, window, parcel).await;
        slot.release();
    }

    async fn read(&mut self, window: &Window, rest: &Windows<'_>) {
        let visits = window.concerns(&self.shape.own);
        let owned = window.owner == self.node;
        let serves = self.hosts(window) && !(owned && window.guests.is_empty());
        if !visits && !serves {
            return;
        }
        let slot = self.ring.slot(window.number);
        if owned {
            self.fetch(&slot, window, rest).await;
        } else if serves {
            self.ranks.until(|| slot.is_free()).await;
            self.receive_read(&slot, window).await;
            if window.is_empty_handed() {
                slot.release();
            }
        } else {
            self.ranks.until(|| slot.published().is_some()).await;
        }
        let found = slot.published().unwrap_or(0);
        if owned && serves {
            self.send_read(&slot, window, found).await;
            self.leave_emptied(&slot, window);
        }
        if visits {
            self.visitor.empty(&slot, window, found);
            self.leave_emptied(&slot, window);
        }
    }

    /// A rank, or the host that has told the other nodes, needs the window no longer.
    fn leave_emptied(&self, slot: &Slot<'_>, window: &Window) {
        if slot.leave(window.visitors + u64::from(!window.guests.is_empty())) {
            slot.release();
        }
    }

    /// Sees to it that the window is read, by this rank or another of its node. While another does,
    /// this one reads a window that will be wanted next.
    async fn fetch(&mut self, slot: &Slot<'_>, window: &Window, rest: &Windows<'_>) {
        self.ranks.until(|| slot.is_free()).await;
        if slot.claim() {
            self.visitor.read_in(slot, window);
        }
        for next in rest.clone().take(self.ring.slots() as usize - 1) {
            if slot.published().is_some() {
                return;
            }
            let place = self.ring.slot(next.number);
            if next.owner == self.node && place.claim() {
                self.visitor.read_in(&place, &next);
            }
        }
        self.ranks.until(|| slot.published().is_some()).await;
    }

    /// Sends the other nodes what they want of a window that was read.
    async fn send_read(&mut self, slot: &Slot<'_>, window: &Window, found: u64) {
        for &guest in &window.guests {
            let message = self.shape.told(slot, window, found, guest);
            self.send(self.nodes.speaker(guest, window.index), window, message).await;
        }
    }

    /// Puts what the owner has read into the slot. A failure is published as an empty window.
    async fn receive_read(&mut self, slot: &Slot<'_>, window: &Window) {
        let from = Some(window.host);
        let most = FOUND_SIZE + self.shape.window_size as usize;
        let message = self.ranks.receive(from, window.sequence, most).await;
        let message = self.visitor.note(message).unwrap_or_default();
        if message.is_empty() {
            self.visitor.note::<()>(Err(unsent(window.host)));
        }
        self.shape.hear(slot, window, &message, self.node);
    }

    async fn send(&mut self, to: usize, window: &Window, message: Vec<u8>) {
        self.sent_all_but(UNDER_WAY - 1).await;
        let (sent, refused) = send(self.ranks, to, window.sequence, message);
        self.visitor.note(refused);
        self.sent.push_back(sent);
    }

    /// Waits until at most so many messages are under way.
    async fn sent_all_but(&mut self, count: usize) {
        while self.sent.len() > count {
            if let Some(sent) = self.sent.pop_front() {
                let sent = sent.await;
                self.visitor.note(sent);
            }
        }
    }
}
