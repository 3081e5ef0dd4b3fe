//! Whether writes to a file may be sieved.
//!
//! A sieving writer puts back bytes that it does not own. Nobody may change them meanwhile, so
//! every other writer must take a lock too. Through one opening that is agreed when the view is
//! set, or hints are. Other openings of the file are told by two bytes far behind any data, which are locked
//! and never written: each opening for writing holds a shared lock on one, each that sieves on
//! the other. Who opens looks whether somebody sieves, who wants to sieve looks whether somebody
//! has it open; each first leaves its own mark, so one of two always sees the other.
//!
//! By itself the library does so only where locks are the kernel's own. Elsewhere marks would cost
//! every opening a few requests to a server, and none are left: the user must ask for it by
//! `romio_ds_write=enable` and say that there is no other opening, by `MPI_MODE_UNIQUE_OPEN`.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::view::FileView;
use super::{File, State};
use crate::driver::{Driver, Layout, LockKind};
use crate::engine::individual::Plan;
use crate::engine::ranks::{Answers, Place, Ranks, Survey};
use crate::engine::sieve::Sieving;
use crate::error::{Class, Result};
use crate::hint::{Hints, Request, Toggle};
use crate::run::{Communicator, block_on};
use crate::view::layout::View;

/// The byte that everybody locks who has the file open for writing.
const OPENED: u64 = i64::MAX as u64 - 2;

/// The byte that everybody locks who sieves.
const SIEVED: u64 = i64::MAX as u64 - 1;

/// Windows larger than this leave the cache and gain nothing.
const LARGEST_WINDOW: u64 = 512 << 10;

/// The questions about sieving in a survey.
pub(super) struct Vote {
    wanted: Place,
    /// If the views together leave no holes.
    wanted_together: Place,
    together: Together,
    unreadable: Place,
    /// Some rank's program has locked some of the file itself.
    locked: Place,
    remote: Place,
    /// Rank 0's hints hold for all.
    forced: Place,
}

/// The questions whether all views together leave no holes: their pieces come in turn, or each has a
/// part of the same array.
struct Together {
    /// How many views like the one with most holes it takes to fill them.
    copies: Place,
    /// The largest and the smallest first byte, and the smallest distance of pieces; the smallest as
    /// largest of negative numbers.
    first: [Place; 2],
    stride: Place,
    /// Where a view begins and how large the array is.
    array: Place,
}

impl Together {
    fn ask(survey: &mut Survey<'_, Communicator>, view: Option<&View>) -> Together {
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let first = view.map_or(0, |view| {
            number(view.displacement.saturating_add_signed(view.filetype.span().0))
        });
        let stride = view.map_or(0, |view| number(view.granularity().1));
        Together {
            copies: survey.most(view.map_or(0, copies_to_fill)),
            first: [survey.most(first), survey.most(-first)],
            stride: survey.most(-stride),
            array: survey.same(view.map_or(0, array_of)),
        }
    }

    fn holds(&self, answers: &Answers, ranks: usize) -> bool {
        let spread = answers.most(self.first[0]).saturating_add(answers.most(self.first[1]));
        // With the same first byte they may well be the same views.
        let in_turn = spread < -answers.most(self.stride);
        answers.most(self.copies) <= ranks as i64
            && spread > 0
            && (in_turn || answers.same(self.array))
    }
}

/// A number for the bytes that a view's filetype spreads over.
fn array_of(view: &View) -> i64 {
    view.filetype.extent() ^ view.displacement.rotate_left(32) as i64
}

/// What was agreed about sieving writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteSieving {
    /// This opening sieves.
    active: bool,
    /// The views of its ranks together leave no holes.
    together: bool,
    /// Whether another opening did when this one left its mark; nobody tells when it no longer does.
    others: Others,
    why_not: Option<&'static str>,
}

impl WriteSieving {
    /// Why sieving was asked for and is not done.
    pub(super) fn why_not(&self) -> Option<&'static str> {
        self.why_not
    }

    /// Of a file that was just opened.
    pub(super) fn beside(others: Others) -> WriteSieving {
        WriteSieving { others, ..WriteSieving::default() }
    }

    /// Somebody sieves: take a lock beside every write.
    fn locked_writes(&self) -> bool {
        self.active || self.others == Others::Sieve
    }
}

