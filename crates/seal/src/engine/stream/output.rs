//! The output, which takes units in order: whoever is early waits.

use crate::{Error, Work};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Output<W> {
    state: Mutex<State<W>>,
    turn: Condvar,
    /// Known without waiting for whoever is writing.
    failed: AtomicBool,
}

struct State<W> {
    output: W,
    next: u64,
    written: u64,
    failure: Option<Error>,
}

impl<W: Write> Output<W> {
    pub(super) fn new(output: W) -> Self {
        Self {
            state: Mutex::new(State { output, next: 0, written: 0, failure: None }),
            turn: Condvar::new(),
            failed: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Ends the work, unless it has failed already.
    fn fail(&self, state: &mut State<W>, error: Error) {
        state.failure.get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Writes a unit when its turn comes; what failed in it counts after all before it was written.
    pub(super) fn put(&self, number: u64, bytes: &[u8], result: Result<usize, Error>, work: &Work<'_>) {
        let waiting = |state: &mut State<W>| state.next != number && state.failure.is_none();
        let mut state = self.turn.wait_while(self.lock(), waiting).unwrap_or_else(PoisonError::into_inner);
        if state.failure.is_none() {
            let written = state.output.write_all(bytes).map_err(Error::Write);
            state.written += bytes.len() as u64;
            match written.and(result) {
                Ok(data) => work.progress.into_iter().for_each(|progress| progress(data as u64)),
                Err(error) => self.fail(&mut state, error),
            }
            state.next += 1;
        }
        self.turn.notify_all();
    }

    /// How much was written, if all went well.
    pub(super) fn finish(self) -> Result<u64, Error> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.failure.take() {
            Some(error) => Err(error),
            None => state.output.flush().map(|()| state.written).map_err(Error::Write),
        }
    }
}

/// Held by a worker while it works: if it panics, in a writer or a callback of the caller's, the others must not wait for its turn for ever.
pub(super) struct Fallen<'a, W: Write>(pub(super) &'a Output<W>);

impl<W: Write> Drop for Fallen<'_, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(&mut self.0.lock(), Error::Stopped);
            self.0.turn.notify_all();
        }
    }
}
