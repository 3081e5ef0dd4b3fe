//! Communicators: who takes part, and the few collective calls of this crate.

use std::ffi::c_int;

use super::handles::{Comm, Group, Slot};
use super::library::{Library, call, library};
use super::pending::Pending;
use crate::error::{Class, Error, Result};

/// Most bytes in one message. MPI-3 counts with ints, so long data goes in several.
const MESSAGE_SIZE: usize = 1 << 30;

/// How the ranks of a communicator are spread over the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    /// Nodes that the communicator lives on.
    pub node_count: usize,
    /// Ranks of the communicator on this rank's node.
    pub node_size: usize,
    /// This rank's number among them.
    pub node_rank: usize,
    /// The lowest of them.
    pub leader: usize,
}

impl Comm {
    /// MPI_COMM_WORLD.
    pub fn world() -> Result<Comm> {
        Ok(Comm(library()?.handles().comm_world))
    }

    /// MPI_COMM_SELF.
    pub fn self_() -> Result<Comm> {
        Ok(Comm(library()?.handles().comm_self))
    }

    /// Whether it connects two groups.
    pub fn is_inter(self) -> Result<bool> {
        let mut inter = 0;
        call!(library()?, comm_test_inter(self.0, &mut inter))?;
        Ok(inter != 0)
    }

    /// A private copy whose errors are returned instead of ending the program. Collective.
    pub fn dup(self) -> Result<Comm> {
        let library = library()?;
        let mut slot = Slot::empty();
        call!(library, comm_dup(self.0, slot.pointer()))?;
        Comm(slot.word(library)).returning_errors(library)
    }

    /// Gives it back. Collective. There is nothing the caller could do about a failure.
    pub fn free(self) {
        if let Ok(library) = library() {
            let mut slot = Slot::new(library, self.0);
            let _ = call!(library, comm_free(slot.pointer()));
        }
    }

    /// A communicator of this process alone, whose errors are returned; nobody else takes part.
    pub fn alone(self) -> Result<Comm> {
        let library = library()?;
        if self.size()? == 1 {
            return self.dup();
        }
        let (rank, mut group, mut slot) = (self.rank()? as c_int, Slot::empty(), Slot::empty());
        let all = self.group()?;
        let made = call!(library, group_incl(all.0, 1, &rank, group.pointer())).and_then(|()| {
            let group = Group(group.word(library));
            let made = call!(library, comm_create_group(self.0, group.0, 0, slot.pointer()));
            group.free();
            made
        });
        all.free();
        made?;
        Comm(slot.word(library)).returning_errors(library)
    }

    /// This process's number.
    pub fn rank(self) -> Result<usize> {
        let mut rank = 0;
        call!(library()?, comm_rank(self.0, &mut rank))?;
        Ok(rank as usize)
    }

    /// How many processes.
    pub fn size(self) -> Result<usize> {
        let mut size = 0;
        call!(library()?, comm_size(self.0, &mut size))?;
        Ok(size as usize)
    }

    /// Its group, which the caller frees.
    pub fn group(self) -> Result<Group> {
        let library = library()?;
        let mut slot = Slot::empty();
        call!(library, comm_group(self.0, slot.pointer()))?;
        Ok(Group(slot.word(library)))
    }

    /// The ranks that share memory with this one, in the same order. Collective.
    pub fn split_by_node(self) -> Result<Comm> {
        let library = library()?;
        let shared = library.constants().comm_type_shared;
        let info = library.handles().info_null;
        let mut slot = Slot::empty();
        call!(library, comm_split_type(self.0, shared, 0, info, slot.pointer()))?;
        Comm(slot.word(library)).returning_errors(library)
    }

    /// The ranks with the same colour, in the same order. Collective.
    pub fn split(self, colour: usize) -> Result<Comm> {
        let library = library()?;
        let mut slot = Slot::empty();
        call!(library, comm_split(self.0, colour as c_int, 0, slot.pointer()))?;
        Comm(slot.word(library)).returning_errors(library)
    }

