//! Individual and shared file pointers. They count etypes of the view.

use std::ffi::c_int;

use super::File;
use super::view::FileView;
use crate::engine::ranks::{Ranks, share};
use crate::error::{Class, Error, Result};
use crate::mpi;
use crate::run::block_on;

/// What an offset is added to.
enum Whence {
    Start,
    Current,
    End,
}

impl Whence {
    fn new(code: c_int) -> Result<Whence> {
        let constants = mpi::library()?.constants();
        match code {
            code if code == constants.seek_set => Ok(Whence::Start),
            code if code == constants.seek_cur => Ok(Whence::Current),
            code if code == constants.seek_end => Ok(Whence::End),
            _ => Err(Error::new(Class::Arg, format!("{code} is no way to seek"))),
        }
    }
}

impl File {
    /// Moves the individual file pointer.
    pub fn seek(&self, offset: i64, whence: c_int) -> Result<()> {
        self.random_access("seeking")?;
        let whence = Whence::new(whence)?;
        let end = match whence {
            Whence::End => self.end_of_file(&self.state_view())?,
            _ => 0,
        };
        let mut state = self.state.lock();
        let from = match whence {
            Whence::Start => 0,
            Whence::Current => state.position,
            Whence::End => end,
        };
        state.position = target(from, offset)?;
        Ok(())
    }

    /// Moves the shared file pointer. Collective.
    pub fn seek_shared(&self, offset: i64, whence: c_int) -> Result<()> {
        self.settle_together();
        let checked = self.random_access("seeking").and_then(|()| Whence::new(whence).map(drop));
        let whence_and_offset = offset.wrapping_mul(31).wrapping_add(i64::from(whence));
        self.agree_on("places to seek to", whence_and_offset, checked)?;
        // All ranks have come, so nobody is on the way to an access that counts before this.
        let moved = match self.ranks.rank() {
            0 => self.shared_target(offset, whence).and_then(|place| self.store_shared(place)),
            _ => Ok(()),
        };
        self.agree(moved)
    }

    fn shared_target(&self, offset: i64, whence: c_int) -> Result<i64> {
        let from = match Whence::new(whence)? {
            Whence::Start => 0,
            Whence::Current => self.load_shared()?,
            Whence::End => self.end_of_file(&self.state_view())?,
        };
        target(from, offset)
    }

    /// The individual file pointer.
    pub fn position(&self) -> Result<i64> {
        self.random_access("the individual file pointer")?;
        Ok(self.state.lock().position)
    }

    /// The shared file pointer.
    pub fn position_shared(&self) -> Result<i64> {
        self.random_access("asking for the shared file pointer")?;
        self.load_shared()
    }

    pub(super) fn load_shared(&self) -> Result<i64> {
        self.with_shared(|pointer| pointer.load())
    }

    /// Where in the file the etype at `offset` of the view starts.
    pub fn byte_offset(&self, offset: i64) -> Result<i64> {
        self.random_access("an offset")?;
        let view = self.state_view();
        let position = view.position_of(offset)?;
        let place = view.layout.offset_of(position);
        match i64::try_from(place) {
            Ok(place) if place < i64::MAX => Ok(place),
            _ => {
                let text = format!("offset {offset} of the view lies beyond the largest offset");
                Err(Error::new(Class::Arg, text))
            }
        }
    }

    /// The first etype of the view that starts at or behind the end of the file.
    pub(super) fn end_of_file(&self, view: &FileView) -> Result<i64> {
        let size = self.driver()?.size()?;
        let seen = view.layout.size_before(size);
        Ok(seen.div_ceil(view.layout.etype_size.max(1)) as i64)
    }

    /// Takes `etypes` from the individual pointer's place on, and leaves it behind them.
    pub(super) fn advance(&self, etypes: i64) -> Result<i64> {
        let mut state = self.state.lock();
        let place = state.position;
        state.position = target(place, etypes)?;
        Ok(place)
    }

    /// The same with the shared pointer.
    pub(super) fn advance_shared(&self, etypes: i64) -> Result<i64> {
        self.with_shared(|pointer| {
            let place = pointer.fetch_add(etypes)?;
            if let Err(error) = target(place, etypes) {
                pointer.fetch_add(-etypes)?;
                return Err(error);
            }
            Ok(place)
        })
    }

    /// The same for all ranks at once, each behind those of lower rank. Collective, also for a
    /// rank that has nothing to move.
    pub(super) fn advance_ordered(&self, etypes: i64) -> Result<i64> {
        if self.ranks.size() == 1 {
            return self.advance_shared(etypes);
        }
        let all = block_on(&self.ranks, self.ranks.gather(Box::new([etypes])))?;
        // All ranks add up the same numbers, so all of them fail here or none.
        let total = all.iter().try_fold(0, |sum, &etypes| target(sum, etypes))?;
        let before: i64 = all[..self.ranks.rank()].iter().sum();
        let last = self.ranks.size() - 1;
        let taken = match self.ranks.rank() == last {
            true => self.advance_shared(total),
            false => Ok(0),
        };
        let (_, starts) = block_on(&self.ranks, share(&self.ranks, taken, |&start| [start]))?;
        Ok(starts[last][0] + before)
    }

    pub(super) fn store_shared(&self, place: i64) -> Result<()> {
        self.with_shared(|pointer| pointer.store(place))
    }

    fn with_shared<T>(&self, act: impl FnOnce(&mpi::SharedWord) -> Result<T>) -> Result<T> {
        match &*self.shared_pointer.lock() {
            Some(pointer) => act(pointer),
            None => Err(Error::new(Class::File, format!("{} is closed", self.name))),
        }
    }
}

fn target(from: i64, offset: i64) -> Result<i64> {
    match from.checked_add(offset) {
        Some(place) if place >= 0 => Ok(place),
        _ => {
            let text = format!("offset {offset} from {from} lies outside of any file");
            Err(Error::new(Class::Arg, text))
        }
    }
}
