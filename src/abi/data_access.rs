//! The data access routines: a table that says what each name means.

use std::ffi::{c_int, c_void};

use super::arguments::{Given, HandleOut, MPI_Offset, StatusOut};
use super::boundary;
use super::handles::MPI_File;
use super::table::{Described, Routine};
use crate::file::SplitRoutine;
use crate::mpi::{Datatype, Request};
use crate::operation::{Buffer, Coordination, Direction, Operation, Positioning, Synchronism};

/// Transfers, and says in `status` how much.
fn blocking(
    routine: &'static str,
    fh: MPI_File,
    operation: &Operation,
    status: StatusOut,
) -> c_int {
    boundary::on_file(routine, fh, |file| status.set(file.access(operation)))
}

/// Starts to transfer, and gives back a request.
fn nonblocking(
    routine: &'static str,
    fh: MPI_File,
    operation: &Operation,
    request: HandleOut<Request>,
) -> c_int {
    let no_request = Request::null().and_then(|null| request.set("request", || Ok(null)));
    boundary::on_open_file(routine, fh, |open_file| {
        let started = open_file.file.start(routine, operation);
        no_request?;
        request.set("request", || started)
    })
}

/// Starts a split access.
fn begin(routine: &'static str, fh: MPI_File, operation: &Operation, split: SplitRoutine) -> c_int {
    boundary::on_open_file(routine, fh, |open_file| open_file.file.begin(split, operation))
}

/// Ends the split access that `begin` started.
fn end(
    routine: &'static str,
    fh: MPI_File,
    buffer: *mut c_void,
    split: SplitRoutine,
    status: StatusOut,
) -> c_int {
    boundary::on_file(routine, fh, |file| status.set(file.end(split, buffer.addr())))
}

/// Makes the routines of the table below. A row says which operation its names ask for: the
/// routine that counts in int, the one that counts in MPI_Count, and for a split access the one
/// that ends it.
macro_rules! data_access {
    ($($direction:ident $positioning:ident $(($offset:ident))? $coordination:ident
        $synchronism:ident $(($split:ident))? => $($name:ident)+;)*) => {
        $(routines_of! {
            $synchronism $(($split))?
            [$direction $positioning $(($offset))? $coordination $synchronism] $($name)+
        })*

        pub(super) const ROUTINES: &[Routine] = &[$($(<$name as Described>::ROUTINE),+),*];
    };
}

/// The routines of one row: how they answer depends on the synchronism.
macro_rules! routines_of {
    (Blocking $operation:tt $name:ident $name_c:ident) => {
        access! { $name c_int $operation (status: StatusOut) blocking(status) }
        access! { $name_c MPI_Offset $operation (status: StatusOut) blocking(status) }
    };
    (Nonblocking $operation:tt $name:ident $name_c:ident) => {
        access! { $name c_int $operation (request: HandleOut<Request>) nonblocking(request) }
        access! { $name_c MPI_Offset $operation (request: HandleOut<Request>) nonblocking(request) }
    };
    (Split($split:ident) $operation:tt $name:ident $name_c:ident $end:ident) => {
        access! { $name c_int $operation () begin(SplitRoutine::$split) }
        access! { $name_c MPI_Offset $operation () begin(SplitRoutine::$split) }
        routine! {
            fn $end(fh: MPI_File, buffer: *mut c_void, status: StatusOut) -> c_int
                = |routine| end(routine, fh, buffer, SplitRoutine::$split, status)
        }
    };
}

/// One routine: the arguments that all share, the offset if there is one, and the answer's place.
macro_rules! access {
    ($name:ident $count:ty
        [$direction:ident $positioning:ident $(($offset:ident))? $coordination:ident $synchronism:ident]
        ($($place:ident: $type:ty)?) $run:ident($answer:expr)) => {
        routine! {
            fn $name(
                fh: MPI_File, $($offset: MPI_Offset,)? buffer: *mut c_void, count: $count,
                datatype: Given<Datatype> $(, $place: $type)?
            ) -> c_int = |routine| {
                let operation = Operation {
                    direction: Direction::$direction,
                    positioning: Positioning::$positioning $(($offset))?,
                    coordination: Coordination::$coordination,
                    synchronism: Synchronism::$synchronism,
                    buffer: Buffer {
                        address: buffer.addr(),
                        count: i64::from(count),
                        datatype: datatype.handle(),
                    },
                };
                $run(routine, fh, &operation, $answer)
            }
        }
    };
}

