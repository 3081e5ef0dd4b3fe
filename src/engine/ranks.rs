//! The other ranks of a file, as the engines need them.

use crate::error::{Class, Error, Result};

/// Everybody who opened the file together.
///
/// Two implementations: the communicator, and simulated ranks in one thread. All ranks call the
/// same methods in the same order.
pub trait Ranks {
    /// Which one this is.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// The largest of all ranks' values, place by place.
    fn max(&self, values: Box<[i64]>) -> impl Future<Output = Result<Box<[i64]>>>;

    /// The bytes of rank `root`; all give equally many.
    fn broadcast(&self, bytes: Box<[u8]>, root: usize) -> impl Future<Output = Result<Box<[u8]>>>;
}

/// Room for a message about an error that another rank had.
const TEXT_SIZE: usize = 1024;

/// One verdict for all ranks: if any failed, every rank gets the class of the lowest that did.
///
/// This is how a collective operation ends. A rank that has failed comes here all the same, so
/// none waits for it. While all is well it costs one exchange of a number.
pub async fn agree<R: Ranks, T>(ranks: &R, verdict: Result<T>) -> Result<T> {
    let place = match verdict {
        Ok(_) => 0,
        Err(_) => (ranks.size() - ranks.rank()) as i64,
    };
    let lowest = ranks.max(Box::new([place])).await?[0];
    if lowest == 0 {
        return verdict;
    }
    let root = ranks.size() - lowest as usize;
    let message = encode(verdict.as_ref().err());
    let message = ranks.broadcast(message, root).await?;
    Err(decode(&message, root, ranks.rank(), verdict.err()))
}

fn encode(error: Option<&Error>) -> Box<[u8]> {
    let mut message = vec![0; TEXT_SIZE];
    if let Some(error) = error {
        message[0] = error.class.code();
        let mut length = error.text().len().min(TEXT_SIZE - 3);
        while !error.text().is_char_boundary(length) {
            length -= 1;
        }
        message[1..3].copy_from_slice(&(length as u16).to_le_bytes());
        message[3..3 + length].copy_from_slice(&error.text().as_bytes()[..length]);
    }
    message.into()
}

fn decode(message: &[u8], root: usize, rank: usize, own: Option<Error>) -> Error {
    let class = Class::from_code(message[0]);
    if let Some(error) = own
        && error.class == class
    {
        return error;
    }
    let length = usize::from(u16::from_le_bytes([message[1], message[2]]));
    let text = String::from_utf8_lossy(&message[3..3 + length]);
    debug_assert_ne!(root, rank, "the root keeps its own error");
    Error::new(class, format!("rank {root} failed: {text}"))
}
