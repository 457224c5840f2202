//! Packing on all cores, without keys.
//!
//! Workers are alike: each in turn holds the packer while it takes a stretch, then reads and hashes its files alone, and writes it when its turn comes.
//! Where the output is a file they could write at positions, without waiting for their turns: that was a third slower, since a file takes one
//! writer at a time, and those that wait spin.

use crate::{Error, Packer, Work};
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes in a stretch.
const STRETCH: usize = 512 << 10;
/// Buffers of all workers together stay below this.
const MEMORY: usize = 16 << 20;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct State {
    packer: Packer,
    number: u64,
    failure: Option<Error>,
}

/// A stretch that a worker has. However its work ends, the next one's turn comes then.
struct Stretch<'a> {
    number: u64,
    turn: &'a Turn,
    done: bool,
}

/// Whose turn it is to write.
#[derive(Default)]
struct Turn {
    /// All stretches before this one are written; `None` if one never will be.
    next: Mutex<Option<u64>>,
    changed: Condvar,
}

impl Stretch<'_> {
    fn wait(&self) -> Result<(), Error> {
        let early = |next: &mut Option<u64>| next.is_some_and(|next| next != self.number);
        let next = self.turn.changed.wait_while(lock(&self.turn.next), early).unwrap_or_else(PoisonError::into_inner);
        next.map(|_| ()).ok_or(Error::Stopped)
    }
}

impl Drop for Stretch<'_> {
    fn drop(&mut self) {
        let mut next = lock(&self.turn.next);
        *next = if self.done { next.map(|next| next + 1) } else { None };
        self.turn.changed.notify_all();
    }
}

/// Packs into a stream or a file. Returns the packer, which knows what there was.
///
/// # Errors
/// The first that happened. The output is then of no use.
pub fn pack(packer: Packer, output: impl Write + Send, work: &Work<'_>) -> Result<Packer, Error> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if work.threads == 0 { cores() } else { work.threads }.min(MEMORY / STRETCH);
    let state = Mutex::new(State { packer, number: 0, failure: None });
    let output = Mutex::new(output);
    let turn = Turn { next: Mutex::new(Some(0)), ..Turn::default() };
    let worker = || {
        let mut buffer = vec![0; STRETCH];
        loop {
            let mut held = lock(&state);
            if held.failure.is_some() || held.packer.ended() {
                return;
            }
            let mut stretch = Stretch { number: held.number, turn: &turn, done: false };
            let taken = match work.stop.is_some_and(|stop| stop()) {
                true => Err(Error::Stopped),
                false => held.packer.take(&mut buffer),
            };
            held.number += 1;
            drop(held);
            let result = taken.and_then(|(length, job)| {
                job.complete(&mut buffer[..length])?;
                stretch.wait()?;
                lock(&output).write_all(&buffer[..length]).map_err(Error::Write)?;
                work.progress.into_iter().for_each(|progress| progress(length as u64));
                Ok(())
            });
            if let Err(error) = result {
                let mut state = lock(&state);
                // What others meet because of a failure is no news.
                if state.failure.is_none() || matches!(state.failure, Some(Error::Stopped)) {
                    state.failure = Some(error);
                }
                return;
            }
            stretch.done = true;
        }
    };
    std::thread::scope(|scope| {
        let spawned = (1..workers).filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, worker).ok());
        let _others: Vec<_> = spawned.collect();
        worker();
    });
    let State { packer, failure, .. } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failure {
        Some(error) => Err(error),
        None => lock(&output).flush().map(|()| packer).map_err(Error::Write),
    }
}
