//! Closing a file, and telling what happened to it.

use super::File;
use crate::driver::doomed::Doomed;
use crate::engine::ranks::Ranks;
use crate::error::Result;
use crate::memory::Scratch;
use crate::report::{self, Subject, Summary, Wanted};
use crate::run::block_on;

impl File {
    /// Closes the file. Collective.
    pub fn close(&self) -> Result<()> {
        self.settle();
        let ready = self.agree(self.no_split_access());
        let told = self.report();
        let doomed = self.doomed.lock().take().map(Doomed::check).transpose();
        let driver = self.driver.write().take();
        let closed = match &driver {
            Some(driver) => driver.stop_together().and(driver.close()),
            None => Ok(()),
        };
        let kept = driver.filter(|_| !self.amode.delete_on_close);
        let closed = self.agree(closed);
        // All bytes are where they belong. A host that keeps its own idea of the file learns of
        // them now, so that whoever looks at the file there sees them; nothing is lost if not.
        if let Some(driver) = kept {
            let _ = driver.refresh();
        }
        // Everybody has closed it, so nobody's bytes come after the file is gone.
        let deleted = doomed.and_then(|doomed| doomed.map_or(Ok(()), Doomed::remove));
        let deleted = if self.amode.delete_on_close { self.agree(deleted) } else { Ok(()) };
        if let Some(pointer) = self.shared_pointer.lock().take() {
            pointer.free();
        }
        self.running.withdraw(self.ranks.comm());
        self.ranks.free();
        Scratch::free_kept();
        ready.and(told).and(closed).and(deleted)
    }

    /// Adds up what the ranks counted; rank 0 writes the report.
    fn report(&self) -> Result<()> {
        let (wanted, hints, facts, engine) = {
            let state = self.state.lock();
            let facts = self.facts(&state);
            let engine = state.engine.clone();
            (state.hints.report.clone(), state.hints.changed(&facts), facts, engine)
        };
        if wanted == Wanted::Nothing {
            return Ok(());
        }
        let calls = self.driver.read().as_ref().map(|driver| driver.calls()).unwrap_or_default();
        let mut total = self.counters.summary(&calls);
        let mut largest = Summary::default();
        let greatest = block_on(&self.ranks, self.ranks.max(total.values_mut().to_vec().into()))?;
        largest.values_mut().copy_from_slice(&greatest);
        if self.ranks.size() > 1 {
            self.ranks.comm().allreduce_sum(total.values_mut())?;
        }
        if self.ranks.rank() != 0 {
            return Ok(());
        }
        let subject = Subject {
            file: self.name.clone(),
            ranks: self.ranks.size() as u64,
            driver: facts.driver,
            seconds: self.opened.elapsed().as_secs_f64(),
            striping_unit: facts.striping_unit,
            striping_factor: facts.striping_factor,
            aggregators: facts.aggregators.map(|ranks| ranks.len() as u64),
            engine: (!engine.is_empty()).then_some(engine),
            hints,
            total,
            largest,
        };
        if let Err(error) = report::write(&report::render(&subject, &wanted), &wanted) {
            // A report that cannot be written is no reason to fail the program's close.
            report::tell(&format!("mpiio-rs[rank 0]: {error}\n"));
        }
        Ok(())
    }

    /// Prints the hints, if the user wants to see them.
    pub(super) fn tell_hints(&self) {
        let state = self.state.lock();
        if self.ranks.rank() == 0 && state.hints.verbose {
            report::tell(&state.hints.display(&self.facts(&state)));
        }
    }
}
