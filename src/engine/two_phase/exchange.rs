//! Bringing the letters of a round from one rank to another, in one of three ways.

use std::cell::Cell;

use super::choice::Transfer;
use super::ring::SLOT_SIZE;
use super::rounds::{Letter, Round};
use super::schedule::{Underway, both};
use crate::engine::ranks::Ranks;
use crate::error::{Class, Error, Result};

/// Room for one letter: its length, and the largest there can be.
pub const BOX_SIZE: usize = 8 + parcel_limit();

/// Boxes that a rank has for the letters of one fence. There are two sets of them: one is read
/// while the other is filled.
const BOXES: usize = 4;

/// Boxes that each rank needs for letters that are put there.
pub const INBOX_BOXES: usize = 2 * BOXES;

/// A parcel has a bit for each mark of a slot, of which it has one for four bytes at most.
const fn parcel_limit() -> usize {
    SLOT_SIZE + SLOT_SIZE / 4 / 8 + 8
}

/// A letter that says its sender has failed.
const FAILED: u64 = u64::MAX;

/// How letters travel in one access.
pub struct Post<'a, R> {
    ranks: &'a R,
    transfer: Transfer,
    /// Fences so far.
    fences: Cell<usize>,
}

impl<'a, R: Ranks> Post<'a, R> {
    /// In this way.
    pub fn new(ranks: &'a R, transfer: Transfer) -> Post<'a, R> {
        Post { ranks, transfer, fences: Cell::new(0) }
    }

    /// Sends the letters that are from this rank, whose bytes are in `outgoing` in the same order,
    /// and hands those that are to it to `accept`. One that could not be sent comes without bytes,
    /// so that nobody waits for it. All ranks do this for every round.
    pub async fn exchange(
        &self,
        round: &Round,
        outgoing: Vec<Vec<u8>>,
        mut accept: impl FnMut(&Letter, &[u8]),
    ) -> Result<()> {
        match self.transfer {
            Transfer::TwoSided => self.messages(round, outgoing, &mut accept).await,
            Transfer::PutFence => self.fenced_puts(round, outgoing, &mut accept).await,
            Transfer::PutLock => self.granted_puts(round, outgoing, &mut accept).await,
        }
    }

    fn sent<'r>(&self, round: &'r Round) -> impl Iterator<Item = &'r Letter> {
        let rank = self.ranks.rank();
        round.letters.iter().filter(move |letter| letter.from == rank)
    }

    fn received<'r>(&self, round: &'r Round) -> impl Iterator<Item = &'r Letter> {
        let rank = self.ranks.rank();
        round.letters.iter().filter(move |letter| letter.to == rank)
    }

    async fn messages(
        &self,
        round: &Round,
        outgoing: Vec<Vec<u8>>,
        accept: &mut impl FnMut(&Letter, &[u8]),
    ) -> Result<()> {
        let mut verdict = Ok(());
        let mut under_way = Vec::new();
        for (letter, bytes) in self.sent(round).zip(outgoing) {
            let (sent, failure) = send(self.ranks, letter.to, tag(round, letter), bytes);
            verdict = verdict.and(failure);
            under_way.push(sent);
        }
        for letter in self.received(round) {
            let (from, tag) = (Some(letter.from), tag(round, letter));
            let message = self.ranks.receive(from, tag, parcel_limit()).await;
            let message = message.and_then(|bytes| full(bytes, letter));
            accept(letter, message.as_deref().unwrap_or_default());
            verdict = verdict.and(message.map(drop));
        }
        for sent in under_way {
            verdict = verdict.and(sent.await);
        }
        verdict
    }

    async fn fenced_puts(
        &self,
        round: &Round,
        outgoing: Vec<Vec<u8>>,
        accept: &mut impl FnMut(&Letter, &[u8]),
    ) -> Result<()> {
        let mut verdict = Ok(());
        let outgoing: Vec<_> = self.sent(round).zip(outgoing).collect();
        for turn in 0..round.most_letters.div_ceil(BOXES) {
            let half = self.fences.replace(self.fences.get() + 1) % 2;
            let place = |letter: &Letter| (half * BOXES + letter.place % BOXES) * BOX_SIZE;
            let now = |letter: &Letter| letter.place / BOXES == turn;
            for (letter, bytes) in outgoing.iter().filter(|(letter, _)| now(letter)) {
                let length = (bytes.len() as u64).to_le_bytes();
                let whole = [&length, &bytes[..]].concat();
                verdict = verdict.and(self.ranks.put(letter.to, place(letter), whole));
            }
            verdict = verdict.and(self.ranks.fence().await);
            for letter in self.received(round).filter(|letter| now(letter)) {
                let bytes = full(self.open(place(letter)), letter);
                accept(letter, bytes.as_deref().unwrap_or_default());
                verdict = verdict.and(bytes.map(drop));
            }
        }
        verdict
    }

    /// The letter in the box at `place`. Its length is taken away, so that an old one is not found
    /// where a new one has failed to come.
    fn open(&self, place: usize) -> Vec<u8> {
        let head = self.ranks.inbox(place, 8);
        let length = head.first_chunk().map_or(0, |head| u64::from_le_bytes(*head));
        self.ranks.clear_inbox(place, 8);
        self.ranks.inbox(place + 8, (length as usize).min(parcel_limit()))
    }

    async fn granted_puts(
        &self,
        round: &Round,
        outgoing: Vec<Vec<u8>>,
        accept: &mut impl FnMut(&Letter, &[u8]),
    ) -> Result<()> {
        let speak: Underway<'_> = Box::pin(self.put_when_granted(round, outgoing));
        let listen: Underway<'_> = Box::pin(self.grant(round, accept));
        let (spoken, heard) = both(speak, listen).await;
        spoken.and(heard)
    }

    async fn put_when_granted(&self, round: &Round, outgoing: Vec<Vec<u8>>) -> Result<()> {
        let mut verdict = Ok(());
        for (letter, bytes) in self.sent(round).zip(outgoing) {
            let (to, [granted, put_tag]) = (letter.to, tags(round, letter));
            let grant = self.ranks.receive(Some(to), granted, 8).await;
            let size = bytes.len() as u64;
            let put = grant.and_then(|grant| match grant.first_chunk() {
                Some(place) => {
                    self.ranks.put(to, u64::from_le_bytes(*place) as usize, bytes)?;
                    self.ranks.flush(to)
                }
                None => Err(unsent(to)),
            });
            let told = if put.is_ok() { size } else { FAILED };
            let (sent, failure) = send(self.ranks, to, put_tag, told.to_le_bytes().to_vec());
            verdict = verdict.and(put).and(failure).and(sent.await);
        }
        verdict
    }

    async fn grant(&self, round: &Round, accept: &mut impl FnMut(&Letter, &[u8])) -> Result<()> {
        let mut verdict = Ok(());
        let letters: Vec<&Letter> = self.received(round).collect();
        let place = |number: usize| number % BOXES * BOX_SIZE;
        let grant = |number: usize| {
            let letter = letters.get(number)?;
            let box_ = (place(number) as u64).to_le_bytes().to_vec();
            let [granted, _] = tags(round, letter);
            Some(send(self.ranks, letter.from, granted, box_))
        };
        let mut grants: Vec<_> = (0..BOXES).filter_map(grant).collect();
        for (number, letter) in letters.iter().enumerate() {
            let [_, put] = tags(round, letter);
            let told = self.ranks.receive(Some(letter.from), put, 8).await;
            let length =
                told.map(|told| told.first_chunk().map_or(FAILED, |t| u64::from_le_bytes(*t)));
            let bytes = length.and_then(|length| match length {
                FAILED => full(Vec::new(), letter),
                length => full(self.ranks.inbox(place(number), length as usize), letter),
            });
            accept(letter, bytes.as_deref().unwrap_or_default());
            verdict = verdict.and(bytes.map(drop));
            grants.extend(grant(number + BOXES));
        }
        for (sent, failure) in grants {
            verdict = verdict.and(failure).and(sent.await);
        }
        verdict
    }
}

