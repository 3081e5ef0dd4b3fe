//! Error handlers of files.
//!
//! A file error handler is made as an error handler for communicators of the MPI underneath, whose
//! function does nothing: so MPI_Errhandler_free, MPI_Errhandler_c2f and the rest work on it as on
//! any other. Which function of the user it stands for is kept here. A file that has such a handler
//! owns a private communicator that carries it, and with that the library counts the references.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{LazyLock, Once};

use parking_lot::Mutex;

use super::arguments::{Given, HandleOut};
use super::boundary;
use super::cxx::CxxFunction;
use super::handles::{self, MPI_File};
use crate::error::{Class, Error, Result};
use crate::mpi::{self, Comm, Destructor, Errhandler};

/// A function of the user for errors of files, in each of the ways it can be called.
#[derive(Clone, Copy)]
pub(super) enum UserFunction {
    /// `void (MPI_File *, int *, ...)`
    C(CFunction),
    /// `SUBROUTINE (FILE, ERROR_CODE)`
    Fortran(FortranFunction),
    /// `void (MPI::File &, int *, ...)`
    Cxx(CxxFunction),
    /// MPICH's `void (MPI_File, int, void *extra_state)`, and the extra state as an address.
    Extended(ExtendedFunction, usize),
}

pub(super) type CFunction = unsafe extern "C-unwind" fn(*mut MPI_File, *mut c_int, ...);
pub(super) type FortranFunction = unsafe extern "C-unwind" fn(*mut c_int, *mut c_int);
pub(super) type ExtendedFunction = unsafe extern "C-unwind" fn(MPI_File, c_int, *mut c_void);

impl UserFunction {
    /// Calls it; the code that the routine is to return, which the function may change.
    fn call(self, mut fh: MPI_File, mut code: c_int) -> c_int {
        match self {
            // SAFETY: the user gave the function for this use; both places live until it returns.
            UserFunction::C(function) => unsafe { function(&mut fh, &mut code) },
            UserFunction::Fortran(function) => {
                let mut integer = fh.to_integer();
                // SAFETY: as above; a Fortran handle is an integer passed by address.
                unsafe { function(&mut integer, &mut code) }
            }
            UserFunction::Cxx(function) => function.call(fh, &mut code),
            // SAFETY: as above, and the extra state is the user's own.
            UserFunction::Extended(function, extra_state) => unsafe {
                function(fh, code, extra_state as *mut c_void)
            },
        }
        code
    }
}

/// The functions behind the handlers we made. A handler that was freed leaves its row here, until
/// the MPI gives the same handle to the next one.
static FUNCTIONS: LazyLock<Mutex<HashMap<usize, UserFunction>>> = LazyLock::new(Mutex::default);

/// A new error handler that stands for `function`.
pub(super) fn create(function: UserFunction) -> Result<Errhandler> {
    let errhandler = Errhandler::create()?;
    FUNCTIONS.lock().insert(errhandler.0, function);
    Ok(errhandler)
}

/// Has `errhandler` stand for another function, if we made it.
pub(super) fn change(errhandler: Errhandler, change: impl FnOnce(UserFunction) -> UserFunction) {
    if let Some(function) = FUNCTIONS.lock().get_mut(&errhandler.0) {
        *function = change(*function);
    }
}

/// The error handler of one file.
pub(super) struct Handler(Mutex<Option<Attached>>);

/// A handler other than MPI_ERRORS_RETURN, and the communicator that holds its reference. There is
/// none for MPI_FILE_NULL in a program without MPI_Init.
#[derive(Clone, Copy)]
struct Attached {
    holder: Option<Comm>,
    errhandler: Errhandler,
    function: Option<UserFunction>,
}

static NULL_FILE: Handler = Handler::errors_return();

/// The handler of MPI_FILE_NULL: for errors without a file, and for files yet to be opened.
pub(super) fn of_null_file() -> &'static Handler {
    &NULL_FILE
}

impl Handler {
    /// MPI_ERRORS_RETURN, the default of files.
    const fn errors_return() -> Handler {
        Handler(Mutex::new(None))
    }

    /// What a new file starts with: the handler of MPI_FILE_NULL.
    pub(super) fn inherited(comm: Comm) -> Result<Handler> {
        let handler = Handler::errors_return();
        let parent = *NULL_FILE.0.lock();
        match parent {
            None => {}
            // The program may have freed it; what it stands for is known.
            Some(Attached { holder: None, function: Some(_), .. }) => *handler.0.lock() = parent,
            Some(Attached { errhandler, function, .. }) => {
                handler.attach(errhandler, function, Some(comm))?;
            }
        }
        Ok(handler)
    }

    /// `comm` is the file's, if there is one.
    fn set(&self, errhandler: Errhandler, comm: Option<Comm>) -> Result<()> {
        if errhandler.is_null() {
            return Err(Error::new(Class::Arg, "the error handler is MPI_ERRHANDLER_NULL"));
        }
        if errhandler == Errhandler::errors_return()? {
            self.release();
            return Ok(());
        }
        let function = FUNCTIONS.lock().get(&errhandler.0).copied();
        self.attach(errhandler, function, comm)
    }

    fn attach(
        &self,
        errhandler: Errhandler,
        function: Option<UserFunction>,
        comm: Option<Comm>,
    ) -> Result<()> {
        let mut attached = self.0.lock();
        let holder = match *attached {
            Some(previous) => previous.holder,
            None => {
                free_at_finalize();
                alone(comm)?
            }
        };
        if let Some(Err(error)) = holder.map(|holder| holder.set_errhandler(errhandler)) {
            if attached.is_none() {
                holder.inspect(|holder| holder.free());
            }
            return Err(error);
        }
        *attached = Some(Attached { holder, errhandler, function });
        Ok(())
    }

