//! The output of a stream. If the output takes units in order, a worker waits until all earlier units are written.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::api::engine::units::Drain;
use crate::{Error, Work};

pub(super) struct Output<S> {
    state: Mutex<OutputState<S>>,
    turn: Condvar,
    /// A worker can read this flag without waiting for the worker that writes.
    failed: AtomicBool,
}

struct OutputState<S> {
    output: S,
    next: u64,
    written: u64,
    failure: Option<Error>,
}

impl<S: Drain> Output<S> {
    pub(super) fn new(output: S) -> Self {
        Self {
            state: Mutex::new(OutputState { output, next: 0, written: 0, failure: None }),
            turn: Condvar::new(),
            failed: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, OutputState<S>> {
        self.state.lock()
    }

    pub(super) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Records an error, unless an earlier error is recorded, and ends the work.
    fn fail(&self, state: &mut OutputState<S>, error: Error) {
        state.failure.get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Writes a unit when its turn comes. After the write, completes the remaining work on the unit, while another
    /// worker writes the next unit. If the remaining work fails, the error is recorded only if no earlier error was
    /// recorded.
    pub(super) fn put(&self, number: u64, bytes: &[u8], result: Result<usize, Error>, work: &Work<'_>) {
        let waiting = |state: &mut OutputState<S>| S::ORDERED && state.next != number && state.failure.is_none();
        let mut state = self.lock();
        self.turn.wait_while(&mut state, waiting);
        if state.failure.is_none() {
            let written = state.output.put(number, bytes).map_err(Error::Write);
            state.written += bytes.len() as u64;
            let (rest, result) = match written {
                Ok(rest) => (Some(rest), result),
                Err(error) => (None, Err(error)),
            };
            match result {
                Ok(data) => work.progress.into_iter().for_each(|progress| progress(data as u64)),
                Err(error) => self.fail(&mut state, error),
            }
            state.next += 1;
            drop(state);
            self.turn.notify_all();
            if let Some(Err(error)) = rest.map(|rest| S::complete(rest, bytes)) {
                self.fail(&mut self.lock(), Error::Write(error));
                self.turn.notify_all();
            }
        } else {
            self.turn.notify_all();
        }
    }

    /// Returns the number of written bytes and the output, or the error.
    pub(super) fn finish(self) -> Result<(u64, S), Error> {
        let state = self.state.into_inner();
        state.failure.map_or(Ok((state.written, state.output)), Err)
    }
}

/// A worker holds this guard while it works. If a writer or callback of the caller panics, the guard ends the work, so
/// the other workers do not wait forever.
pub(super) struct Fallen<'a, S: Drain>(pub(super) &'a Output<S>);

impl<S: Drain> Drop for Fallen<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(&mut self.0.lock(), Error::Stopped);
            self.0.turn.notify_all();
        }
    }
}
