//! Requests: generalized ones, so that all of the program's completion calls accept them.
//!
//! A request is completed by a call of MPI, which only a thread may make that the program lets call
//! MPI. Where every thread may, the one that did the work completes the request. Elsewhere it puts
//! it into a list, and a thread of the program completes what is there when it comes by: in the
//! MPI's progress or in its completion calls (`progress.rs` knows how), or in a file routine.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::error_code::error_code;
use super::handles::{Request, Slot};
use super::library::{call, library};
use super::pending::Pending;
use super::progress::{self, Hook};
use super::status::{set_error, set_status};
use crate::error::{Error, Result};

/// Fills the status of a request: extra state, status.
pub(super) type QueryFunction = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
/// Frees what belongs to a request: extra state.
pub(super) type FreeFunction = unsafe extern "C" fn(*mut c_void) -> c_int;
/// Asks a request to stop: extra state, whether it is complete.
pub(super) type CancelFunction = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

impl Request {
    /// MPI_REQUEST_NULL.
    pub fn null() -> Result<Request> {
        Ok(Request(library()?.handles().request_null))
    }
}

/// What stands behind a request: bytes moved, or why not, once that is known.
pub struct Promise {
    request: OnceLock<Request>,
    outcome: OnceLock<Result<u64>>,
    /// What other ranks have still to say.
    exchange: Mutex<Option<Exchange>>,
    /// What they said, where it is bad.
    refused: OnceLock<Error>,
    completed: AtomicBool,
}

/// Values under way between ranks, and what they will mean for a request.
pub struct Exchange {
    /// The values.
    pub values: Pending<Box<[i64]>>,
    /// What they mean.
    pub judge: Judge,
}

/// Tells from the values of an exchange whether all is well.
pub type Judge = Box<dyn FnOnce(&[i64]) -> Result<()> + Send>;

/// Those with an outcome whose requests are to be completed by a thread of the program.
static KEPT: Mutex<Vec<Arc<Promise>>> = Mutex::new(Vec::new());
/// How many they are, for a look without the lock.
static KEPT_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether this MPI lets requests be completed later.
pub fn can_promise() -> bool {
    progress::hook() != Hook::None
}

/// A request that is complete already, with a status that says `bytes` were transferred.
pub fn completed_request(bytes: u64) -> Result<Request> {
    let promise = Promise::new();
    let request = promise.start(Hook::None)?;
    let _ = promise.outcome.set(Ok(bytes));
    promise.complete()?;
    Ok(request)
}

/// A request that will be complete when `Promise::keep` has been called and the exchange, if
/// there is one, is over.
pub fn promised_request() -> Result<(Request, Arc<Promise>)> {
    let promise = Promise::new();
    let hook = progress::hook();
    if hook == Hook::Worker {
        return Ok((promise.start(hook)?, promise));
    }
    // First, because a request that nobody completes could not be given back.
    progress::one_more()?;
    let started = promise.start(hook);
    if started.is_err() {
        progress::fewer(1);
        progress::rest();
    }
    Ok((started?, promise))
}

/// Sees an exchange through that no request of this rank waits for.
pub fn see_through(exchange: Exchange) -> Result<()> {
    let promise = Promise::new();
    promise.after(exchange);
    progress::one_more()?;
    promise.keep(Ok(0));
    Ok(())
}

impl Promise {
    fn new() -> Arc<Promise> {
        Arc::new(Promise {
            request: OnceLock::new(),
            outcome: OnceLock::new(),
            exchange: Mutex::new(None),
            refused: OnceLock::new(),
            completed: AtomicBool::new(false),
        })
    }

    /// Lets the request wait for an exchange too. Before `keep`, and not where the thread that did
    /// the work completes the request: it may be the one that started it, which waits for nobody.
    pub fn after(&self, exchange: Exchange) {
        *self.exchange.lock() = Some(exchange);
    }

    /// Whether the other ranks have said what they have to. Only from a thread that may call MPI.
    fn is_settled(&self) -> bool {
        let mut slot = self.exchange.lock();
        let Some(exchange) = &mut *slot else { return true };
        let verdict = match exchange.values.poll() {
            Ok(None) => return false,
            Ok(Some(values)) => slot.take().map_or(Ok(()), |exchange| (exchange.judge)(&values)),
            Err(error) => {
                *slot = None;
                Err(error)
            }
        };
        if let Err(error) = verdict {
            let _ = self.refused.set(error);
        }
        true
    }

