//! What callers tell a driver beforehand, and what a file system makes of it.
//!
//! Advice never fails: a file system that does not want it is accessed as if nothing had been
//! said, and the report tells how often that was.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use super::direct::Bypass;

/// What will be done with bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Intent {
    Read,
    Write,
}

/// Which bytes a caller speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// All that this rank will access in a collective call.
    Domain,
    /// One window of a collective call, just before it is accessed.
    Window,
    /// The pieces of the next cycle of an individual access, and for reads some that follow.
    Elements,
    /// The pieces of a view that was just set.
    View,
}

/// How a file is to be created and prepared; comes from the hints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Bytes on one server before the next, for a new file.
    pub stripe_size: Option<u64>,
    /// Servers for a new file; -1 is all.
    pub stripe_count: Option<i64>,
    /// The first of them.
    pub first_server: Option<u64>,
    /// Servers for a new file where nobody says anything; 0 leaves it to the file system.
    pub fitting_count: u64,
    /// This is the rank that creates the file and comes before all others.
    pub first: bool,
    /// Locks that are asked for before they are needed.
    pub lock_ahead: LockAhead,
    /// What GPFS is asked for.
    pub blocks: BlockTuning,
    /// Reads of scattered pieces are told beforehand.
    pub prefetch: Option<bool>,
    /// What goes past the page cache.
    pub bypass: Bypass,
}

/// Locks that are asked for before they are needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockAhead {
    /// For collective writes.
    pub collective: Option<CollectiveScheme>,
    /// For collective reads too.
    pub reads: bool,
    /// For accesses of single ranks.
    pub individual: Option<IndividualScheme>,
    /// Whether requests wait for their locks; none where it is left to the library.
    pub asynchronous: Option<bool>,
    /// Most requests for one domain or view.
    pub most: usize,
}

/// What an aggregator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveScheme {
    /// Its whole domain at once.
    Global,
    /// Each stripe of its domain.
    Stripe,
    /// Each window just before it is accessed.
    Cycle,
}

/// What a rank on its own asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndividualScheme {
    /// Each element of an io_array.
    Element,
    /// Each element of the view, when it is set.
    View,
}

/// What GPFS is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTuning {
    /// Domains are declared before they are accessed and freed afterwards.
    pub declare: bool,
    /// What this node has cached is forgotten at open.
    pub clear_cache: bool,
    /// Small writes of several nodes share blocks.
    pub fine_grain_writes: bool,
    /// Certain nodes access the file for all others.
    pub shipping: Option<Shipping>,
}

/// Nodes that access blocks for all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shipping {
    /// Their numbers; none leaves it to the file system.
    pub agents: Vec<i32>,
    /// Bytes that one of them is given in turn; 0 is one block.
    pub partition_size: u64,
}

/// How often advice was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advised {
    /// Ranges told to the file system.
    pub told: u64,
    /// Of these, refused.
    pub refused: u64,
}

/// What a file system makes of advice.
pub(super) trait Advisor: Send + Sync {
    /// Whether it wants to hear of it at all; the answer may become no while the file is open.
    fn listens(&self, ahead: Ahead, intent: Intent) -> bool;

    fn will_access(&self, file: BorrowedFd, ahead: Ahead, intent: Intent, ranges: &[Range<u64>]);

    fn has_accessed(&self, _: BorrowedFd, _: Ahead, _: Intent, _: &[Range<u64>]) {}

    /// Whether several ranks may write to one server without disturbing each other.
    fn shares_servers(&self) -> bool {
        false
    }

    /// Whether this opening can start what only all openings of a file can start together.
    fn can_start_together(&self) -> bool {
        false
    }

    /// Some opening cannot, so none does.
    fn stay_apart(&self) {}

    /// Starts what only all openings of a file can start together; `None` where that is nothing.
    fn start_together(&self, _file: BorrowedFd, _openings: usize) -> Option<std::io::Result<()>> {
        None
    }

    fn stop_together(&self, _file: BorrowedFd) -> std::io::Result<()> {
        Ok(())
    }

    /// Whether what is written is on its way until it is sent for.
    fn defers_writes(&self) -> bool {
        false
    }

    /// Why something that was asked for is not done.
    fn reason(&self) -> Option<String> {
        None
    }

    fn advised(&self) -> Advised;
}