/// What other openings do, as far as one can see that leaves its mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Others {
    /// None sieves, and none will without seeing the mark.
    #[default]
    Careful,
    /// None sieves, because a program has locked all of the file. That also keeps out the mark, so
    /// it must be left before the first write that finds the lock gone.
    Locked,
    /// Some sieve, or may begin to without seeing this one.
    Sieve,
}

impl Others {
    /// The number that ranks exchange: the greatest is the safe choice for all.
    pub(super) fn code(self) -> i64 {
        self as i64
    }

    pub(super) fn from_code(code: i64) -> Others {
        let all = [Others::Careful, Others::Locked];
        all.into_iter().find(|others| others.code() == code).unwrap_or(Others::Sieve)
    }
}

/// Leaves the mark of an opening for writing, and tells what others do. One rank does. Where there
/// are no locks nobody sieves; where they fail a sieving opening would not be seen.
pub(super) fn mark_opened(driver: &dyn Driver) -> Result<Others> {
    // Only readers may share a lock. Who leaves no mark is not seen by those that sieve later, and
    // behaves as if somebody did already.
    let seen = driver.readable();
    let marked = match seen {
        true => soon(driver, OPENED, LockKind::Shared),
        false => Ok(false),
    };
    match marked.and_then(|marked| Ok((marked, sieves(driver)?))) {
        Ok((true, false)) => Ok(Others::Careful),
        Ok((false, false)) if seen => Ok(Others::Locked),
        Ok(_) => Ok(Others::Sieve),
        Err(error) if error.class == Class::UnsupportedOperation => Ok(Others::Careful),
        Err(error) => Err(error),
    }
}

/// As `mark_opened`, for an opening that found all of the file locked. Each rank does so for
/// itself. The lock is kept from us by somebody else's on all of the file, as before, or for a
/// moment by who wants to sieve: but that one has its own mark already, which is shared.
fn mark_late(driver: &dyn Driver) -> Result<Others> {
    if !driver.readable() {
        return Ok(Others::Sieve);
    }
    for _ in 0..LOOKS {
        if driver.try_lock(OPENED, 1, LockKind::Shared)? {
            return Ok(if sieves(driver)? { Others::Sieve } else { Others::Careful });
        }
        if !driver.try_lock(SIEVED, 1, LockKind::Shared)? {
            return Ok(Others::Locked);
        }
        driver.unlock(SIEVED, 1);
        thread::sleep(PAUSE);
    }
    Ok(Others::Sieve)
}

/// Whether somebody has left the mark of who sieves. That is a shared lock; what keeps out readers
/// too is the program's own lock on all of the file, maybe this process's.
fn sieves(driver: &dyn Driver) -> Result<bool> {
    for attempt in 0..ATTEMPTS {
        let mut alone = driver.try_lock(SIEVED, 1, LockKind::Exclusive)?;
        if !alone && !driver.readable() {
            return Ok(true);
        }
        if alone || driver.try_lock(SIEVED, 1, LockKind::Shared)? {
            // Others may only have looked, as this one does.
            alone = alone || driver.try_lock(SIEVED, 1, LockKind::Exclusive)?;
            driver.unlock(SIEVED, 1);
            if alone || attempt >= LOOKS {
                return Ok(!alone);
            }
        }
        thread::sleep(PAUSE);
    }
    Ok(false)
}

/// Locks a byte that openings of this library lock exclusively only for a moment; `false` where
/// somebody else keeps it.
fn soon(driver: &dyn Driver, byte: u64, kind: LockKind) -> Result<bool> {
    for _ in 0..ATTEMPTS {
        if driver.try_lock(byte, 1, kind)? {
            return Ok(true);
        }
        thread::sleep(PAUSE);
    }
    Ok(false)
}

/// Who still has it after so many looks has not come to look.
const LOOKS: u32 = 3;

/// Half a second in all.
const ATTEMPTS: u32 = 250;
const PAUSE: Duration = Duration::from_millis(2);