    /// Makes the request, which holds the promise until it is freed.
    fn start(self: &Arc<Promise>, hook: Hook) -> Result<Request> {
        let library = library()?;
        let mut slot = Slot::empty();
        let state = Arc::into_raw(self.clone()).cast_mut().cast();
        let request = slot.pointer();
        match (hook, library.functions.grequest_start_polled()) {
            (Hook::Poll, Some(start)) => {
                // SAFETY: functions of ours, the state that they expect, and a place for a handle.
                let code = unsafe { start(query, free, cancel, poll, wait, state, request) };
                library.check(c"MPIX_Grequest_start", code)
            }
            _ => call!(library, grequest_start(query, free, cancel, state, request)),
        }
        // SAFETY: it came from `Arc::into_raw`, and no request holds it.
        .inspect_err(|_| drop(unsafe { Arc::from_raw(state.cast::<Promise>()) }))?;
        let request = Request(slot.word(library));
        let _ = self.request.set(request);
        Ok(request)
    }

    /// Lets the program know the outcome. From any thread.
    pub fn keep(self: Arc<Promise>, outcome: Result<u64>) {
        let _ = self.outcome.set(outcome);
        if progress::hook() == Hook::Worker {
            let _ = self.complete();
            return;
        }
        let mut kept = KEPT.lock();
        kept.push(self);
        KEPT_COUNT.store(kept.len(), Release);
    }

    fn complete(&self) -> Result<()> {
        self.completed.store(true, Release);
        match self.request.get() {
            Some(request) => call!(library()?, grequest_complete(request.0)),
            None => Ok(()),
        }
    }
}

/// Whether there are requests whose promises have been kept and which are not complete.
pub fn is_keeping() -> bool {
    KEPT_COUNT.load(Acquire) > 0
}

/// Completes the requests whose promises have been kept; tells how many. Only from a thread that
/// may call MPI.
pub fn complete_kept() -> usize {
    if !is_keeping() {
        return 0;
    }
    let kept = {
        let mut kept = KEPT.lock();
        KEPT_COUNT.store(0, Release);
        std::mem::take(&mut *kept)
    };
    // Without the lock: completing may free the request, and its functions come here again.
    let (settled, waiting): (Vec<_>, Vec<_>) =
        kept.into_iter().partition(|promise| promise.is_settled());
    if !waiting.is_empty() {
        let mut kept = KEPT.lock();
        kept.extend(waiting);
        KEPT_COUNT.store(kept.len(), Release);
    }
    for promise in &settled {
        let _ = promise.complete();
    }
    progress::fewer(settled.len());
    progress::rest();
    settled.len()
}

/// The promise behind an extra state.
///
/// # Safety
/// `state` must be that of a request that has not been freed.
unsafe fn promise<'a>(state: *mut c_void) -> &'a Promise {
    // SAFETY: it came from `Arc::into_raw`, and the request still holds it.
    unsafe { &*state.cast::<Promise>() }
}

unsafe extern "C" fn query(state: *mut c_void, status: *mut c_void) -> c_int {
    // SAFETY: the MPI passes the state of a request that is there.
    let promise = unsafe { promise(state) };
    let moved = match (promise.outcome.get(), promise.refused.get()) {
        (Some(Ok(bytes)), None) => *bytes,
        _ => 0,
    };
    // SAFETY: the MPI passes a status of its own, or the one that the program gave it.
    let told = unsafe { set_status(status, moved) };
    let failed = promise.outcome.get().and_then(|outcome| outcome.as_ref().err());
    let error = failed.or(promise.refused.get());
    let code = error.or(told.as_ref().err()).map_or(0, error_code);
    if code != 0 {
        // SAFETY: as above. Some MPIs look here and some at the answer.
        unsafe { set_error(status, code) };
    }
    code
}

unsafe extern "C" fn free(state: *mut c_void) -> c_int {
    // SAFETY: it came from `Arc::into_raw`, and the MPI frees a request once.
    drop(unsafe { Arc::from_raw(state.cast::<Promise>()) });
    progress::rest();
    0
}

/// What is under way cannot be undone: the operation completes as if nobody had asked.
unsafe extern "C" fn cancel(_state: *mut c_void, _complete: c_int) -> c_int {
    0
}

/// Called by an MPI that looks after its requests one by one; must not wait.
unsafe extern "C" fn poll(state: *mut c_void, _status: *mut c_void) -> c_int {
    complete_kept();
    // SAFETY: the MPI passes the state of a request that is there.
    if !unsafe { promise(state) }.completed.load(Acquire) {
        // Called in a loop, in which nothing else sees to messages, or to whoever needs the core.
        progress::poke();
        std::thread::yield_now();
    }
    0
}

/// The same where the program waits for the requests.
unsafe extern "C" fn wait(
    count: c_int,
    states: *mut *mut c_void,
    _timeout: f64,
    _status: *mut c_void,
) -> c_int {
    for place in 0..count as usize {
        // SAFETY: the MPI passes so many states of requests that are there.
        let promise = unsafe { promise(*states.add(place)) };
        while !promise.completed.load(Acquire) {
            if complete_kept() == 0 {
                progress::poke();
                std::thread::yield_now();
            }
        }
    }
    0
}
