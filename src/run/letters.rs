//! Messages that are told apart by more than an MPI can.
//!
//! An MPI has tags up to 32767, and a collective access may have more windows than that. A rank that
//! takes what comes first, whoever sends it, could be given the message of a later window with the
//! same tag. So a message says in its head whose it is and what for, and one that came too soon is
//! kept until it is asked for.

use parking_lot::Mutex;

use crate::error::Result;

/// Bytes before those of the message: sender, tag and length. The receiver knows only how long it
/// may be.
pub const HEAD_SIZE: usize = 3 * WORD_SIZE;

const WORD_SIZE: usize = 8;

struct Letter {
    from: usize,
    tag: u64,
    bytes: Vec<u8>,
}

/// What came too soon.
#[derive(Default)]
pub struct Letters(Mutex<Vec<Letter>>);

/// What is sent for such a message.
pub fn sealed(from: usize, tag: u64, bytes: &[u8]) -> Vec<u8> {
    let (from, length) = (from as u64, bytes.len() as u64);
    [&from.to_le_bytes(), &tag.to_le_bytes(), &length.to_le_bytes(), bytes].concat()
}

impl Letter {
    /// What was sent, in room that may be larger.
    fn open(mut message: Vec<u8>) -> Letter {
        let word = |place: usize| {
            let bytes = message.get(place * WORD_SIZE..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let (from, tag, length) = (word(0) as usize, word(1), word(2) as usize);
        message.truncate(HEAD_SIZE + length);
        message.drain(..HEAD_SIZE);
        Letter { from, tag, bytes: message }
    }

    fn is(&self, from: Option<usize>, tag: u64) -> bool {
        self.tag == tag && from.is_none_or(|from| from == self.from)
    }
}

impl Letters {
    /// The message with this tag, from a rank or from any: one that came too soon, or else the
    /// first that fits of those that `next` brings.
    pub async fn receive(
        &self,
        from: Option<usize>,
        tag: u64,
        mut next: impl AsyncFnMut() -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        if let Some(letter) = self.take(from, tag) {
            return Ok(letter.bytes);
        }
        loop {
            let letter = Letter::open(next().await?);
            if letter.is(from, tag) {
                return Ok(letter.bytes);
            }
            // It may wait for long, in room that was made for the largest.
            let Letter { from, tag, mut bytes } = letter;
            bytes.shrink_to_fit();
            self.0.lock().push(Letter { from, tag, bytes });
        }
    }

    /// Whether nothing waits to be asked for.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    fn take(&self, from: Option<usize>, tag: u64) -> Option<Letter> {
        let mut early = self.0.lock();
        let place = early.iter().position(|letter| letter.is(from, tag))?;
        Some(early.remove(place))
    }
}
