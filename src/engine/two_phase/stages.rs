//! The two stages of a round: the shuffle, in which ranks fill windows or pick from them, and the
//! access to the file, which the host of each window makes.

use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::choice::Transfer;
use super::exchange::Post;
use super::nodes::Nodes;
use super::ring::{Ring, Slot};
use super::rounds::{Round, Rounds};
use super::schedule::{self, Order, Stages, Underway};
use super::visitor::Visitor;
use super::windows::{Window, Windows};
use super::{Shape, parcel};
use crate::driver::Driver;
use crate::engine::individual::{Access, Done};
use crate::engine::ranks::Ranks;
use crate::error::Result;
use crate::operation::Direction;

/// Moves this rank's bytes, round by round in this order.
pub async fn transfer<R: Ranks>(
    ranks: &R,
    (ring, nodes): (&Ring, &Nodes),
    driver: &Arc<dyn Driver>,
    access: &Access<'_>,
    shape: &Shape,
    transfer: Transfer,
    order: Order,
) -> Result<Done> {
    let (direction, node) = (access.direction, nodes.of(ranks.rank()));
    let windows = Windows::new(&shape.territory, nodes, node, &shape.domains, shape.window_size);
    let post = Post::new(ranks, transfer);
    let place = Place { ranks, ring, node, shape, post: &post };
    let mut work = Work {
        place,
        own: shape.own.clone(),
        direction,
        driver,
        aside: order.is_aside(direction),
        rounds: Rounds::new(windows, nodes, node, direction, ring.slots()),
        visitor: Visitor::new(&**driver, access, shape),
    };
    schedule::run(order, &mut work).await;
    ring.pass(work.rounds.count);
    work.visitor.finish()
}

/// Where a rank is, and with whom.
struct Place<'a, R> {
    ranks: &'a R,
    ring: &'a Ring,
    node: usize,
    shape: &'a Shape,
    post: &'a Post<'a, R>,
}

impl<R> Clone for Place<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Place<'_, R> {}

impl<'a, R: Ranks> Place<'a, R> {
    fn slot(&self, window: &Window) -> Slot<'a> {
        self.ring.slot(window.number)
    }

    /// The windows of a round that this rank accesses the file for. Of what its node told of there
    /// may be some that nobody wants after all.
    fn hosted<'r>(&self, round: &'r Round) -> impl Iterator<Item = &'r Window> {
        let (rank, node) = (self.ranks.rank(), self.node);
        round.windows.iter().filter(move |window| window.host == rank && window.is_ours(node))
    }

    /// Sends what the node put into windows of other owners, receives what others put into those
    /// that this rank hosts, and waits until they are full.
    async fn gather(self, round: Rc<Round>) -> Result<()> {
        let (shape, rank) = (self.shape, self.ranks.rank());
        let mut parcels = Vec::new();
        for letter in round.letters.iter().filter(|letter| letter.from == rank) {
            let window = &round.windows[letter.window];
            let slot = self.slot(window);
            self.ranks.until(|| slot.is_left_by(window.visitors)).await;
            parcels.push(parcel::pack(&slot, shape.grain, shape.inside(window)));
            slot.release();
        }
        let full = |window: &Window| window.visitors + window.guests.len() as u64;
        let accepted = self.post.exchange(&round, parcels, |letter, parcel| {
            let window = &round.windows[letter.window];
            let slot = self.slot(window);
            if !parcel.is_empty() {
                parcel::unpack(parcel, &slot, shape.grain, shape.inside(window));
            }
            slot.leave_to_host(full(window));
        });
        let accepted = accepted.await;
        for window in self.hosted(&round) {
            let slot = self.slot(window);
            self.ranks.until(|| slot.is_left_by(full(window))).await;
        }
        accepted
    }

    /// Tells the other nodes what was read for them, and hears of what others read for this one.
    async fn spread(self, round: &Round) -> Result<()> {
        let (shape, rank) = (self.shape, self.ranks.rank());
        let mut messages = Vec::new();
        for letter in round.letters.iter().filter(|letter| letter.from == rank) {
            let window = &round.windows[letter.window];
            let slot = self.slot(window);
            let found = slot.published().unwrap_or(0);
            messages.push(shape.told(&slot, window, found, letter.guest));
        }
        for letter in round.letters.iter().filter(|letter| letter.to == rank) {
            let slot = self.slot(&round.windows[letter.window]);
            self.ranks.until(|| slot.is_free()).await;
        }
        let heard = self.post.exchange(round, messages, |letter, message| {
            let window = &round.windows[letter.window];
            let slot = self.slot(window);
            shape.hear(&slot, window, message, self.node);
            if window.is_empty_handed() {
                slot.release();
            }
        });
        heard.await
    }
}