/// Every letter has bytes: one without says that its sender has failed.
fn full(bytes: Vec<u8>, letter: &Letter) -> Result<Vec<u8>> {
    if bytes.is_empty() { Err(unsent(letter.from)) } else { Ok(bytes) }
}

/// Of a message that came without bytes.
pub fn unsent(from: usize) -> Error {
    Error::new(Class::Io, format!("rank {from} could not send its part of a window"))
}

fn tag(round: &Round, letter: &Letter) -> u64 {
    round.windows[letter.window].sequence
}

/// Of the grant for a letter, and of the word that it has been put: a rank waits for one of each at
/// a time, so what one wait receives must never be what the other is for.
fn tags(round: &Round, letter: &Letter) -> [u64; 2] {
    [0, 1].map(|kind| 2 * tag(round, letter) + kind)
}

/// Starts to send. What the MPI refuses to send is replaced by a message without bytes: the
/// receiver waits for something. If it refuses that too, nobody can be told any more.
pub fn send<'r, R: Ranks>(
    ranks: &'r R,
    to: usize,
    tag: u64,
    bytes: Vec<u8>,
) -> (Underway<'r>, Result<()>) {
    match ranks.send(to, tag, bytes) {
        Ok(sent) => (Box::pin(sent), Ok(())),
        Err(refusal) => match ranks.send(to, tag, Vec::new()) {
            Ok(sent) => (Box::pin(sent), Err(refusal)),
            Err(_) => panic!("rank {to} waits for a message that cannot be sent: {refusal}"),
        },
    }
}
