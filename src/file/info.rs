//! Hints of an open file.

use super::aggregators::aggregators;
use super::{File, State};
use crate::engine::ranks::{Answers, Place, Ranks, Survey};
use crate::engine::two_phase::Layers;
use crate::error::Result;
use crate::hint::{Facts, Hints, Override, Request};
use crate::mpi::Info;
use crate::report;
use crate::run::{Communicator, block_on};

impl File {
    /// Takes new hints. Collective.
    pub fn set_info(&self, info: Info) -> Result<()> {
        self.settle();
        let own = entries(info);
        let mut survey = Survey::new(&self.ranks);
        let said = own.as_ref().map_or_else(|_| Request::of_info(&[]), |own| Request::of_info(own));
        let view = self.state_view();
        let sieving = self.ask_about_sieving(&mut survey, Some(&view), &said);
        let ballot = Ballot::ask(&mut survey, said, self.ranks.rank());
        let (_, answers) = block_on(&self.ranks, survey.hold(own))?;
        let unanimous = ballot.is_unanimous(&answers);
        let request = ballot.count(&self.ranks, &answers)?;
        self.state.lock().hints.update(&request);
        let sieving = match unanimous {
            true => self.agree_on_sieving(sieving, &answers)?,
            false => self.agree_once_more(&view)?,
        };
        let mut state = self.state.lock();
        state.sieving = sieving;
        self.make_plan(&mut state);
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
        let layout = self.layout;
        let striped = layout.stripe_size > 1;
        let visible = driver.as_ref().is_none_or(|driver| driver.visible_immediately());
        let overrides = state.sieving.why_not().map(|why| Override {
            key: "romio_ds_write",
            value: "disable".to_string(),
            why: why.to_string(),
        });
        let refused = driver.as_ref().and_then(|driver| driver.reason()).map(|why| Override {
            key: if state.hints.data_shipping {
                "mpiio_rs_data_shipping"
            } else {
                "mpiio_rs_lock_ahead"
            },
            value: if state.hints.data_shipping { "false" } else { "off" }.to_string(),
            why,
        });
        let stays = (state.hints.progress && !self.can_promise()).then(|| Override {
            key: "mpiio_rs_progress",
            value: "none".to_string(),
            why: "below MPI_THREAD_MULTIPLE this MPI calls nobody while it waits".to_string(),
        });
        let cached = driver.as_ref().and_then(|driver| driver.why_cached());
        let hints = &state.hints;
        let direct = [
            ("direct_read", hints.direct_read),
            ("direct_write", hints.direct_write),
            ("direct_io", hints.direct_io),
        ];
        let uncached = direct.into_iter().filter(|(_, asked)| *asked).filter_map(|(key, _)| {
            Some(Override { key, value: "false".to_string(), why: cached.clone()? })
        });
        let aggregators = aggregators(&state.hints, layout, &self.homes, self.ranks.size());
        let ways = self.ways_not_gone(hints, aggregators.is_some());
        Facts {
            filename: self.name.clone(),
            ranks: self.ranks.size() as u64,
            driver: driver.as_ref().map_or("closed", |driver| driver.name()).to_string(),
            visibility_immediate: visible,
            striping_unit: striped.then_some(layout.stripe_size),
            striping_factor: striped.then_some(layout.stripe_count),
            start_iodevice: layout.first_server,
            aggregators: aggregators
                .map(|ranks| ranks.into_iter().map(|rank| rank as u64).collect()),
            num_threads: Some(self.threads(state) as u64),
            overrides: overrides
                .into_iter()
                .chain(refused)
                .chain(stays)
                .chain(uncached)
                .chain(ways)
                .chain(self.buffer_as_made(hints))
                .collect(),
        }
    }

    /// The collective buffer keeps the size that it was made with.
    fn buffer_as_made(&self, hints: &Hints) -> Option<Override> {
        let layers = Layers::named(&hints.layers).unwrap_or_default();
        let size = self.ranks.ring_size(layers).filter(|size| *size != hints.cb_buffer_size)?;
        let why = "the buffer was made by an earlier collective access".to_string();
        Some(Override { key: "cb_buffer_size", value: size.to_string(), why })
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

/// What this rank has to say about hints, in a form to compare.
pub(super) struct Ballot {
    request: Request,
    bytes: Vec<u8>,
    print: Place,
    size: Place,
}

impl Ballot {
    /// Asks the other ranks whether they have the same hints.
    pub(super) fn ask(survey: &mut Survey<'_, Communicator>, own: Request, rank: usize) -> Ballot {
        let bytes = own.encode();
        let print = survey.same(own.fingerprint());
        let size = survey.most(if rank == 0 { bytes.len() as i64 } else { 0 });
        Ballot { request: own, bytes, print, size }
    }

    /// Whether all ranks have said the same.
    pub(super) fn is_unanimous(&self, answers: &Answers) -> bool {
        answers.same(self.print)
    }

    /// Rank 0's hints for all. Only if the ranks have different ones, rank 0 must send its own.
    pub(super) fn count(self, ranks: &Communicator, answers: &Answers) -> Result<Request> {
        if self.is_unanimous(answers) {
            return Ok(self.request);
        }
        let mut message = vec![0; answers.most(self.size) as usize];
        if ranks.rank() == 0 {
            message.copy_from_slice(&self.bytes);
        }
        let request = Request::decode(&block_on(ranks, ranks.broadcast(message.into(), 0))?)?;
        let differences = self.request.differences(&request);
        if !differences.is_empty() {
            let (rank, keys) = (ranks.rank(), differences.join(", "));
            let text = "hints differ from rank 0's, which hold";
            report::tell(&format!("mpiio-rs[rank {rank}]: {text}: {keys}\n"));
        }
        Ok(request)
    }
}