impl File {
    /// Asks whether a rank gains by sieving writes through its view, and whether any cannot.
    pub(super) fn ask_about_sieving(
        &self,
        survey: &mut Survey<'_, Communicator>,
        view: Option<&FileView>,
        said: &Request,
    ) -> Vote {
        let mut hints = self.state.lock().hints.clone();
        hints.update(said);
        let driver = self.driver().ok();
        let gains = |driver: &Arc<dyn Driver>, view: &View, together: bool| {
            let holes = view.filetype.size() > 0 && view.filetype.contiguous_at().is_none();
            self.amode.write && holes && write_stride(driver.layout(), view, &hints, together) > 0
        };
        let pair = driver.as_ref().zip(view);
        let wanted = |together: bool| {
            pair.is_some_and(|(driver, view)| gains(driver, &view.layout, together))
        };
        let forced = self.ranks.rank() == 0 && hints.romio_ds_write == Toggle::Enable;
        let readable = driver.as_ref().is_some_and(|driver| driver.readable());
        // Such a lock may be kept for as long as the program likes, and nobody has to wait for it
        // who only writes his own bytes. Where it costs a message it is asked for only if needed.
        let local = self.filesystem.is_local();
        let may = self.amode.write
            && match hints.romio_ds_write {
                Toggle::Disable => false,
                Toggle::Automatic => local,
                Toggle::Enable => local || self.amode.unique_open,
            };
        let locked = may && driver.as_ref().is_some_and(|driver| driver.is_locked_by_program());
        Vote {
            wanted: survey.most(i64::from(wanted(false))),
            wanted_together: survey.most(i64::from(wanted(true))),
            together: Together::ask(survey, view.map(|view| &view.layout)),
            unreadable: survey.most(i64::from(!readable)),
            locked: survey.most(i64::from(locked)),
            remote: survey.most(i64::from(!local)),
            forced: survey.most(i64::from(forced)),
        }
    }

    /// Whether writes through that view are sieved: if any rank gains by it, and it is safe.
    /// Collective if any rank does.
    pub(super) fn agree_on_sieving(&self, vote: Vote, answers: &Answers) -> Result<WriteSieving> {
        let before = self.state.lock().sieving;
        let together = vote.together.holds(answers, self.ranks.size());
        let wanted = answers.most(match together {
            true => vote.wanted_together,
            false => vote.wanted,
        }) != 0;
        let forced = answers.most(vote.forced) != 0;
        let remote = answers.most(vote.remote) != 0;
        let readable = answers.most(vote.unreadable) == 0;
        let locked = answers.most(vote.locked) != 0;
        let alone = self.amode.unique_open;
        let mut active = wanted && readable && !locked && (!remote || forced && alone);
        // Where locks do not reach from rank to rank the other ranks of this opening write too.
        active = active && (!remote || self.locks_work().is_ok());
        if active {
            let marked = self.ranks.rank() == 0
                && self.driver().is_ok_and(|driver| become_sieving(&*driver, alone));
            active = block_on(&self.ranks, self.ranks.max(Box::new([i64::from(marked)])))?[0] != 0;
        }
        if before.active && !active && self.ranks.rank() == 0 {
            self.driver()?.unlock(SIEVED, 1);
        }
        let why_not = (forced && wanted && !active).then_some(match () {
            () if !readable => "the file cannot be read back through this opening",
            () if locked => "the program itself has locked some of the file",
            () if remote && !alone => {
                "here other openings are not seen, unless the access mode has MPI_MODE_UNIQUE_OPEN"
            }
            () => "another opening writes the file, or it cannot be locked",
        });
        let others = match before.others {
            // Rank 0 has left the mark now, and looked.
            Others::Locked if active => Others::Careful,
            others => others,
        };
        Ok(WriteSieving { active, together, others, why_not })
    }

    /// As `agree_on_sieving`, after a vote in which some ranks counted on hints that turned out not to
    /// hold. Collective.
    pub(super) fn agree_once_more(&self, view: &FileView) -> Result<WriteSieving> {
        let mut survey = Survey::new(&self.ranks);
        let vote = self.ask_about_sieving(&mut survey, Some(view), &Request::of_info(&[]));
        let (_, answers) = block_on(&self.ranks, survey.hold(Ok(())))?;
        self.agree_on_sieving(vote, &answers)
    }

    /// Leaves the mark of this opening before a write, if that could not be done yet.
    pub(super) fn mark_before_writing(&self, driver: &dyn Driver, state: &mut State) -> Result<()> {
        if state.sieving.others == Others::Locked {
            state.sieving.others = mark_late(driver)?;
            self.make_plan(state);
        }
        Ok(())
    }

