//! Ranks in one thread: each is a future, and they are stepped in turn.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::engine::ranks::{Combined, Ranks, agree};
use crate::engine::two_phase::{BOX_SIZE, INBOX_BOXES, Nodes};
use crate::error::{Class, Error, Result};
use crate::run::letters::{HEAD_SIZE, Letters, sealed};

/// What the ranks give to one exchange.
#[derive(Default)]
struct Round {
    given: Vec<Vec<u8>>,
    count: usize,
}

/// What the ranks have given to each exchange, in order.
#[derive(Default)]
struct Mail {
    rounds: Vec<Round>,
    /// From whom, to whom, what is left of the tag, and what.
    letters: Vec<(usize, usize, u64, Vec<u8>)>,
    /// Puts that nothing has completed yet.
    puts: Vec<Put>,
    /// What has been put at each place of each rank.
    inboxes: BTreeMap<(usize, usize), Vec<u8>>,
    /// Messages that were to be sent, and puts that were to be begun.
    calls: usize,
    /// The number of the one that is refused.
    refuses_at: Option<usize>,
    /// Things done aside so far.
    asides: usize,
}

struct Put {
    from: usize,
    to: usize,
    place: usize,
    bytes: Vec<u8>,
    /// The exchange that completes it, once its rank has called a fence.
    fence: Option<usize>,
}

impl Mail {
    fn deliver(&mut self, which: impl Fn(&Put) -> bool) {
        let (done, rest) = std::mem::take(&mut self.puts).into_iter().partition(|put| which(put));
        self.puts = rest;
        let done: Vec<Put> = done;
        for put in done {
            self.inboxes.insert((put.to, put.place), put.bytes);
        }
    }

    fn refuse(&mut self) -> Result<()> {
        self.calls += 1;
        match self.refuses_at == Some(self.calls) {
            true => Err(Error::new(Class::Other, "the message is refused")),
            false => Ok(()),
        }
    }
}

pub struct Simulated {
    pub rank: usize,
    size: usize,
    next: RefCell<usize>,
    /// Bytes that other ranks have told this one when all told each other something.
    pub heard: Cell<usize>,
    mail: Rc<RefCell<Mail>>,
    letters: Letters,
}

/// So few tags that windows often share one; an even number, as MPIs have.
const TAGS: u64 = 4;

impl Drop for Simulated {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.letters.is_empty(), "a message is left over");
    }
}

impl Simulated {
    /// Gives `bytes` to the next exchange, waits for everybody, and takes what some gave, one after
    /// the other.
    async fn exchange(
        &self,
        bytes: Vec<u8>,
        whose: impl Iterator<Item = usize> + Clone,
    ) -> Vec<u8> {
        let round = self.next.replace_with(|next| *next + 1);
        {
            let mut mail = self.mail.borrow_mut();
            if mail.rounds.len() <= round {
                mail.rounds.resize_with(round + 1, Round::default);
            }
            let round = &mut mail.rounds[round];
            round.given.resize_with(self.size, Vec::new);
            round.given[self.rank] = bytes;
            round.count += 1;
        }
        std::future::poll_fn(|_| {
            let round = &self.mail.borrow().rounds[round];
            if round.count < self.size {
                return Poll::Pending;
            }
            let mut all = Vec::new();
            whose.clone().for_each(|rank| all.extend_from_slice(&round.given[rank]));
            Poll::Ready(all)
        })
        .await
    }

    /// The same with numbers, row by row, which this rank is said to have heard.
    async fn exchange_numbers(
        &self,
        values: &[i64],
        whose: impl Iterator<Item = usize> + Clone,
    ) -> Box<[i64]> {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let all = self.exchange(bytes, whose).await;
        self.hear(all.len());
        let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        all.chunks_exact(8).map(number).collect()
    }

    fn hear(&self, bytes: usize) {
        self.heard.set(self.heard.get() + bytes);
    }
}

impl Ranks for Simulated {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    async fn max(&self, values: Box<[i64]>) -> Result<Box<[i64]>> {
        let before = self.heard.get();
        let all = self.exchange_numbers(&values, 0..self.size).await;
        self.heard.set(before + 8 * values.len());
        let row = |place: usize| all[place..].iter().step_by(values.len()).copied();
        Ok((0..values.len()).map(|place| row(place).max().unwrap_or(0)).collect())
    }

