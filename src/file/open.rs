//! Opening a file: the one place where all ranks get to know each other.

use std::ffi::{CStr, c_int};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, RwLock};

use super::aggregators::Homes;
use super::amode::Amode;
use super::background::{Means, MeansVote};
use super::info::{Ballot, entries};
use super::sieving::{Others, WriteSieving, mark_opened};
use super::tuning::{LayoutVote, start_together, tuning};
use super::view::FileView;
use super::{File, State};
use crate::driver::detect::{self, Filesystem, Kind, split_name};
use crate::driver::doomed::Doomed;
use crate::driver::known::{Known, ask_for_directory};
use crate::driver::open::{OpenOptions, open};
use crate::driver::{Driver, Layout};
use crate::engine::individual::Plan;
use crate::engine::ranks::{Ranks, Survey, agree};
use crate::engine::sieve::Gate;
use crate::error::{Class, Error, Result};
use crate::hint::{Environment, Hints, Request};
use crate::memory::Shared;
use crate::mpi::{self, Comm, Info, NodeInfo, Running, SharedWord};
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
        let running = Running::begin();
        let own = comm.dup()?;
        let ranks = Communicator::new(own).map_err(|error| {
            own.free();
            let text = format!("opening {}: {}", path.to_string_lossy(), error.text());
            Error::new(error.class, text)
        })?;
        match open_on(&ranks, path, amode, info) {
            Ok(opened) => {
                running.lend(ranks.comm());
                Ok(opened.file(ranks, path, running))
            }
            Err(error) => {
                ranks.free();
                Err(error)
            }
        }
    }
}

/// What this rank brings to the opening.
struct Wish {
    amode: Amode,
    hints: Hints,
    kind: Kind,
    filesystem: Filesystem,
    /// Whether all ranks see the same kind of file system below the name.
    same_filesystem: bool,
}

impl Wish {
    /// What another rank knows of the file that rank 0 has open.
    fn known(&self, inode: i64) -> Known {
        if self.filesystem.is_local() {
            return Known::Nothing;
        }
        match self.filesystem.common_inodes && self.same_filesystem && inode != NO_INODE {
            true => Known::Inode(inode as u64),
            false => Known::Exists,
        }
    }
}

/// What the ranks have opened together.
struct Opened {
    wish: Wish,
    driver: Box<dyn Driver>,
    layout: Layout,
    hidden: bool,
    /// Where the file pointers start.
    start: i64,
    others: Others,
    view: FileView,
    shared_pointer: SharedWord,
    homes: Option<Homes>,
    means: Means,
}

fn open_on(ranks: &Communicator, path: &CStr, amode: c_int, info: Info) -> Result<Opened> {
    let wish = agree_on_wishes(ranks, path, amode, info)?;
    let amode = wish.amode;
    let first = ranks.rank() == 0;
    let opened = open_in_turn(ranks, &wish, path)?;
    let (mut end, mut others) = (0, Others::default());
    let opened = opened.and_then(|driver| {
        if first && amode.append {
            end = driver.size()? as i64;
        }
        if first && amode.write && wish.filesystem.is_local() {
            others = mark_opened(&*driver)?;
        }
        Ok(driver)
    });
    let mut survey = Survey::new(ranks);
    let end = survey.most(end);
    let others = survey.most(others.code());
    let hidden = survey.most(i64::from(opened.as_ref().is_ok_and(|d| !d.visible_immediately())));
    let means = MeansVote::ask(&mut survey, ranks.size());
    let vote = LayoutVote::ask(
        &mut survey,
        opened.as_ref().map_or_else(|_| Layout::default(), |d| d.layout()),
    );
    let (driver, answers) = block_on(ranks, survey.hold(opened))?;

    let layout = vote.count(&answers);
    let start = if amode.append { answers.most(end) } else { 0 };
    let view = FileView::of_bytes()?;
    let shared_pointer = shared_pointer(ranks, start)?;
    start_together(ranks, &*driver, &wish.hints)?;
    let homes = Homes::ask(ranks, &wish.hints, layout)?;
    let others = Others::from_code(answers.most(others));
    // Ranks of one host share what it keeps.
    let hidden = answers.most(hidden) != 0 && ranks.nodes().node_count > 1;
    let means = means.count(&answers);
    Ok(Opened { wish, driver, layout, hidden, start, others, view, shared_pointer, homes, means })
}

/// Rank 0 creates the file, so that only one does; the others find it there. Collective, but for
/// what the others find.
fn open_in_turn(ranks: &Communicator, wish: &Wish, path: &CStr) -> Result<Result<Box<dyn Driver>>> {
    let amode = wish.amode;
    let mut options = OpenOptions::new(split_name(path).1, wish.kind);
    (options.read, options.write) = (amode.read, amode.write);
    options.permissions = wish.hints.file_perm.unwrap_or(0o666);
    // Another opening may be another host's, as where each rank has its own: MPI_File_sync makes
    // what one wrote seen by the other.
    options.shared_between_hosts = ranks.nodes().node_count > 1 || mpi::may_have_other_hosts();
    options.cached_by_hosts = wish.filesystem.caches_alone();
    options.tuning = tuning(&wish.hints, amode, ranks);

    let created = match ranks.rank() {
        0 => {
            // The others follow this rank, also where it follows an old name.
            if ranks.nodes().node_count > 1 && wish.filesystem.common_inodes {
                ask_for_directory(&options.path);
            }
            let (create, exclusive) = (amode.create, amode.excl);
            open(&OpenOptions { create, exclusive, ..options.clone() }).map(Some)
        }
        _ => Ok(None),
    };
    let mut survey = Survey::new(ranks);
    let inode = created.as_ref().ok().and_then(Option::as_ref).and_then(|driver| driver.inode());
    // This rank's mount may number files by itself where those of others do not.
    let inode = inode.filter(|_| wish.filesystem.common_inodes);
    let inode = survey.most(inode.map_or(NO_INODE, |inode| inode as i64));
    let (created, answers) = block_on(ranks, survey.hold(created))?;
    Ok(match created {
        Some(driver) => Ok(driver),
        None => open(&OpenOptions { known: wish.known(answers.most(inode)), ..options }),
    })
}