    /// A new reference to the handler: the caller has to free it.
    fn get(&self, comm: Option<Comm>) -> Result<Errhandler> {
        let attached = *self.0.lock();
        match (attached, comm) {
            (Some(Attached { holder: Some(holder), .. }), _) => holder.errhandler(),
            (Some(Attached { function: Some(function), .. }), _) => create(function),
            (Some(Attached { errhandler, .. }), _) => Ok(errhandler),
            (None, _) if mpi::has_world() => returning_holder()?.errhandler(),
            // The library's own communicators return errors too.
            (None, Some(comm)) => comm.errhandler(),
            (None, None) => Errhandler::errors_return(),
        }
    }

    /// Whether an error given to this handler ends the job.
    pub(super) fn is_fatal(&self) -> bool {
        self.0.lock().is_some_and(|attached| attached.function.is_none())
    }

    /// Calls the handler of the file `fh`; the code that the routine is to return.
    pub(super) fn call(&self, fh: MPI_File, code: c_int) -> c_int {
        let attached = *self.0.lock(); // the user's function may come back here
        match attached {
            None => code,
            Some(Attached { function: Some(function), .. }) => function.call(fh, code),
            Some(Attached { holder, .. }) => {
                match holder {
                    Some(holder) => drop(holder.call_errhandler(code)),
                    None => std::process::abort(), // MPI_ERRORS_ARE_FATAL, and nobody to tell
                }
                code
            }
        }
    }

    /// Goes back to MPI_ERRORS_RETURN.
    pub(super) fn release(&self) {
        if let Some(Attached { holder: Some(holder), .. }) = self.0.lock().take() {
            holder.free();
        }
    }
}

/// A communicator for a handler to stay with; `comm` is one that there is.
fn alone(comm: Option<Comm>) -> Result<Option<Comm>> {
    match comm {
        _ if mpi::has_world() => Comm::self_()?.dup().map(Some),
        comm => comm.map(Comm::alone).transpose(),
    }
}

static RETURNING_HOLDER: Mutex<Option<Comm>> = Mutex::new(None);

/// A communicator whose handler is MPI_ERRORS_RETURN: who asks a file for its default handler gets
/// a counted reference from here, because he may free it.
fn returning_holder() -> Result<Comm> {
    let mut holder = RETURNING_HOLDER.lock();
    if let Some(holder) = *holder {
        return Ok(holder);
    }
    free_at_finalize();
    let duplicate = Comm::self_()?.dup()?;
    *holder = Some(duplicate);
    Ok(duplicate)
}

/// Sees to it that the communicators of no file are freed when MPI ends.
fn free_at_finalize() {
    static ONCE: Once = Once::new();
    if !mpi::has_world() {
        return;
    }
    ONCE.call_once(|| {
        // Without it they live a little longer, which harms nobody.
        let _ = mpi::on_finalize(|| {
            NULL_FILE.release();
            if let Some(holder) = RETURNING_HOLDER.lock().take() {
                holder.free();
            }
        });
    });
}

/// Does `body` with the handler of `fh`, which may be MPI_FILE_NULL.
fn on_handler(
    routine: &'static str,
    fh: MPI_File,
    body: impl FnOnce(&Handler, Option<Comm>) -> Result<()>,
) -> c_int {
    if fh == MPI_File::null() {
        return boundary::on_no_file(routine, || body(&NULL_FILE, None));
    }
    boundary::on_open_file(routine, fh, |open_file| {
        body(&open_file.handler, Some(open_file.file.comm()))
    })
}

/// Gives `code` to the handler of `fh`. Outside the panic net: the handler may throw.
fn call_errhandler(routine: &'static str, fh: MPI_File, code: c_int) -> c_int {
    if fh == MPI_File::null() {
        NULL_FILE.call(fh, code);
        return 0;
    }
    match handles::find(fh) {
        Ok(open_file) => {
            open_file.handler.call(fh, code);
            0
        }
        Err(error) => boundary::on_no_file(routine, || Err(error)),
    }
}

fn required<F>(function: Option<F>) -> Result<F> {
    function.ok_or_else(|| Error::new(Class::Arg, "the error handler's function is null"))
}

routines! {
    fn MPI_File_create_errhandler(
        function: Option<CFunction>, errhandler: HandleOut<Errhandler>
    ) -> c_int = |routine| boundary::on_no_file(routine, || {
        errhandler.set("errhandler", || create(UserFunction::C(required(function)?)))
    });

    fn MPIX_File_create_errhandler_x(
        function: Option<ExtendedFunction>, destructor: Option<Destructor>,
        extra_state: *mut c_void, errhandler: HandleOut<Errhandler>
    ) -> c_int = |routine| boundary::on_no_file(routine, || {
        let function = UserFunction::Extended(required(function)?, extra_state.addr());
        errhandler.set("errhandler", || {
            let carrier = Errhandler::create_with_state(destructor, extra_state.addr())?;
            FUNCTIONS.lock().insert(carrier.0, function);
            Ok(carrier)
        })
    });

    fn MPI_File_set_errhandler(fh: MPI_File, errhandler: Given<Errhandler>) -> c_int
        = |routine| on_handler(routine, fh, |handler, comm| handler.set(errhandler.handle(), comm));

    fn MPI_File_get_errhandler(fh: MPI_File, errhandler: HandleOut<Errhandler>) -> c_int
        = |routine| on_handler(routine, fh, |handler, comm| {
            errhandler.set("errhandler", || handler.get(comm))
        });

    fn MPI_File_call_errhandler(fh: MPI_File, errorcode: c_int) -> c_int
        = |routine| call_errhandler(routine, fh, errorcode);
}