    async fn gather(&self, values: Box<[i64]>) -> Result<Box<[i64]>> {
        Ok(self.exchange_numbers(&values, 0..self.size).await)
    }

    async fn gather_in_group(&self, groups: &Nodes, values: Box<[i64]>) -> Result<Box<[i64]>> {
        let group = groups.ranks(groups.of(self.rank)).iter().copied();
        Ok(self.exchange_numbers(&values, group).await)
    }

    async fn combine(
        &self,
        groups: &Nodes,
        sums: Box<[i64]>,
        most: Box<[i64]>,
    ) -> Result<Combined> {
        let before = self.heard.get();
        let both = [&sums[..], &most].concat();
        let leaders: Vec<usize> = groups.leaders().collect();
        let all = self.exchange_numbers(&both, leaders.into_iter()).await;
        self.heard.set(before + 8 * both.len());
        let column = |place: usize| all[place..].iter().step_by(both.len()).copied();
        let summed = (0..sums.len()).map(|place| column(place).sum());
        let largest = (sums.len()..both.len()).map(|place| column(place).max().unwrap_or(0));
        Ok((summed.collect(), largest.collect()))
    }

    async fn gather_of_groups(&self, groups: &Nodes, values: Box<[i64]>) -> Result<Box<[i64]>> {
        let leaders: Vec<usize> = groups.leaders().collect();
        Ok(self.exchange_numbers(&values, leaders.into_iter()).await)
    }

    fn send(
        &self,
        to: usize,
        tag: u64,
        bytes: Vec<u8>,
    ) -> Result<impl Future<Output = Result<()>>> {
        let mut mail = self.mail.borrow_mut();
        if !bytes.is_empty() {
            mail.refuse()?;
        }
        mail.letters.push((self.rank, to, tag % TAGS, sealed(self.rank, tag, &bytes)));
        Ok(std::future::ready(Ok(())))
    }

    async fn receive(&self, from: Option<usize>, tag: u64, most: usize) -> Result<Vec<u8>> {
        let fits = |letter: &(usize, usize, u64, Vec<u8>)| {
            from.is_none_or(|from| letter.0 == from)
                && (letter.1, letter.2) == (self.rank, tag % TAGS)
        };
        let next = async || {
            std::future::poll_fn(|_| {
                let letters = &mut self.mail.borrow_mut().letters;
                let Some(place) = letters.iter().position(fits) else { return Poll::Pending };
                let bytes = letters.remove(place).3;
                let size = bytes.len();
                assert!(size <= HEAD_SIZE + most, "a message of {size} bytes where {most} fit");
                Poll::Ready(Ok(bytes))
            })
            .await
        };
        self.letters.receive(from, tag, next).await
    }

    async fn until(&self, done: impl Fn() -> bool) {
        std::future::poll_fn(|_| if done() { Poll::Ready(()) } else { Poll::Pending }).await
    }

    fn put(&self, to: usize, place: usize, bytes: Vec<u8>) -> Result<()> {
        let mut mail = self.mail.borrow_mut();
        mail.refuse()?;
        assert!(place + bytes.len() <= INBOX_BOXES * BOX_SIZE, "outside the inbox");
        mail.puts.push(Put { from: self.rank, to, place, bytes, fence: None });
        Ok(())
    }

    async fn fence(&self) -> Result<()> {
        let round = *self.next.borrow();
        for put in self.mail.borrow_mut().puts.iter_mut().filter(|put| put.from == self.rank) {
            put.fence = Some(put.fence.unwrap_or(round));
        }
        self.exchange(Vec::new(), 0..0).await;
        let done = |put: &Put| put.fence.is_some_and(|fence| fence <= round);
        self.mail.borrow_mut().deliver(done);
        Ok(())
    }

    fn flush(&self, to: usize) -> Result<()> {
        self.mail.borrow_mut().deliver(|put| put.from == self.rank && put.to == to);
        Ok(())
    }