/// A rank at work on its rounds.
struct Work<'a, 'b, R> {
    place: Place<'a, R>,
    /// This rank's part of the file.
    own: Range<u64>,
    direction: Direction,
    driver: &'a Arc<dyn Driver>,
    /// Whether a thread accesses the file, so that something else is done meanwhile.
    aside: bool,
    rounds: Rounds<'a>,
    visitor: Visitor<'a, 'b>,
}

impl<'a, R: Ranks> Stages<'a> for Work<'a, '_, R> {
    type Round = Rc<Round>;

    fn next(&mut self) -> Option<Rc<Round>> {
        self.rounds.next().map(Rc::new)
    }

    async fn first(&mut self, round: &Rc<Round>) -> Underway<'a> {
        match self.direction {
            Direction::Write => {
                self.fill(round).await;
                Box::pin(self.place.gather(round.clone()))
            }
            Direction::Read => self.read(round).await,
        }
    }

    async fn second(&mut self, round: &Rc<Round>) -> Underway<'a> {
        match self.direction {
            Direction::Write => self.write(round),
            Direction::Read => {
                let spread = self.place.spread(round).await;
                self.visitor.note(spread);
                self.empty(round).await;
                Box::pin(std::future::ready(Ok(())))
            }
        }
    }

    fn note(&mut self, result: Result<()>) {
        self.visitor.note(result);
    }
}

impl<'a, R: Ranks> Work<'a, '_, R> {
    /// Puts this rank's bytes into the windows of a round.
    async fn fill(&mut self, round: &Round) {
        let place = self.place;
        for window in round.windows.iter().filter(|window| window.concerns(&self.own)) {
            let slot = place.slot(window);
            place.ranks.until(|| slot.is_free()).await;
            self.visitor.fill(&slot, window);
            let others = match window.owner == place.node {
                true => window.guests.len() as u64,
                false => 0,
            };
            slot.leave_to_host(window.visitors + others);
        }
        // A host may come to a window that nobody on its node has filled.
        for window in place.hosted(round) {
            let slot = place.slot(window);
            place.ranks.until(|| slot.is_free()).await;
        }
    }

    /// Begins to write the windows of a round that this rank hosts, all of which are full.
    fn write(&mut self, round: &Rc<Round>) -> Underway<'a> {
        let place = self.place;
        let mut writes = Vec::new();
        for window in place.hosted(round) {
            let slot = place.slot(window);
            if !self.aside {
                self.visitor.write_out(&slot, window);
                slot.release();
                continue;
            }
            let (driver, write) = (self.driver.clone(), self.visitor.writing(&slot, window));
            writes.push((slot, beside(place.ranks, move || write(&*driver))));
        }
        Box::pin(async {
            let mut verdict = Ok(());
            for (slot, write) in writes {
                verdict = verdict.and(write.await);
                slot.release();
            }
            verdict
        })
    }

    /// Begins to read the windows of a round that this rank hosts.
    async fn read(&mut self, round: &Rc<Round>) -> Underway<'a> {
        let place = self.place;
        let mut reads = Vec::new();
        for window in place.hosted(round) {
            let slot = place.slot(window);
            place.ranks.until(|| slot.is_free()).await;
            if !self.aside {
                self.visitor.read_in(&slot, window);
                continue;
            }
            let (driver, read) = (self.driver.clone(), self.visitor.reading(&slot, window));
            reads.push((slot, beside(place.ranks, move || read(&*driver))));
        }
        Box::pin(async {
            let mut verdict = Ok(());
            for (slot, read) in reads {
                let read = read.await;
                slot.publish(*read.as_ref().unwrap_or(&0));
                verdict = verdict.and(read.map(drop));
            }
            verdict
        })
    }

    /// Picks this rank's bytes out of the windows of a round.
    async fn empty(&mut self, round: &Round) {
        let place = self.place;
        let last = |window: &Window| {
            let told = window.owner == place.node && !window.guests.is_empty();
            window.visitors + u64::from(told)
        };
        for window in place.hosted(round).filter(|window| !window.guests.is_empty()) {
            let slot = place.slot(window);
            if slot.leave(last(window)) {
                slot.release();
            }
        }
        for window in round.windows.iter().filter(|window| window.concerns(&self.own)) {
            let slot = place.slot(window);
            place.ranks.until(|| slot.published().is_some()).await;
            self.visitor.empty(&slot, window, slot.published().unwrap_or(0));
            if slot.leave(last(window)) {
                slot.release();
            }
        }
    }
}

/// Lets a thread do the work, which begins at once.
fn beside<'a, R: Ranks, T: Send + Sync + 'static>(
    ranks: &'a R,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Pin<Box<dyn Future<Output = Result<T>> + 'a>> {
    let result = Arc::new(OnceLock::new());
    let place = result.clone();
    let done = ranks.aside(Box::new(move || drop(place.set(work()))));
    Box::pin(async move {
        done.await;
        let result = Arc::into_inner(result).and_then(OnceLock::into_inner);
        result.expect("the thread has done its work")
    })
}
