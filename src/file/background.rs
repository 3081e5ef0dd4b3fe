//! Accesses that go on after the call that started them.
//!
//! The call checks the arguments, moves the file pointer and finds everything that has to be asked
//! of MPI. What is left makes no MPI call, so a thread of the library can do it at every thread
//! level: an access of this rank alone at any time, and those of all ranks one after the other,
//! where the ranks need nothing but memory that they share. Where they need messages too, they come
//! together in the background only if every thread may call MPI; else each rank goes for itself,
//! as it does where a rank got no thread for this when the file was opened.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Once};
use std::time::Instant;

use parking_lot::Mutex;

use super::File;
use super::access::Ready;
use crate::engine::ranks::{Answers, Place, Ranks, Survey};
use crate::error::{Class, Error, Result};
use crate::mpi::{self, Comm, Exchange, Request, ThreadLevel};
use crate::operation::{Coordination, Direction, Operation};
use crate::run::{Communicator, Lane, Reserved, Tally, WORKERS, without_mpi};

/// What goes on in the background of one file.
#[derive(Default)]
pub(super) struct Background {
    alone: Tally,
    together: Tally,
    /// One more reference for each exchange about arguments that is not over.
    asking: Arc<()>,
    /// Accesses of all ranks, in the order in which they were started.
    lane: Arc<Lane>,
}

/// What the ranks have for work in the background, as all of them know since the file was opened:
/// if one went another way than the others, they would wait for it in vain.
pub(super) struct Means {
    /// What accesses of all ranks are done by; every rank has one or none has.
    thread: Option<Reserved>,
    /// Whether requests can be completed later.
    promises: bool,
    /// Whether every thread of every rank may call MPI.
    all_multiple: bool,
    /// Whether on no rank every thread may.
    none_multiple: bool,
}

/// What a rank has, before it knows of the others.
pub(super) struct MeansVote {
    thread: Option<Reserved>,
    no_thread: Place,
    no_promises: Place,
    not_multiple: Place,
    multiple: Place,
}

impl MeansVote {
    /// Asks all ranks.
    pub(super) fn ask(survey: &mut Survey<'_, Communicator>, ranks: usize) -> MeansVote {
        // A rank by itself waits for nobody, so it needs no thread that is sure to be there.
        let thread = if ranks > 1 { WORKERS.reserve() } else { None };
        let multiple = mpi::thread_level().is_ok_and(|level| level == ThreadLevel::Multiple);
        MeansVote {
            no_thread: survey.most(i64::from(thread.is_none())),
            no_promises: survey.most(i64::from(!mpi::can_promise())),
            not_multiple: survey.most(i64::from(!multiple)),
            multiple: survey.most(i64::from(multiple)),
            thread,
        }
    }

    /// What holds for all.
    pub(super) fn count(self, answers: &Answers) -> Means {
        let nobody = |place| answers.most(place) == 0;
        Means {
            thread: self.thread.filter(|_| nobody(self.no_thread)),
            promises: nobody(self.no_promises),
            all_multiple: nobody(self.not_multiple),
            none_multiple: nobody(self.multiple),
        }
    }
}

/// Everything that goes on in this process.
static EVERYTHING: Tally = Tally::new();

/// Whether the program is about to end MPI: nothing goes on after that.
static ENDING: AtomicBool = AtomicBool::new(false);

/// What became of an access that somebody will ask for.
pub(super) type Outcome = Arc<Mutex<Option<Result<u64>>>>;

impl File {
    /// Starts a nonblocking access.
    ///
    /// A rank with wrong arguments is told at once; if the access is collective, the others are told
    /// of it by their requests where they meet or where no request is completed by a worker.
    pub fn start(
        self: &Arc<File>,
        routine: &'static str,
        operation: &Operation,
    ) -> Result<Request> {
        if !self.goes_on() || !self.means.promises {
            return mpi::completed_request(self.access(operation)?);
        }
        let started = Instant::now();
        let direction = operation.direction;
        let prepared = self.prepare(operation);
        let together = operation.coordination == Coordination::Collective && self.meets_aside();
        let promised = prepared.and_then(|ready| Ok((ready, mpi::promised_request()?)));
        let asks = operation.coordination == Coordination::Collective && self.means.none_multiple;
        let asked = (asks && !together).then(|| self.ask(promised.as_ref().err())).transpose();
        let (ready, (request, promise)) = match promised {
            Ok(promised) => promised,
            Err(error) if together => {
                let told = Error::new(error.class, error.text());
                self.go_together(direction, Err(told), started, |_| {});
                return Err(error);
            }
            Err(error) => {
                asked?.map_or(Ok(()), mpi::see_through)?;
                return Err(error);
            }
        };
        let asked = asked.map(|exchange| exchange.map(|exchange| promise.after(exchange)));
        // Whoever hears of an error in a completion call wants to know what failed.
        let keep = move |moved: Result<u64>| {
            promise.keep(moved.map_err(|error| error.within(routine)));
        };
        if let Err(error) = asked {
            keep(Err(error));
            return Ok(request);
        }
        match together {
            true => self.go_together(direction, Ok(ready), started, keep),
            false => self.go_alone(ready, started, keep),
        }
        Ok(request)
    }

