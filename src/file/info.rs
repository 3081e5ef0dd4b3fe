//! Hints of an open file.

use super::{File, State};
use crate::engine::ranks::Ranks;
use crate::error::{Class, Error, Result};
use crate::hint::{Facts, Override, Request};
use crate::mpi::Info;
use crate::run::{Communicator, block_on};

impl File {
    /// Takes new hints. Collective.
    pub fn set_info(&self, info: Info) -> Result<()> {
        let request = agree_on_hints(&self.ranks, entries(info).map(|e| Request::of_info(&e)))?;
        self.state.lock().hints.update(&request);
        Ok(())
    }

    /// The hints in force; the caller frees the handle.
    pub fn info(&self) -> Result<Info> {
        let state = self.state.lock();
        Info::from_entries(&state.hints.entries(&self.facts(&state)))
    }

    /// What is known about the file.
    pub(super) fn facts(&self, state: &State) -> Facts {
        let driver = self.driver.read();
        let layout = driver.as_ref().map(|driver| driver.layout()).unwrap_or_default();
        let striped = layout.stripe_size > 1;
        let visible = driver.as_ref().is_none_or(|driver| driver.visible_immediately());
        let overrides = state.sieving.why_not().map(|why| Override {
            key: "romio_ds_write",
            value: "disable".to_string(),
            why: why.to_string(),
        });
        Facts {
            filename: self.name.clone(),
            ranks: self.ranks.size() as u64,
            driver: driver.as_ref().map_or("closed", |driver| driver.name()).to_string(),
            visibility_immediate: visible,
            striping_unit: striped.then_some(layout.stripe_size),
            striping_factor: striped.then_some(layout.stripe_count),
            num_threads: Some(self.threads(state) as u64),
            overrides: overrides.into_iter().collect(),
            ..Facts::default()
        }
    }

    /// Threads for one access: what the user wants, but never more than cores.
    pub(super) fn threads(&self, state: &State) -> usize {
        match usize::try_from(state.hints.num_threads) {
            Ok(wanted) if wanted > 0 => wanted.min(self.cores),
            _ => self.cores,
        }
    }
}

/// The pairs in an info object; none in MPI_INFO_NULL.
pub(super) fn entries(info: Info) -> Result<Vec<(String, String)>> {
    if info.is_null() { Ok(Vec::new()) } else { info.entries() }
}

/// Rank 0's hints for all. One exchange tells whether they are the same everywhere; only if they
/// are not, rank 0 sends its own. A rank that could not read its own takes part all the same.
pub(super) fn agree_on_hints(ranks: &Communicator, own: Result<Request>) -> Result<Request> {
    let failed = i64::from(own.is_err());
    let print = own.as_ref().map_or(0, Request::fingerprint);
    let mine = own.as_ref().map_or_else(|_| Vec::new(), Request::encode);
    let size = if ranks.rank() == 0 { mine.len() as i64 } else { 0 };
    let agreed = block_on(ranks.max(Box::new([failed, print, -print, size])))?;
    if agreed[0] != 0 {
        let other = || Error::new(Class::Info, "the hints of another rank cannot be read");
        return Err(own.err().unwrap_or_else(other));
    }
    if agreed[1] == -agreed[2] {
        return own;
    }
    let mut message = vec![0; agreed[3] as usize];
    if ranks.rank() == 0 {
        message.copy_from_slice(&mine);
    }
    let request = Request::decode(&block_on(ranks.broadcast(message.into(), 0))?)?;
    if let Ok(own) = own {
        let differences = own.differences(&request);
        if !differences.is_empty() {
            let (rank, keys) = (ranks.rank(), differences.join(", "));
            eprintln!(
                "mpiio-rs[rank {rank}]: hints differ from those of rank 0, whose hold: {keys}"
            );
        }
    }
    Ok(request)
}