    fn returning_errors(self, library: &Library) -> Result<Comm> {
        call!(library, comm_set_errhandler(self.0, library.handles().errors_return))?;
        Ok(self)
    }

    /// How its ranks are spread over the nodes. Collective.
    pub fn node_info(self) -> Result<NodeInfo> {
        let node = self.split_by_node()?;
        let found = self.node_info_by(node);
        node.free();
        found
    }

    fn node_info_by(self, node: Comm) -> Result<NodeInfo> {
        let (node_rank, node_size) = (node.rank()?, node.size()?);
        let mut leaders = [i64::from(node_rank == 0)];
        self.allreduce_sum(&mut leaders)?;
        let leader = match leaders[0] {
            1 => 0,
            _ => -node.allreduce_max_of(-(self.rank()? as i64))? as usize,
        };
        Ok(NodeInfo { node_count: leaders[0] as usize, node_size, node_rank, leader })
    }

    /// The largest of each value over all ranks.
    pub fn allreduce_max(self, values: &mut [i64]) -> Result<()> {
        let library = library()?;
        self.allreduce(library, values, library.handles().max)
    }

    /// The largest of all ranks' values.
    pub fn allreduce_max_of(self, value: i64) -> Result<i64> {
        let mut values = [value];
        self.allreduce_max(&mut values)?;
        Ok(values[0])
    }

    /// The sum of each value over all ranks.
    pub fn allreduce_sum(self, values: &mut [i64]) -> Result<()> {
        let library = library()?;
        self.allreduce(library, values, library.handles().sum)
    }

    fn allreduce(self, library: &Library, values: &mut [i64], operation: usize) -> Result<()> {
        let (count, datatype) = (int_count(values.len())?, library.handles().int64_t);
        let (in_place, values) = (library.constants().in_place, values.as_mut_ptr().cast());
        call!(library, allreduce(in_place, values, count, datatype, operation, self.0))
    }

    /// Copies `bytes` of rank `root` to all others; they must have the same length everywhere.
    pub fn broadcast(self, bytes: &mut [u8], root: usize) -> Result<()> {
        let library = library()?;
        let (datatype, root) = (library.handles().byte, root as c_int);
        for message in bytes.chunks_mut(MESSAGE_SIZE) {
            let (address, count) = (message.as_mut_ptr().cast(), message.len() as c_int);
            call!(library, bcast(address, count, datatype, root, self.0))?;
        }
        Ok(())
    }

    /// Starts to find the largest of each value over all ranks.
    pub fn start_allreduce_max(self, values: Box<[i64]>) -> Result<Pending<Box<[i64]>>> {
        let library = library()?;
        self.start_allreduce(library, values, library.handles().max)
    }

    /// Starts to find the sum of each value over all ranks.
    pub fn start_allreduce_sum(self, values: Box<[i64]>) -> Result<Pending<Box<[i64]>>> {
        let library = library()?;
        self.start_allreduce(library, values, library.handles().sum)
    }

    fn start_allreduce(
        self,
        library: &Library,
        mut values: Box<[i64]>,
        operation: usize,
    ) -> Result<Pending<Box<[i64]>>> {
        let (count, datatype) = (int_count(values.len())?, library.handles().int64_t);
        let (in_place, address) = (library.constants().in_place, values.as_mut_ptr().cast());
        let mut slot = Slot::empty();
        let request = slot.pointer();
        call!(library, iallreduce(in_place, address, count, datatype, operation, self.0, request))?;
        Ok(Pending::new(values, vec![slot]))
    }

    /// Starts to collect the values of all ranks, in their order; all give equally many.
    pub fn start_allgather(self, values: &[i64]) -> Result<Pending<Box<[i64]>>> {
        let library = library()?;
        let datatype = library.handles().int64_t;
        let count = int_count(values.len())?;
        let (rank, size) = (self.rank()?, self.size()?);
        let mut all = vec![0; values.len() * size].into_boxed_slice();
        all[rank * values.len()..][..values.len()].copy_from_slice(values);
        let (in_place, address) = (library.constants().in_place, all.as_mut_ptr().cast());
        let mut slot = Slot::empty();
        let request = slot.pointer();
        call!(
            library,
            iallgather(in_place, 0, datatype, address, count, datatype, self.0, request)
        )?;
        Ok(Pending::new(all, vec![slot]))
    }

