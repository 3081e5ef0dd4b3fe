//! An open file: what all of its ranks agreed on, its view and its pointers.

#![forbid(unsafe_code)]

mod access;
mod aggregators;
mod amode;
mod atomicity;
mod background;
mod close;
mod collective;
mod convert;
mod info;
mod open;
mod pointers;
mod sieving;
mod size;
mod split;
mod tuning;
mod view;

use std::ffi::{CStr, c_int};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use parking_lot::{Mutex, RwLock};

use self::aggregators::Homes;
use self::amode::Amode;
use self::background::{Background, Means};
use self::sieving::WriteSieving;
use self::split::Split;
pub use self::split::SplitRoutine;
use self::view::FileView;
use crate::driver::detect::{self, Filesystem};
use crate::driver::doomed::Doomed;
use crate::driver::{self, Driver, Layout};
use crate::engine::individual::Plan;
use crate::engine::ranks::{Survey, agree};
use crate::engine::sieve::Gate;
use crate::error::{Class, Error, Result};
use crate::hint::Hints;
use crate::mpi::{Comm, Group, Info, Running, SharedWord};
use crate::report::Counters;
use crate::run::{Communicator, block_on};

/// An open file, on one of the ranks that opened it.
pub struct File {
    /// What rank 0 deletes when it closes the file, if that is wished.
    doomed: Mutex<Option<Doomed>>,
    /// For messages and for `get_info`, as the user gave it.
    name: String,
    amode: Amode,
    ranks: Communicator,
    filesystem: Filesystem,
    /// Where the ranks live, if the hints want to know.
    homes: Option<Homes>,
    /// Most threads that this rank may use.
    cores: usize,
    /// How the file lies on its servers, as all ranks see it.
    layout: Layout,
    /// Whether what one host has written is hidden from another until both synchronise.
    hidden: bool,
    /// `None` once the file is closed.
    driver: RwLock<Option<Arc<dyn Driver>>>,
    state: Mutex<State>,
    shared_pointer: Mutex<Option<SharedWord>>,
    atomic: AtomicBool,
    gate: Gate,
    /// Excludes threads of this process from each other in atomic mode.
    atomic_gate: Mutex<()>,
    split: Mutex<Option<Split>>,
    background: Arc<Background>,
    means: Means,
    counters: Counters,
    opened: Instant,
    /// The last to go: all of the above may have to ask MPI then.
    running: Running,
}

/// What `set_view`, `set_info` and `seek` change.
struct State {
    view: Arc<FileView>,
    /// The individual file pointer, in etypes.
    position: i64,
    hints: Hints,
    sieving: WriteSieving,
    /// How accesses are done; follows from all of the above.
    plan: Plan,
    /// What the last access of all ranks together was done with, and why.
    engine: String,
}

impl File {
    /// Deletes the file, if nobody in this process has it open.
    pub fn delete(path: &CStr, _info: Info) -> Result<()> {
        driver::open::delete(detect::split_name(path).1)
    }

    /// The library's own communicator of those that opened it.
    pub fn comm(&self) -> Comm {
        self.ranks.comm()
    }

    /// The group of the communicator it was opened with.
    pub fn group(&self) -> Result<Group> {
        self.ranks.comm().group()
    }

    /// The access mode it was opened with.
    pub fn amode(&self) -> c_int {
        self.amode.bits
    }

    /// Writes everything to the device and lets this rank see what others wrote. Collective.
    pub fn sync(&self) -> Result<()> {
        self.settle();
        self.see_each_other(Ok(()))
    }

    /// Sends what this rank's host has, and lets it see what the others sent. Collective.
    fn see_each_other<T>(&self, before: Result<T>) -> Result<T> {
        let synced = before.and_then(|before| {
            let driver = self.driver()?;
            if self.amode.write {
                driver.sync()?;
            }
            Ok((driver, before))
        });
        // Everybody has written before anybody looks again.
        let (driver, before) = self.agree(synced)?;
        self.agree(driver.refresh().map(|()| before))
    }

    /// The open file of the driver.
    fn driver(&self) -> Result<Arc<dyn Driver>> {
        let closed = || Error::new(Class::File, format!("{} is closed", self.name));
        self.driver.read().clone().ok_or_else(closed)
    }

    /// One verdict for all ranks; how every collective routine ends.
    fn agree<T>(&self, verdict: Result<T>) -> Result<T> {
        block_on(&self.ranks, agree(&self.ranks, verdict))
    }

    /// Checks that all ranks gave the same value, and agrees on errors. Collective.
    fn agree_on<T>(&self, what: &str, value: i64, verdict: Result<T>) -> Result<T> {
        let mut survey = Survey::new(&self.ranks);
        let given = survey.same(value);
        let (checked, answers) = block_on(&self.ranks, survey.hold(verdict))?;
        if answers.same(given) {
            return Ok(checked);
        }
        let text = format!("the ranks of {} give different {what}; here it is {value}", self.name);
        Err(Error::new(Class::NotSame, text))
    }

    /// Refuses what sequential access does not have.
    fn random_access(&self, what: &str) -> Result<()> {
        match self.amode.sequential {
            false => Ok(()),
            true => {
                let text = format!("{what} does not go with MPI_MODE_SEQUENTIAL");
                Err(Error::new(Class::UnsupportedOperation, text))
            }
        }
    }

    fn state_view(&self) -> Arc<FileView> {
        self.state.lock().view.clone()
    }
}
