//! Communication under way, which owns its buffer until it is done.

use std::collections::VecDeque;

use super::handles::Slot;
use super::library::{Library, call, library};
use crate::error::{Class, Error, Result};

/// A buffer that the MPI is reading or filling. It comes back when the MPI has finished.
///
/// Dropped before that, the buffer is never freed: the MPI may still use it.
#[derive(Debug)]
#[must_use]
pub struct Pending<T> {
    buffer: Option<T>,
    requests: VecDeque<Slot>,
}

impl<T> Pending<T> {
    pub(super) fn new(buffer: T, requests: Vec<Slot>) -> Pending<T> {
        Pending { buffer: Some(buffer), requests: requests.into() }
    }

    /// Gives the buffer back if the MPI has finished, and lets the MPI work on it if not.
    pub fn poll(&mut self) -> Result<Option<T>> {
        let library = library()?;
        while let Some(slot) = self.requests.front_mut() {
            let mut done = 0;
            let status = library.constants().status_ignore;
            call!(library, test(slot.pointer(), &mut done, status))?;
            if done == 0 {
                return Ok(None);
            }
            self.requests.pop_front();
        }
        Ok(self.buffer.take())
    }

    /// Waits until the MPI has finished.
    pub fn wait(mut self) -> Result<T> {
        let library = library()?;
        while let Some(slot) = self.requests.front_mut() {
            wait_for(library, slot)?;
            self.requests.pop_front();
        }
        let given = || Error::new(Class::Intern, "waiting for a buffer that was given back");
        self.buffer.take().ok_or_else(given)
    }
}

fn wait_for(library: &Library, slot: &mut Slot) -> Result<()> {
    call!(library, wait(slot.pointer(), library.constants().status_ignore))
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            std::mem::forget(self.buffer.take());
        }
    }
}