    /// Lets the MPI see to messages that others wait for.
    pub fn progress(self) {
        if let Ok(library) = library() {
            let constants = library.constants();
            let mut found = 0;
            let status = constants.status_ignore;
            let _ = call!(library, iprobe(constants.any_source, 0, self.0, &mut found, status));
        }
    }

    /// Starts to copy `bytes` of rank `root` to all others.
    pub fn start_broadcast(self, bytes: Box<[u8]>, root: usize) -> Result<Pending<Box<[u8]>>> {
        let library = library()?;
        let (datatype, root) = (library.handles().byte, root as c_int);
        start_messages(bytes, |message, slot| {
            let (address, count) = (message.as_mut_ptr().cast(), message.len() as c_int);
            call!(library, ibcast(address, count, datatype, root, self.0, slot.pointer()))
        })
    }

    /// Starts to send `bytes` to rank `to`: done when the receiver has begun to take them, so that
    /// none pile up there.
    pub fn start_send(self, bytes: Box<[u8]>, to: usize, tag: i32) -> Result<Pending<Box<[u8]>>> {
        let library = library()?;
        let (datatype, to) = (library.handles().byte, to as c_int);
        let (address, count) = (bytes.as_ptr().cast(), int_count(bytes.len())?);
        let mut slot = Slot::empty();
        call!(library, issend(address, count, datatype, to, tag, self.0, slot.pointer()))?;
        Ok(Pending::new(bytes, vec![slot]))
    }

    /// Starts to receive at most `bytes.len()` bytes, from a rank or from any.
    pub fn start_receive(
        self,
        mut bytes: Box<[u8]>,
        from: Option<usize>,
        tag: i32,
    ) -> Result<Pending<Box<[u8]>>> {
        let library = library()?;
        let from = from.map_or(library.constants().any_source, |from| from as c_int);
        let datatype = library.handles().byte;
        let (address, count) = (bytes.as_mut_ptr().cast(), int_count(bytes.len())?);
        let mut slot = Slot::empty();
        call!(library, irecv(address, count, datatype, from, tag, self.0, slot.pointer()))?;
        Ok(Pending::new(bytes, vec![slot]))
    }

    /// Ends the program on all ranks.
    pub fn abort(self, code: c_int) -> ! {
        if let Ok(library) = library() {
            let _ = call!(library, abort(self.0, code));
        }
        std::process::abort()
    }
}

impl Group {
    /// Gives it back.
    pub fn free(self) {
        if let Ok(library) = library() {
            let mut slot = Slot::new(library, self.0);
            let _ = call!(library, group_free(slot.pointer()));
        }
    }
}

fn int_count(count: usize) -> Result<c_int> {
    c_int::try_from(count).map_err(|_| {
        Error::new(Class::Count, format!("{count} values are too many for one message"))
    })
}

/// Starts one message for each stretch of `bytes`; all ranks cut them alike.
fn start_messages(
    mut bytes: Box<[u8]>,
    mut start: impl FnMut(&mut [u8], &mut Slot) -> Result<()>,
) -> Result<Pending<Box<[u8]>>> {
    let mut slots = Vec::with_capacity(bytes.len().div_ceil(MESSAGE_SIZE));
    for message in bytes.chunks_mut(MESSAGE_SIZE) {
        let mut slot = Slot::empty();
        if let Err(error) = start(message, &mut slot) {
            // Those already started use the buffer: dropping the pending ones keeps it.
            drop(Pending::new(bytes, slots));
            return Err(error);
        }
        slots.push(slot);
    }
    Ok(Pending::new(bytes, slots))
}
