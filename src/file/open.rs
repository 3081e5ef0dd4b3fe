//! Opening a file: the one place where all ranks get to know each other.

use std::ffi::{CStr, c_int};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use parking_lot::{Mutex, RwLock};

use super::amode::Amode;
use super::info::{agree_on_hints, entries};
use super::sieving::{WriteSieving, mark_opened};
use super::view::FileView;
use super::{File, State};
use crate::driver::detect::{self, Filesystem, Kind, split_name};
use crate::driver::open::{OpenOptions, open};
use crate::engine::ranks::{Ranks, agree};
use crate::engine::sieve::Gate;
use crate::error::{Class, Error, Result};
use crate::hint::{Environment, Hints, Request};
use crate::mpi::{self, Comm, Info, NodeInfo, SharedWord};
use crate::report::Counters;
use crate::run::{Communicator, block_on};

impl File {
    /// Opens a file with all ranks of `comm`. Collective.
    pub fn open(comm: Comm, path: &CStr, amode: c_int, info: Info) -> Result<Arc<File>> {
        if comm.is_inter()? {
            let text = "a file cannot be opened on an intercommunicator";
            return Err(Error::new(Class::Comm, text));
        }
        // From here on all ranks go through the same steps, whatever happens on one of them.
        let ranks = Communicator::new(comm.dup()?)?;
        let opened = open_on(ranks, path, amode, info);
        if opened.is_err() {
            ranks.comm().free();
        }
        opened
    }
}

fn open_on(ranks: Communicator, path: &CStr, amode: c_int, info: Info) -> Result<Arc<File>> {
    let amode = agree_on_amode(&ranks, amode)?;
    let request = agree_on_hints(&ranks, request(&ranks, path, info))?;
    let hints = Hints::from_request(&request);
    let nodes = nodes(&ranks)?;
    let (forced, stripped) = split_name(path);
    let (kind, filesystem) = agree_on_filesystem(&ranks, forced, stripped)?;
    let mut options = OpenOptions::new(stripped, kind);
    (options.read, options.write) = (amode.read, amode.write);
    options.permissions = hints.file_perm.unwrap_or(0o666);
    options.shared_between_hosts = nodes.node_count > 1;

    // Rank 0 creates the file, so that only one does; the others find it there.
    let first = ranks.rank() == 0;
    let creating = OpenOptions { create: amode.create, exclusive: amode.excl, ..options.clone() };
    let created = if first { open(&creating).map(Some) } else { Ok(None) };
    let opened = match block_on(agree(&ranks, created))? {
        Some(driver) => Ok(driver),
        None => open(&options),
    };
    let driver = block_on(agree(&ranks, opened))?;
    let end = if first { driver.size().unwrap_or(0) as i64 } else { 0 };
    let sieved = first && amode.write && filesystem.is_local() && mark_opened(&*driver);
    let facts = block_on(ranks.max(Box::new([end, i64::from(sieved)])))?;
    let start = if amode.append { facts[0] } else { 0 };
    let shared_pointer = SharedWord::new(ranks.comm(), nodes)?;
    if first {
        shared_pointer.store(start)?;
    }
    let file = Arc::new(File {
        path: stripped.to_owned(),
        name: path.to_string_lossy().into_owned(),
        amode,
        ranks,
        filesystem,
        cores: cores(nodes),
        driver: RwLock::new(Some(Arc::from(driver))),
        state: Mutex::new(State {
            view: Arc::new(FileView::of_bytes()?),
            position: start,
            hints,
            sieving: WriteSieving::beside(facts[1] != 0),
        }),
        shared_pointer: Mutex::new(Some(shared_pointer)),
        atomic: AtomicBool::new(false),
        gate: Gate::default(),
        atomic_gate: RwLock::new(()),
        split: Mutex::new(None),
        counters: Counters::default(),
        opened: Instant::now(),
    });
    file.tell_hints();
    // Nobody uses the shared pointer before rank 0 has set it.
    block_on(agree(&ranks, Ok(file)))
}

/// Checks the access mode, which must be the same everywhere.
fn agree_on_amode(ranks: &Communicator, bits: c_int) -> Result<Amode> {
    let amode = mpi::library().and_then(|library| Amode::new(bits, library.constants()));
    let amode = block_on(agree(ranks, amode))?;
    let bits = i64::from(amode.bits);
    let bounds = block_on(ranks.max(Box::new([bits, -bits])))?;
    if bounds[0] != -bounds[1] {
        let text = format!("the ranks give different access modes; here it is {bits:#x}");
        return Err(Error::new(Class::NotSame, text));
    }
    Ok(amode)
}

/// What was said about hints, by this rank and its environment. Only rank 0 reads hint files.
fn request(ranks: &Communicator, path: &CStr, info: Info) -> Result<Request> {
    let environment = match ranks.rank() {
        0 => Environment::of_process(),
        _ => Environment::of_process().without_files(),
    };
    Ok(Request::collect(&entries(info)?, &environment, &path.to_string_lossy()))
}

fn nodes(ranks: &Communicator) -> Result<NodeInfo> {
    match ranks.size() {
        1 => Ok(NodeInfo { node_count: 1, node_size: 1, node_rank: 0 }),
        _ => ranks.comm().node_info(),
    }
}

/// One driver for all ranks, and this rank's idea of the file system.
fn agree_on_filesystem(
    ranks: &Communicator,
    forced: Option<Kind>,
    path: &CStr,
) -> Result<(Kind, Filesystem)> {
    let filesystem = detect::filesystem(path);
    let kind = forced.unwrap_or(filesystem.kind);
    let code = block_on(ranks.max(Box::new([i64::from(kind.code())])))?[0];
    Ok((Kind::from_code(code as u8), filesystem))
}

/// Cores that this rank may call its own: those it may run on, or its share of the machine where
/// that is less.
fn cores(nodes: NodeInfo) -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    // An opening of MPI_COMM_SELF knows nothing of its neighbours, but the launcher does.
    let neighbours = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"]
        .iter()
        .filter_map(|name| std::env::var(name).ok()?.parse().ok())
        .chain([nodes.node_size])
        .max()
        .unwrap_or(1);
    let machine = std::fs::read_to_string("/sys/devices/system/cpu/online")
        .ok()
        .and_then(|list| count_list(list.trim()))
        .unwrap_or(allowed);
    allowed.min((machine / neighbours).max(1))
}

/// How many numbers a list such as "0-3,8" has.
fn count_list(list: &str) -> Option<usize> {
    let count = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (usize, usize) = (low.parse().ok()?, high.parse().ok()?);
        (high + 1).checked_sub(low)
    };
    list.split(',').map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::count_list;

    #[test]
    fn cores_are_counted_from_the_kernels_list() {
        assert_eq!(count_list("0-3,8"), Some(5));
        assert_eq!(count_list("0"), Some(1));
        assert_eq!(count_list("none"), None);
    }
}
