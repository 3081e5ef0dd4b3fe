//! Ranks in one thread: each is a future, and they are stepped in turn.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::engine::ranks::{Ranks, agree};
use crate::error::{Class, Error, Result};

type Round = Vec<Option<Vec<u8>>>;

/// What the ranks have given to each exchange, in order.
#[derive(Default)]
struct Mail {
    rounds: Vec<Round>,
    /// From whom, to whom, tag, and what.
    letters: Vec<(usize, usize, u64, Vec<u8>)>,
}

pub struct Simulated {
    pub rank: usize,
    size: usize,
    next: RefCell<usize>,
    mail: Rc<RefCell<Mail>>,
}

impl Simulated {
    /// Gives `bytes` to the next exchange and waits for everybody's.
    async fn exchange(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let round = self.next.replace_with(|next| *next + 1);
        {
            let mut mail = self.mail.borrow_mut();
            if mail.rounds.len() <= round {
                mail.rounds.resize_with(round + 1, Vec::new);
            }
            mail.rounds[round].resize_with(self.size, || None);
            mail.rounds[round][self.rank] = Some(bytes);
        }
        std::future::poll_fn(|_| {
            let mail = self.mail.borrow();
            let all: Option<Vec<Vec<u8>>> = mail.rounds[round].iter().cloned().collect();
            all.map_or(Poll::Pending, Poll::Ready)
        })
        .await
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
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let all = self.exchange(bytes).await;
        let number = |bytes: &[u8], i: usize| {
            i64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight bytes"))
        };
        let most = |i| all.iter().map(|bytes| number(bytes, i)).max().unwrap_or(0);
        Ok((0..values.len()).map(most).collect())
    }

    async fn gather(&self, values: Box<[i64]>) -> Result<Box<[i64]>> {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let all = self.exchange(bytes).await.concat();
        let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(all.chunks_exact(8).map(number).collect())
    }

    fn send(
        &self,
        to: usize,
        tag: u64,
        bytes: Vec<u8>,
    ) -> Result<impl Future<Output = Result<()>>> {
        self.mail.borrow_mut().letters.push((self.rank, to, tag, bytes));
        Ok(std::future::ready(Ok(())))
    }

    async fn receive(&self, from: Option<usize>, tag: u64, most: usize) -> Result<Vec<u8>> {
        std::future::poll_fn(|_| {
            let letters = &mut self.mail.borrow_mut().letters;
            let fits = |letter: &(usize, usize, u64, Vec<u8>)| {
                from.is_none_or(|from| letter.0 == from) && letter.1 == self.rank && letter.2 == tag
            };
            match letters.iter().position(fits) {
                Some(place) => {
                    let bytes = letters.remove(place).3;
                    assert!(bytes.len() <= most, "a message of {} bytes", bytes.len());
                    Poll::Ready(Ok(bytes))
                }
                None => Poll::Pending,
            }
        })
        .await
    }

    async fn until(&self, done: impl Fn() -> bool) {
        std::future::poll_fn(|_| if done() { Poll::Ready(()) } else { Poll::Pending }).await
    }

    async fn broadcast(&self, bytes: Box<[u8]>, root: usize) -> Result<Box<[u8]>> {
        let all = self.exchange(bytes.into()).await;
        Ok(all[root].clone().into())
    }
}

/// Runs one future per rank until all are done; fails if nobody can go on.
pub fn simulate<T, F: Future<Output = T>>(size: usize, rank: impl Fn(Simulated) -> F) -> Vec<T> {
    let mail = Rc::new(RefCell::new(Mail::default()));
    let mut running: Vec<Option<Pin<Box<F>>>> = (0..size)
        .map(|index| {
            let simulated =
                Simulated { rank: index, size, next: RefCell::new(0), mail: mail.clone() };
            Some(Box::pin(rank(simulated)))
        })
        .collect();
    let mut results: Vec<Option<T>> = (0..size).map(|_| None).collect();
    for _ in 0..10_000 {
        for (index, slot) in running.iter_mut().enumerate() {
            let Some(future) = slot else { continue };
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                results[index] = Some(result);
                *slot = None;
            }
        }
        if running.iter().all(Option::is_none) {
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
