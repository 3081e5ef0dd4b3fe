//! What a file system is asked for when a file is opened.

use super::amode::Amode;
use crate::driver::advice::{
    BlockTuning, CollectiveScheme, IndividualScheme, LockAhead, Shipping, Tuning,
};
use crate::driver::direct::Bypass;
use crate::driver::{Driver, Layout};
use crate::engine::ranks::{Answers, Place, Ranks, Survey};
use crate::error::Result;
use crate::hint::{Hints, Toggle};
use crate::run::{Communicator, block_on};

/// More servers than this for each node gain little: a node writes to so many at a time.
const SERVERS_PER_NODE: u64 = 4;

/// Most servers that a file gets without being asked for.
const MOST_FITTING: u64 = 64;

/// Attempts to start what a signal to any rank ends for all.
const ATTEMPTS: usize = 3;

/// Whether the ranks see the same layout. They divide the file along it, each for itself, so that
/// a rank with another one would wait for others in vain.
pub(super) struct LayoutVote {
    own: Layout,
    stripe_size: Place,
    stripe_count: Place,
    alignment: Place,
    unshared: Place,
}

impl LayoutVote {
    /// Asks.
    pub(super) fn ask(survey: &mut Survey<'_, Communicator>, own: Layout) -> LayoutVote {
        LayoutVote {
            own,
            stripe_size: survey.same(own.stripe_size as i64),
            stripe_count: survey.same(own.stripe_count as i64),
            alignment: survey.same(own.alignment as i64),
            unshared: survey.most(i64::from(!own.shared_servers)),
        }
    }

    /// What holds for all from now on, whatever a rank's driver finds out later.
    pub(super) fn count(self, answers: &Answers) -> Layout {
        let same = answers.same(self.stripe_size)
            && answers.same(self.stripe_count)
            && answers.same(self.alignment);
        let shared_servers = answers.most(self.unshared) == 0;
        match same {
            true => Layout { shared_servers, ..self.own },
            false => Layout::default(),
        }
    }
}

/// What the hints mean for a driver.
pub(super) fn tuning(hints: &Hints, amode: Amode, ranks: &Communicator) -> Tuning {
    let (size, nodes) = (ranks.size() as u64, ranks.nodes().node_count as u64);
    let fitting = (SERVERS_PER_NODE * nodes).min(size).min(MOST_FITTING);
    Tuning {
        stripe_size: hints.striping_unit,
        stripe_count: hints.striping_factor,
        first_server: hints.start_iodevice,
        fitting_count: if hints.fitting_stripes && size > 1 { fitting } else { 0 },
        first: ranks.rank() == 0,
        lock_ahead: lock_ahead(hints, nodes > 1 && amode.write),
        blocks: BlockTuning {
            declare: hints.declare_ranges,
            clear_cache: hints.clear_cache,
            fine_grain_writes: hints.fine_grain_writes,
            shipping: hints.data_shipping.then(|| Shipping {
                agents: hints.data_shipping_agents.clone(),
                partition_size: hints.data_shipping_partition,
            }),
        },
        prefetch: match hints.prefetch {
            Toggle::Enable => Some(true),
            Toggle::Disable => Some(false),
            Toggle::Automatic => None,
        },
        bypass: Bypass {
            reads: hints.direct_read || hints.direct_io,
            writes: hints.direct_write || hints.direct_io,
        },
    }
}

/// Locks belong to nodes: ranks of one do not disturb each other, and large locks serve them best.
fn lock_ahead(hints: &Hints, several_write: bool) -> LockAhead {
    let collective = match hints.lock_ahead.as_str() {
        "global" => Some(CollectiveScheme::Global),
        "stripe" => Some(CollectiveScheme::Stripe),
        "cycle" => Some(CollectiveScheme::Cycle),
        "automatic" if several_write => Some(CollectiveScheme::Global),
        _ => None,
    };
    let individual = match hints.lock_ahead_individual.as_str() {
        "element" => Some(IndividualScheme::Element),
        "view" => Some(IndividualScheme::View),
        // Locks are not made larger then, so that each access would ask for its own.
        "automatic" if collective.is_some() => Some(IndividualScheme::Element),
        _ => None,
    };
    LockAhead {
        collective,
        reads: hints.lock_ahead_reads,
        individual,
        asynchronous: match hints.lock_ahead_requests.as_str() {
            "synchronous" => Some(false),
            "asynchronous" => Some(true),
            _ => None,
        },
        most: hints.lock_ahead_most.min(1023) as usize,
    }
}

/// Starts what only all ranks can start together. It is refused for all alike, and then the file
/// is accessed without it. Collective if the hints want it.
pub(super) fn start_together(
    ranks: &Communicator,
    driver: &dyn Driver,
    hints: &Hints,
) -> Result<()> {
    if !hints.data_shipping {
        return Ok(());
    }
    // Who starts waits there for all others, where no signal reaches it.
    let unable = i64::from(!driver.can_start_together());
    if block_on(ranks, ranks.max(Box::new([unable])))?[0] != 0 {
        driver.stay_apart();
        return Ok(());
    }
    for _ in 0..ATTEMPTS {
        let interrupted = match driver.start_together(ranks.size()) {
            Some(Err(cause)) => cause.kind() == std::io::ErrorKind::Interrupted,
            _ => false,
        };
        // All try again or none does: they wait for each other.
        let again = block_on(ranks, ranks.max(Box::new([i64::from(!interrupted)])))?[0] == 0;
        if !again {
            break;
        }
    }
    Ok(())
}
