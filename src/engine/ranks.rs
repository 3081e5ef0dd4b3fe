//! The other ranks of a file, as the engines need them.

use super::two_phase::Nodes;
use crate::error::{Class, Error, Result};

/// Sums, and largest values.
pub type Combined = (Box<[i64]>, Box<[i64]>);

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

    /// All ranks' values, in the order of the ranks; all give equally many.
    fn gather(&self, values: Box<[i64]>) -> impl Future<Output = Result<Box<[i64]>>>;

    /// The values of this rank's group, in the order of its ranks; all give equally many.
    fn gather_in_group(
        &self,
        groups: &Nodes,
        values: Box<[i64]>,
    ) -> impl Future<Output = Result<Box<[i64]>>>;

    /// The sums of all groups' first values and the largest of their others, place by place. The
    /// ranks of a group give the same.
    fn combine(
        &self,
        groups: &Nodes,
        sums: Box<[i64]>,
        most: Box<[i64]>,
    ) -> impl Future<Output = Result<Combined>>;

    /// The values of each group, in the order of the groups. The ranks of a group give the same,
    /// and all equally many.
    fn gather_of_groups(
        &self,
        groups: &Nodes,
        values: Box<[i64]>,
    ) -> impl Future<Output = Result<Box<[i64]>>>;

    /// Starts to send a message, and gives what tells when the rank `to` has begun to receive it.
    fn send(&self, to: usize, tag: u64, bytes: Vec<u8>)
    -> Result<impl Future<Output = Result<()>>>;

    /// Receives a message of at most `most` bytes, from a rank or from any.
    fn receive(
        &self,
        from: Option<usize>,
        tag: u64,
        most: usize,
    ) -> impl Future<Output = Result<Vec<u8>>>;

    /// Waits for what another rank does in memory that both see. Messages of the program get on
    /// meanwhile.
    fn until(&self, done: impl Fn() -> bool) -> impl Future<Output = ()>;

    /// Begins to put bytes at `place` of rank `to`'s inbox. They are there after the next fence, or
    /// after a flush.
    fn put(&self, to: usize, place: usize, bytes: Vec<u8>) -> Result<()>;

    /// Completes all puts of all ranks. All ranks call it.
    fn fence(&self) -> impl Future<Output = Result<()>>;

    /// Completes this rank's puts to rank `to`, which still has to be told of them.
    fn flush(&self, to: usize) -> Result<()>;

    /// What others have put into this rank's inbox.
    fn inbox(&self, place: usize, size: usize) -> Vec<u8>;

    /// Puts zeros there.
    fn clear_inbox(&self, place: usize, size: usize);

    /// Lets something be done beside this rank's own work, from now on; done when it is.
    fn aside(&self, work: Box<dyn FnOnce() + Send>) -> impl Future<Output = ()>;

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
    Survey::new(ranks).hold(verdict).await.map(|(value, _)| value)
}

/// Questions to all ranks that are answered in one exchange, together with a verdict.
pub struct Survey<'a, R> {
    ranks: &'a R,
    /// The first is the place of a rank that failed.
    values: Vec<i64>,
}

/// Where in a survey a question stands.
#[derive(Clone, Copy, Debug)]
pub struct Place(usize);

/// What the ranks answered.
pub struct Answers(Box<[i64]>);

impl<'a, R: Ranks> Survey<'a, R> {
    /// One without questions.
    pub fn new(ranks: &'a R) -> Survey<'a, R> {
        Survey { ranks, values: vec![0] }
    }

    /// Asks for the largest of all ranks' values.
    pub fn most(&mut self, value: i64) -> Place {
        self.values.push(value);
        Place(self.values.len() - 1)
    }

    /// Asks whether all ranks have the same value.
    pub fn same(&mut self, value: i64) -> Place {
        let place = self.most(value);
        self.most(!value);
        place
    }

    /// Asks everybody. If any rank failed, all do, with the class of the lowest that did.
    pub async fn hold<T>(mut self, verdict: Result<T>) -> Result<(T, Answers)> {
        let ranks = self.ranks;
        if verdict.is_err() {
            self.values[0] = (ranks.size() - ranks.rank()) as i64;
        }
        let answers = ranks.max(self.values.into()).await?;
        settle(ranks, answers[0], verdict).await.map(|value| (value, Answers(answers)))
    }
}

/// What one rank told of `N` numbers, if all could: every rank's, in the order of the ranks.
///
/// If any failed, all do, with the class of the lowest that did.
pub async fn share<R: Ranks, T, const N: usize>(
    ranks: &R,
    verdict: Result<T>,
    numbers: impl Fn(&T) -> [i64; N],
) -> Result<(T, Vec<[i64; N]>)> {
    let all = ranks.gather(row(ranks, &verdict, numbers)).await?;
    let (failed, all) = split(&all);
    settle(ranks, failed, verdict).await.map(|value| (value, all))
}

/// What a rank gives to an exchange: its place, counted from the end, if it has failed, and its
/// numbers.
pub fn row<R: Ranks, T, const N: usize>(
    ranks: &R,
    verdict: &Result<T>,
    numbers: impl Fn(&T) -> [i64; N],
) -> Box<[i64]> {
    let (failed, numbers) = match verdict {
        Ok(value) => (0, numbers(value)),
        Err(_) => ((ranks.size() - ranks.rank()) as i64, [0; N]),
    };
    [failed].into_iter().chain(numbers).collect()
}

/// The place of the lowest rank that has failed, or 0, and the numbers of all.
pub fn split<const N: usize>(rows: &[i64]) -> (i64, Vec<[i64; N]>) {
    let rows = || rows.chunks_exact(N + 1);
    let failed = rows().map(|row| row[0]).max();
    let numbers = |row: &[i64]| {
        let mut numbers = [0; N];
        numbers.copy_from_slice(&row[1..]);
        numbers
    };
    (failed.unwrap_or(0), rows().map(numbers).collect())
}

/// Ends an exchange in which all ranks have heard the place of the lowest that failed, or 0.
pub async fn settle<R: Ranks, T>(ranks: &R, failed: i64, verdict: Result<T>) -> Result<T> {
    match failed {
        0 => verdict,
        place => Err(told(ranks, ranks.size() - place as usize, verdict.err()).await),
    }
}

/// The error of rank `root`, in its words.
async fn told<R: Ranks>(ranks: &R, root: usize, own: Option<Error>) -> Error {
    match ranks.broadcast(encode(own.as_ref()), root).await {
        Ok(message) => decode(&message, root, ranks.rank(), own),
        Err(error) => error,
    }
}

impl Answers {
    /// The largest value.
    pub fn most(&self, place: Place) -> i64 {
        self.0[place.0]
    }

    /// Whether all values are the same.
    pub fn same(&self, place: Place) -> bool {
        self.0[place.0] == !self.0[place.0 + 1]
    }
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