#[rustfmt::skip]
data_access! {
    Read  Explicit(offset) Independent Blocking    => MPI_File_read_at       MPI_File_read_at_c;
    Write Explicit(offset) Independent Blocking    => MPI_File_write_at      MPI_File_write_at_c;
    Read  Explicit(offset) Collective  Blocking    => MPI_File_read_at_all   MPI_File_read_at_all_c;
    Write Explicit(offset) Collective  Blocking    => MPI_File_write_at_all  MPI_File_write_at_all_c;
    Read  Explicit(offset) Independent Nonblocking => MPI_File_iread_at      MPI_File_iread_at_c;
    Write Explicit(offset) Independent Nonblocking => MPI_File_iwrite_at     MPI_File_iwrite_at_c;
    Read  Explicit(offset) Collective  Nonblocking => MPI_File_iread_at_all  MPI_File_iread_at_all_c;
    Write Explicit(offset) Collective  Nonblocking => MPI_File_iwrite_at_all MPI_File_iwrite_at_all_c;

    Read  Individual       Independent Blocking    => MPI_File_read          MPI_File_read_c;
    Write Individual       Independent Blocking    => MPI_File_write         MPI_File_write_c;
    Read  Individual       Collective  Blocking    => MPI_File_read_all      MPI_File_read_all_c;
    Write Individual       Collective  Blocking    => MPI_File_write_all     MPI_File_write_all_c;
    Read  Individual       Independent Nonblocking => MPI_File_iread         MPI_File_iread_c;
    Write Individual       Independent Nonblocking => MPI_File_iwrite        MPI_File_iwrite_c;
    Read  Individual       Collective  Nonblocking => MPI_File_iread_all     MPI_File_iread_all_c;
    Write Individual       Collective  Nonblocking => MPI_File_iwrite_all    MPI_File_iwrite_all_c;

    Read  Shared           Independent Blocking    => MPI_File_read_shared   MPI_File_read_shared_c;
    Write Shared           Independent Blocking    => MPI_File_write_shared  MPI_File_write_shared_c;
    Read  Shared           Collective  Blocking    => MPI_File_read_ordered  MPI_File_read_ordered_c;
    Write Shared           Collective  Blocking    => MPI_File_write_ordered MPI_File_write_ordered_c;
    Read  Shared           Independent Nonblocking => MPI_File_iread_shared  MPI_File_iread_shared_c;
    Write Shared           Independent Nonblocking => MPI_File_iwrite_shared MPI_File_iwrite_shared_c;

    Read  Explicit(offset) Collective Split(ReadAtAll)    => MPI_File_read_at_all_begin   MPI_File_read_at_all_begin_c   MPI_File_read_at_all_end;
    Write Explicit(offset) Collective Split(WriteAtAll)   => MPI_File_write_at_all_begin  MPI_File_write_at_all_begin_c  MPI_File_write_at_all_end;
    Read  Individual       Collective Split(ReadAll)      => MPI_File_read_all_begin      MPI_File_read_all_begin_c      MPI_File_read_all_end;
    Write Individual       Collective Split(WriteAll)     => MPI_File_write_all_begin     MPI_File_write_all_begin_c     MPI_File_write_all_end;
    Read  Shared           Collective Split(ReadOrdered)  => MPI_File_read_ordered_begin  MPI_File_read_ordered_begin_c  MPI_File_read_ordered_end;
    Write Shared           Collective Split(WriteOrdered) => MPI_File_write_ordered_begin MPI_File_write_ordered_begin_c MPI_File_write_ordered_end;
}
