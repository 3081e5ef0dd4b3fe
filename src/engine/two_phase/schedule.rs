//! The five orders in which rounds go through their two stages, over two halves of a buffer.
//!
//! For a write the first stage is the shuffle and the second the file access; for a read it is the
//! other way round. In every order round i begins only after round i - 2 is over, so that it finds
//! its half of the buffer free.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::Poll;

use super::choice::Overlap;
use crate::error::Result;
use crate::operation::Direction;

/// A stage that was begun.
pub type Underway<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// What is done to rounds.
pub trait Stages<'a> {
    /// A round.
    type Round;

    /// The next one.
    fn next(&mut self) -> Option<Self::Round>;

    /// Begins the first stage of a round.
    fn first(&mut self, round: &Self::Round) -> impl Future<Output = Underway<'a>>;

    /// Begins the second stage of a round whose first is done.
    fn second(&mut self, round: &Self::Round) -> impl Future<Output = Underway<'a>>;

    /// Hears what became of a stage.
    fn note(&mut self, result: Result<()>);
}

/// What may be under way beside what, by stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing.
    InTurn,
    /// The next first stage beside a second.
    FirstAhead,
    /// A second stage beside the next first.
    SecondBehind,
    /// Both, waited for together.
    Together,
    /// Both, each followed at once by what comes after it.
    DataFlow,
}

impl Order {
    /// The order that a choice means, if it is one of rounds.
    pub fn of(overlap: Overlap, direction: Direction) -> Option<Order> {
        Some(match (overlap, direction) {
            (Overlap::Flow, _) => return None,
            (Overlap::None, _) => Order::InTurn,
            (Overlap::Communication, Direction::Write) => Order::FirstAhead,
            (Overlap::Communication, Direction::Read) => Order::SecondBehind,
            (Overlap::Write, Direction::Write) => Order::SecondBehind,
            (Overlap::Write, Direction::Read) => Order::FirstAhead,
            (Overlap::WriteCommunication, _) => Order::Together,
            (Overlap::WriteCommunication2, _) => Order::DataFlow,
        })
    }

    /// Whether the file access is begun long before it is waited for, so that a thread should do it.
    pub fn is_aside(self, direction: Direction) -> bool {
        match (self, direction) {
            (Order::InTurn, _) => false,
            (Order::FirstAhead, direction) => direction == Direction::Read,
            (Order::SecondBehind, direction) => direction == Direction::Write,
            (Order::Together | Order::DataFlow, _) => true,
        }
    }
}

/// Takes all rounds through both stages.
pub async fn run<'a, S: Stages<'a>>(order: Order, stages: &mut S) {
    match order {
        Order::InTurn => in_turn(stages).await,
        Order::FirstAhead => first_ahead(stages).await,
        Order::SecondBehind => second_behind(stages).await,
        Order::Together => together(stages).await,
        Order::DataFlow => data_flow(stages).await,
    }
}

async fn finish<'a, S: Stages<'a>>(stages: &mut S, underway: Underway<'a>) {
    let result = underway.await;
    stages.note(result);
}

async fn in_turn<'a, S: Stages<'a>>(stages: &mut S) {
    while let Some(round) = stages.next() {
        let first = stages.first(&round).await;
        finish(stages, first).await;
        let second = stages.second(&round).await;
        finish(stages, second).await;
    }
}

async fn first_ahead<'a, S: Stages<'a>>(stages: &mut S) {
    let mut begun = begin(stages).await;
    while let Some((round, first)) = begun {
        begun = begin(stages).await;
        finish(stages, first).await;
        let second = stages.second(&round).await;
        finish(stages, second).await;
    }
}

async fn second_behind<'a, S: Stages<'a>>(stages: &mut S) {
    let mut behind = None;
    while let Some((round, first)) = begin(stages).await {
        finish(stages, first).await;
        if let Some(second) = behind.take() {
            finish(stages, second).await;
        }
        behind = Some(stages.second(&round).await);
    }
    if let Some(second) = behind {
        finish(stages, second).await;
    }
}

async fn together<'a, S: Stages<'a>>(stages: &mut S) {
    let Some((mut round, first)) = begin(stages).await else { return };
    finish(stages, first).await;
    loop {
        let second = stages.second(&round).await;
        let Some((next, first)) = begin(stages).await else {
            return finish(stages, second).await;
        };
        let (one, other) = both(first, second).await;
        stages.note(one);
        stages.note(other);
        round = next;
    }
}

async fn data_flow<'a, S: Stages<'a>>(stages: &mut S) {
    let mut firsts = begin(stages).await;
    let mut seconds: VecDeque<Underway<'a>> = VecDeque::new();
    loop {
        let done = either(firsts.as_mut().map(|(_, first)| first), seconds.front_mut()).await;
        match done {
            Some(Done::First(result)) => {
                stages.note(result);
                if let Some((round, _)) = firsts.take() {
                    seconds.push_back(stages.second(&round).await);
                }
            }
            Some(Done::Second(result)) => {
                stages.note(result);
                seconds.pop_front();
            }
            None => return,
        }
        // The round before the last must be over.
        if firsts.is_none() && seconds.len() < 2 {
            firsts = begin(stages).await;
        }
    }
}

async fn begin<'a, S: Stages<'a>>(stages: &mut S) -> Option<(S::Round, Underway<'a>)> {
    let round = stages.next()?;
    let first = stages.first(&round).await;
    Some((round, first))
}

