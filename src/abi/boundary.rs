//! The border between a C program and this library: handles become files, errors become codes,
//! and a panic ends the job instead of crossing into C.

use std::any::Any;
use std::ffi::c_int;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use super::errhandlers::{self, Handler};
use super::handles::{self, MPI_File, OpenFile};
use crate::error::{Error, Result};
use crate::file::File;
use crate::hint::Environment;
use crate::mpi::{self, Comm};
use crate::report;

const MPI_SUCCESS: c_int = 0;

/// What a routine returns when there is no MPI to ask for a better code.
const NO_MPI: c_int = 16;

/// Runs what `routine` asks of an open file; an error goes to the file's error handler.
pub(super) fn on_file(
    routine: &'static str,
    fh: MPI_File,
    body: impl FnOnce(&File) -> Result<()>,
) -> c_int {
    on_open_file(routine, fh, |open_file| body(&open_file.file))
}

/// As `on_file`, for routines that concern the handle too.
pub(super) fn on_open_file(
    routine: &'static str,
    fh: MPI_File,
    body: impl FnOnce(&OpenFile) -> Result<()>,
) -> c_int {
    let run = || match handles::find(fh) {
        Ok(open_file) => {
            let outcome = body(&open_file);
            (Some(open_file), outcome)
        }
        Err(error) => (None, Err(error)),
    };
    let (open_file, outcome) = net(routine, run);
    answer(routine, fh, open_file, outcome)
}

/// Runs what concerns no open file; an error goes to the error handler of MPI_FILE_NULL.
pub(super) fn on_no_file(routine: &'static str, body: impl FnOnce() -> Result<()>) -> c_int {
    let outcome = net(routine, body);
    answer(routine, MPI_File::null(), None, outcome)
}

/// Turns the outcome into a code. Outside the net: an error handler in C++ may throw.
fn answer(
    routine: &'static str,
    fh: MPI_File,
    open_file: Option<Arc<OpenFile>>,
    outcome: Result<()>,
) -> c_int {
    match (outcome, open_file) {
        (Ok(()), _) => MPI_SUCCESS,
        (Err(error), Some(open_file)) => raise(&error.within(routine), fh, &open_file.handler),
        (Err(error), None) => {
            raise(&error.within(routine), MPI_File::null(), errhandlers::of_null_file())
        }
    }
}

/// Gives `error` to `handler`; the code that the routine returns.
fn raise(error: &Error, fh: MPI_File, handler: &Handler) -> c_int {
    if mpi::library().is_err() {
        print(error);
        return NO_MPI;
    }
    if *VERBOSE || handler.is_fatal() {
        print(error);
    }
    handler.call(fh, mpi::error_code(error))
}

static VERBOSE: LazyLock<bool> =
    LazyLock::new(|| Environment::of_process().says_yes("MPIIO_RS_VERBOSE"));

/// Tells the user, and who says so.
fn print(text: impl Display) {
    let world = mpi::has_world().then(Comm::world);
    let line = match world.map(|world| world.and_then(Comm::rank)) {
        Some(Ok(rank)) => format!("mpiio-rs[rank {rank}]: {text}\n"),
        _ => format!("mpiio-rs: {text}\n"),
    };
    report::tell(&line);
}

/// Runs `body`; a panic in it ends the job, since other ranks may wait for bytes that this rank
/// will never send.
fn net<T>(routine: &'static str, body: impl FnOnce() -> T) -> T {
    mpi::complete_kept();
    let spanned = || tracing::debug_span!("routine", name = routine).in_scope(body);
    catch_unwind(AssertUnwindSafe(spanned)).unwrap_or_else(|panic| abort(routine, &*panic))
}

/// The last words. Where it happened was printed by the panic hook.
fn abort(routine: &str, panic: &(dyn Any + Send)) -> ! {
    let what = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic");
    print(format_args!("{routine}: a fault in mpiio-rs itself, the job ends: {what}"));
    match mpi::has_world().then(Comm::world) {
        Some(Ok(world)) => world.abort(NO_MPI),
        _ => std::process::abort(),
    }
}