/// What ranks answer that are not asked for the number of the file.
const NO_INODE: i64 = i64::MIN;

/// The shared file pointer. Collective.
fn shared_pointer(ranks: &Communicator, start: i64) -> Result<SharedWord> {
    let memory = match ranks.size() {
        1 => Some(Shared::of_process(64)?),
        _ => ranks.shared(),
    };
    match memory {
        // No rank reads it before all are here.
        Some(memory) => {
            let pointer = SharedWord::on_node(memory, (ranks.rank() == 0).then_some(start));
            block_on(ranks, agree(ranks, Ok(pointer)))
        }
        None => block_on(ranks, agree(ranks, SharedWord::on_nodes(ranks.comm(), start))),
    }
}

impl Opened {
    fn file(self, ranks: Communicator, path: &CStr, running: Running) -> Arc<File> {
        let deletes = self.wish.amode.delete_on_close && ranks.rank() == 0;
        let file = Arc::new(File {
            doomed: Mutex::new(deletes.then(|| Doomed::new(split_name(path).1))),
            name: path.to_string_lossy().into_owned(),
            amode: self.wish.amode,
            cores: cores(ranks.nodes()),
            ranks,
            homes: self.homes,
            filesystem: self.wish.filesystem,
            layout: self.layout,
            hidden: self.hidden,
            driver: RwLock::new(Some(Arc::from(self.driver))),
            state: Mutex::new(State {
                view: Arc::new(self.view),
                position: self.start,
                hints: self.wish.hints,
                sieving: WriteSieving::beside(self.others),
                plan: Plan::default(),
                engine: String::new(),
            }),
            shared_pointer: Mutex::new(Some(self.shared_pointer)),
            atomic: AtomicBool::new(false),
            gate: Gate::default(),
            atomic_gate: Mutex::new(()),
            split: Mutex::new(None),
            background: Arc::default(),
            means: self.means,
            counters: Counters::default(),
            opened: Instant::now(),
            running,
        });
        file.make_plan(&mut file.state.lock());
        file.tell_hints();
        file
    }
}

/// Checks the arguments: the access mode must be the same everywhere, rank 0's hints hold for
/// all, and one driver serves all. One exchange, unless the hints differ.
fn agree_on_wishes(ranks: &Communicator, path: &CStr, bits: c_int, info: Info) -> Result<Wish> {
    let amode = mpi::library().and_then(|library| Amode::new(bits, library.constants()));
    let said = request(ranks, path, info);
    let (forced, stripped) = split_name(path);
    let filesystem = detect::filesystem(stripped);
    let own = forced.unwrap_or(filesystem.kind);

    let mut survey = Survey::new(ranks);
    let mode = survey.same(i64::from(bits));
    let kind = survey.most(i64::from(own.code()));
    let magic = survey.same(i64::from(filesystem.magic));
    let nothing = || Request::of_info(&[]);
    let ballot = said.as_ref().map_or_else(|_| nothing(), Clone::clone);
    let ballot = Ballot::ask(&mut survey, ballot, ranks.rank());
    let verdict = amode.and_then(|amode| said.map(|_| amode));
    let (amode, answers) = block_on(ranks, survey.hold(verdict))?;
    if !answers.same(mode) {
        let text = format!("the ranks give different access modes; here it is {bits:#x}");
        return Err(Error::new(Class::NotSame, text));
    }
    let kind = Kind::from_code(answers.most(kind) as u8);
    let hints = Hints::from_request(&ballot.count(ranks, &answers)?);
    Ok(Wish { amode, hints, kind, filesystem, same_filesystem: answers.same(magic) })
}

/// What was said about hints, by this rank and its environment. Only rank 0 reads hint files.
fn request(ranks: &Communicator, path: &CStr, info: Info) -> Result<Request> {
    let environment = match ranks.rank() {
        0 => Environment::of_process(),
        _ => Environment::of_process().without_files(),
    };
    Ok(Request::collect(&entries(info)?, &environment, &path.to_string_lossy()))
}

/// Cores that this rank may call its own: those it may run on, or its share of the machine where
/// that is less.
fn cores(nodes: NodeInfo) -> usize {
    // Asking takes some twenty system calls, so it is done once.
    static MACHINE: OnceLock<(usize, usize)> = OnceLock::new();
    let (allowed, machine) = *MACHINE.get_or_init(|| {
        let allowed = std::thread::available_parallelism().map_or(1, usize::from);
        let machine = std::fs::read_to_string("/sys/devices/system/cpu/online")
            .ok()
            .and_then(|list| count_list(list.trim()));
        (allowed, machine.unwrap_or(allowed))
    });
    // An opening of MPI_COMM_SELF knows nothing of its neighbours, but the launcher does.
    let neighbours = mpi::neighbours().unwrap_or(1).max(nodes.node_size);
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