enum Done {
    First(Result<()>),
    Second(Result<()>),
}

/// What is done first of those that are under way; none where nothing is.
async fn either<'a>(
    mut first: Option<&mut Underway<'a>>,
    mut second: Option<&mut Underway<'a>>,
) -> Option<Done> {
    std::future::poll_fn(|context| {
        if first.is_none() && second.is_none() {
            return Poll::Ready(None);
        }
        if let Some(second) = &mut second
            && let Poll::Ready(result) = second.as_mut().poll(context)
        {
            return Poll::Ready(Some(Done::Second(result)));
        }
        match &mut first {
            Some(first) => first.as_mut().poll(context).map(|result| Some(Done::First(result))),
            None => Poll::Pending,
        }
    })
    .await
}

/// Both results, when both are there.
pub async fn both<'a>(mut one: Underway<'a>, mut other: Underway<'a>) -> (Result<()>, Result<()>) {
    let (mut first, mut second) = (None, None);
    std::future::poll_fn(|context| {
        if first.is_none()
            && let Poll::Ready(result) = one.as_mut().poll(context)
        {
            first = Some(result);
        }
        if second.is_none()
            && let Poll::Ready(result) = other.as_mut().poll(context)
        {
            second = Some(result);
        }
        match first.is_some() && second.is_some() {
            true => Poll::Ready((first.take().unwrap_or(Ok(())), second.take().unwrap_or(Ok(())))),
            false => Poll::Pending,
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::task::{Context, Waker};

    use super::*;

    /// Writes down what happens: S and W begin the stages of a round, s and w end them.
    struct Recorder {
        rounds: usize,
        given: usize,
        events: Rc<RefCell<Vec<(char, usize)>>>,
        /// How often each stage is looked at before it is done.
        patience: (usize, usize),
    }

    impl Recorder {
        fn begin(&self, letters: (char, char), round: usize, patience: usize) -> Underway<'static> {
            let events = self.events.clone();
            events.borrow_mut().push((letters.0, round));
            let mut looks = 0;
            Box::pin(std::future::poll_fn(move |_| {
                looks += 1;
                if looks <= patience {
                    return Poll::Pending;
                }
                events.borrow_mut().push((letters.1, round));
                Poll::Ready(Ok(()))
            }))
        }
    }

    impl Stages<'static> for Recorder {
        type Round = usize;

        fn next(&mut self) -> Option<usize> {
            let round = self.given;
            self.given += 1;
            (round < self.rounds).then_some(round)
        }

        async fn first(&mut self, round: &usize) -> Underway<'static> {
            self.begin(('S', 's'), *round, self.patience.0)
        }

        async fn second(&mut self, round: &usize) -> Underway<'static> {
            self.begin(('W', 'w'), *round, self.patience.1)
        }

        fn note(&mut self, result: Result<()>) {
            assert!(result.is_ok());
        }
    }

    fn events(order: Order, rounds: usize, patience: (usize, usize)) -> Vec<(char, usize)> {
        let events = Rc::new(RefCell::new(Vec::new()));
        let mut recorder = Recorder { rounds, given: 0, events: events.clone(), patience };
        let mut future = Box::pin(run(order, &mut recorder));
        let mut context = Context::from_waker(Waker::noop());
        while future.as_mut().poll(&mut context).is_pending() {}
        drop(future);
        events.take()
    }

    fn check(order: Order, patience: (usize, usize), expected: &str) {
        let found: Vec<String> = events(order, 3, patience)
            .into_iter()
            .map(|(letter, round)| format!("{letter}{round}"))
            .collect();
        assert_eq!(found.join(" "), expected, "{order:?}");
    }

    #[test]
    fn orders() {
        check(Order::InTurn, (0, 0), "S0 s0 W0 w0 S1 s1 W1 w1 S2 s2 W2 w2");
        check(Order::FirstAhead, (0, 0), "S0 S1 s0 W0 w0 S2 s1 W1 w1 s2 W2 w2");
        check(Order::SecondBehind, (0, 0), "S0 s0 W0 S1 s1 w0 W1 S2 s2 w1 W2 w2");
        check(Order::Together, (0, 0), "S0 s0 W0 S1 s1 w0 W1 S2 s2 w1 W2 w2");
        // The shuffle is fast, or the file is.
        check(Order::DataFlow, (1, 4), "S0 s0 W0 S1 s1 W1 w0 S2 s2 W2 w1 w2");
        check(Order::DataFlow, (4, 1), "S0 s0 W0 S1 w0 s1 W1 S2 w1 s2 W2 w2");
    }

    #[test]
    fn no_half_of_the_buffer_is_used_again_before_its_round_is_over() {
        let orders = [
            Order::InTurn,
            Order::FirstAhead,
            Order::SecondBehind,
            Order::Together,
            Order::DataFlow,
        ];
        for order in orders {
            for patience in (0..5).flat_map(|first| (0..5).map(move |second| (first, second))) {
                for rounds in 0..6 {
                    let events = events(order, rounds, patience);
                    assert_eq!(events.len(), 4 * rounds);
                    let place = |letter, round| events.iter().position(|&e| e == (letter, round));
                    for round in 0..rounds {
                        let places = ['S', 's', 'W', 'w'].map(|letter| place(letter, round));
                        assert!(places.is_sorted() && places.iter().all(Option::is_some));
                        assert!(round < 2 || place('w', round - 2) < places[0], "{order:?}");
                    }
                }
            }
        }
    }
}