    /// Begins to ask all ranks whether the arguments of one are wrong, where they cannot meet in
    /// the background: this needs nobody to come by, only an MPI that sees to its messages.
    /// Collective.
    fn ask(&self, error: Option<&Error>) -> Result<Exchange> {
        let (rank, size) = (self.ranks.rank(), self.ranks.size());
        let told = |error: &Error| ((size - rank) as i64) << 8 | i64::from(error.class.code());
        let values = Box::new([error.map_or(0, told)]);
        let (asking, name) = (self.background.asking.clone(), self.name.clone());
        let judge = Box::new(move |values: &[i64]| {
            drop(asking);
            match values[0] {
                0 => Ok(()),
                told => {
                    let text = format!("rank {} cannot access {name}", size - (told >> 8) as usize);
                    Err(Error::new(Class::from_code(told as u8), text))
                }
            }
        });
        Ok(Exchange { values: self.ranks.comm().start_allreduce_max(values)?, judge })
    }

    /// Moves the bytes of this rank in the background.
    fn go_alone(
        self: &Arc<File>,
        ready: Ready,
        started: Instant,
        then: impl FnOnce(Result<u64>) + Send + 'static,
    ) {
        let (file, background) = (self.clone(), self.background.clone());
        background.alone.add();
        one_more();
        let job = move || {
            let moved = without_mpi(|| file.move_bytes(&ready));
            let moved = moved.inspect(|&size| {
                file.counters.moved(ready.checked.direction, size, started);
            });
            drop((ready, file)); // before anybody may close it
            then(moved);
            background.alone.done();
            EVERYTHING.done();
        };
        WORKERS.alone(self.cores, Box::new(job));
    }

    /// Moves the bytes of all ranks in the background, after what they started before. Collective,
    /// also for one that cannot start.
    pub(super) fn go_together(
        self: &Arc<File>,
        direction: Direction,
        ready: Result<Ready>,
        started: Instant,
        then: impl FnOnce(Result<u64>) + Send + 'static,
    ) {
        let (file, background) = (self.clone(), self.background.clone());
        background.together.add();
        one_more();
        let lane = background.lane.clone();
        let job = Box::new(move || {
            let work = || file.verdict_on(file.finish(direction, ready, true, started));
            let moved = match file.means.all_multiple {
                true => work(),
                false => without_mpi(work),
            };
            drop(file);
            then(moved);
            background.together.done();
            EVERYTHING.done();
        });
        lane.push(job, |work| match self.means.thread {
            Some(_) => WORKERS.together(work),
            None => WORKERS.alone(self.cores, work),
        });
    }

    /// Whether accesses go on in the background at all. The same on all ranks.
    pub(super) fn goes_on(&self) -> bool {
        let state = self.state.lock();
        // Conversions ask MPI about datatypes, and may be the program's own.
        let wanted = state.hints.progress && state.view.representation.is_native();
        wanted && !ENDING.load(SeqCst)
    }

    /// Whether requests can be completed after the call that makes them. The same on all ranks.
    pub(super) fn can_promise(&self) -> bool {
        self.means.promises
    }

    /// Whether all ranks can access the file together in the background. The same on all ranks.
    pub(super) fn meets_aside(&self) -> bool {
        if self.ranks.size() == 1 {
            return true;
        }
        if self.means.thread.is_none() {
            return false;
        }
        if self.means.all_multiple {
            return true;
        }
        let state = self.state.lock();
        self.are_one_group(&state.hints) || self.ranks.share_memory() && state.hints.layers == "0"
    }

    /// Waits until all that was started together is done: the ranks meet at one thing at a time.
    pub(super) fn settle_together(&self) {
        self.background.together.wait(|| self.ranks.comm().progress());
    }

    /// Waits until everything that was started on this file is done.
    pub(super) fn settle(&self) {
        self.settle_together();
        self.background.alone.wait(|| self.ranks.comm().progress());
        mpi::complete_kept();
        // All ranks are here, so all have been asked.
        while Arc::strong_count(&self.background.asking) > 1 {
            if mpi::complete_kept() == 0 {
                self.ranks.comm().progress();
                std::thread::yield_now();
            }
        }
        mpi::rest();
    }
}

/// Counts what goes on. Nothing is lost that the program has started and forgotten when it ends MPI.
fn one_more() {
    static REGISTERED: Once = Once::new();
    EVERYTHING.add();
    if REGISTERED.is_completed() || !mpi::has_world() {
        return;
    }
    REGISTERED.call_once(|| {
        let waits = mpi::on_finalize(|| {
            ENDING.store(true, SeqCst);
            let look = || {
                mpi::complete_kept();
                if let Ok(comm) = Comm::self_() {
                    comm.progress(); // there is one: this runs when it is about to go
                }
            };
            EVERYTHING.wait(look);
            // The ranks that have still to be heard end MPI too.
            while mpi::is_keeping() {
                look();
                std::thread::yield_now();
            }
        });
        // An MPI without attributes; closing a file waits all the same.
        let _ = waits;
    });
}