    /// Decides anew how accesses are done, after the view or the hints have changed.
    pub(super) fn make_plan(&self, state: &mut State) {
        let driver = self.driver.read();
        let layout = driver.as_ref().map(|driver| driver.layout()).unwrap_or_default();
        let locks_transfers = driver.as_ref().is_some_and(|driver| driver.locks_transfers());
        let hints = &state.hints;
        let read = match hints.romio_ds_read {
            Toggle::Enable => u64::MAX,
            Toggle::Disable => 0,
            Toggle::Automatic => layout.sieve.read,
        };
        let write = match state.sieving.active {
            true => write_stride(layout, &state.view.layout, hints, state.sieving.together),
            false => 0,
        };
        state.plan = Plan {
            threads: self.threads(state),
            concurrent_writes: layout.concurrent_writes,
            read: Sieving { stride: read, buffer_size: window(hints.ind_rd_buffer_size) },
            write: Sieving { stride: write, buffer_size: window(hints.ind_wr_buffer_size) },
            locked_writes: state.sieving.locked_writes() || locks_transfers,
            locked_reads: locks_transfers,
        };
    }
}

/// How many ranks with such a view it takes to leave no holes.
fn copies_to_fill(view: &View) -> i64 {
    let (size, extent) = (view.filetype.size(), view.filetype.extent().unsigned_abs());
    if size == 0 { i64::MAX } else { i64::try_from(extent.div_ceil(size)).unwrap_or(i64::MAX) }
}

/// Distance up to which writes through `view` are better sieved, alone or `together` with views
/// that fill its holes; 0 if they are not.
fn write_stride(layout: Layout, view: &View, hints: &Hints, together: bool) -> u64 {
    let stride = match hints.romio_ds_write {
        Toggle::Enable => u64::MAX,
        Toggle::Disable => 0,
        Toggle::Automatic if together => layout.sieve.shared_write,
        Toggle::Automatic => layout.sieve.write,
    };
    let sieving = Sieving { stride, buffer_size: 0 };
    if sieving.pays(view) { stride } else { 0 }
}

fn window(hint: u64) -> usize {
    hint.clamp(1, LARGEST_WINDOW) as usize
}

/// Leaves the mark of a sieving opening, unless another opening has the file for writing. Where
/// the user has promised that no other writes it, the mark still tells those that come later.
fn become_sieving(driver: &dyn Driver, promised: bool) -> bool {
    if !soon(driver, SIEVED, LockKind::Shared).unwrap_or(false) {
        return false; // windows could not be locked either
    }
    let alone = driver.try_lock(OPENED, 1, LockKind::Exclusive).unwrap_or(false);
    let marked = soon(driver, OPENED, LockKind::Shared).unwrap_or(false);
    if !marked {
        driver.unlock(OPENED, 1); // still exclusive, it would keep everybody from opening the file
    }
    let sieves = alone && marked || promised;
    if !sieves {
        driver.unlock(SIEVED, 1);
    }
    sieves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::SieveStrides;
    use crate::view::typemap::Typemap;

    /// A page of every `step`.
    fn pages(step: u64) -> View {
        let filetype = Arc::new(Typemap::bytes(4096).resized(0, 4096 * step as i64));
        View { filetype, ..View::of_bytes() }
    }

    #[test]
    fn on_a_disk_rows_are_sieved_where_others_fill_the_holes() {
        for (step, sieve, together, expected) in [
            (2, SieveStrides::DISK, true, 16384),
            (4, SieveStrides::DISK, true, 16384),
            (5, SieveStrides::DISK, true, 0),
            (2, SieveStrides::DISK, false, 0),
            (2, SieveStrides::LOCAL, true, 0),
            (8, SieveStrides::REMOTE, false, 32768),
        ] {
            let hints = Hints::from_request(&Request::of_info(&[]));
            let layout = Layout { sieve, ..Layout::default() };
            let stride = write_stride(layout, &pages(step), &hints, together);
            assert_eq!(stride, expected, "{step} {sieve:?} {together}");
        }
    }

    #[test]
    fn views_are_filled_by_as_many_as_have_a_part_of_them() {
        assert_eq!(copies_to_fill(&View::of_bytes()), 1);
        assert_eq!(copies_to_fill(&pages(4)), 4);
        let nothing = Arc::new(Typemap::bytes(0));
        assert_eq!(copies_to_fill(&View { filetype: nothing, ..View::of_bytes() }), i64::MAX);
    }
}