    fn inbox(&self, place: usize, size: usize) -> Vec<u8> {
        let mail = self.mail.borrow();
        let below = mail.inboxes.range((self.rank, 0)..=(self.rank, place)).next_back();
        let found = below.and_then(|((_, start), bytes)| bytes.get(place - start..));
        let mut bytes = found.unwrap_or_default().to_vec();
        bytes.resize(size, 0);
        bytes
    }

    fn clear_inbox(&self, place: usize, size: usize) {
        if let Some(bytes) = self.mail.borrow_mut().inboxes.get_mut(&(self.rank, place)) {
            bytes[..size].fill(0);
        }
    }

    fn aside(&self, work: Box<dyn FnOnce() + Send>) -> impl Future<Output = ()> {
        let mut mail = self.mail.borrow_mut();
        mail.asides += 1;
        // A thread that is now fast and now slow.
        let (mut left, mut work) = (mail.asides * 7 % 4, Some(work));
        std::future::poll_fn(move |_| {
            if left > 0 {
                left -= 1;
                return Poll::Pending;
            }
            if let Some(work) = work.take() {
                work();
            }
            Poll::Ready(())
        })
    }

    async fn broadcast(&self, bytes: Box<[u8]>, root: usize) -> Result<Box<[u8]>> {
        Ok(self.exchange(bytes.into(), root..root + 1).await.into())
    }
}

/// Runs one future per rank until all are done; fails if nobody can go on.
pub fn simulate<T, F: Future<Output = T>>(size: usize, rank: impl Fn(Simulated) -> F) -> Vec<T> {
    simulate_refusing(size, None, rank)
}

/// As `simulate`, with one message or put that is refused.
pub fn simulate_refusing<T, F: Future<Output = T>>(
    size: usize,
    refuses_at: Option<usize>,
    rank: impl Fn(Simulated) -> F,
) -> Vec<T> {
    let mail = Rc::new(RefCell::new(Mail { refuses_at, ..Mail::default() }));
    let mut running: Vec<Option<Pin<Box<F>>>> = (0..size)
        .map(|index| {
            let (next, heard) = (RefCell::new(0), Cell::new(0));
            let (mail, letters) = (mail.clone(), Letters::default());
            let simulated = Simulated { rank: index, size, next, heard, mail, letters };
            Some(Box::pin(rank(simulated)))
        })
        .collect();
    let mut results: Vec<Option<T>> = (0..size).map(|_| None).collect();
    for turn in 0..100_000 {
        // Now one is the first to get on, now another.
        for index in (0..size).map(|step| (turn + step) % size) {
            let slot = &mut running[index];
            let Some(future) = slot else { continue };
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                results[index] = Some(result);
                *slot = None;
            }
        }
        if running.iter().all(Option::is_none) {
            assert!(mail.borrow().letters.is_empty(), "a message was not received");
            return results.into_iter().map(|result| result.expect("every rank is done")).collect();
        }
    }
    let waiting: Vec<usize> = (0..size).filter(|&index| running[index].is_some()).collect();
    panic!("ranks {waiting:?} of {size} wait for ever");
}

#[test]
fn every_rank_gets_the_verdict_of_the_lowest_that_failed() {
    for size in 1..=6usize {
        for failing in 0..1u32 << size {
            let fails = |rank: usize| failing >> rank & 1 == 1;
            let verdicts = simulate(size, |ranks| async move {
                let own = match fails(ranks.rank) {
                    true if ranks.rank.is_multiple_of(2) => Err(Error::new(Class::NoSpace, "full")),
                    true => Err(Error::new(Class::Io, "broken")),
                    false => Ok(ranks.rank),
                };
                agree(&ranks, own).await
            });
            let lowest = (0..size).find(|&rank| fails(rank));
            for (rank, verdict) in verdicts.into_iter().enumerate() {
                match (verdict, lowest) {
                    (Ok(value), None) => assert_eq!(value, rank),
                    (Err(error), Some(lowest)) => {
                        let class =
                            if lowest.is_multiple_of(2) { Class::NoSpace } else { Class::Io };
                        assert_eq!(error.class, class, "rank {rank} of {size}");
                        assert!(error.text().contains(if class == Class::Io {
                            "broken"
                        } else {
                            "full"
                        }));
                    }
                    (verdict, _) => panic!("rank {rank} of {size}, {failing:b}: {verdict:?}"),
                }
            }
        }
    }
}
