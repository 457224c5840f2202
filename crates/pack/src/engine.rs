//! Packing on all cores, without keys.
//!
//! Workers are alike: each in turn holds the packer while it takes a stretch, then reads and hashes its files alone, and writes it: at its place where
//! the output is a file, when its turn comes where it is a pipe.

use crate::{Error, Packer, Work};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes in a stretch.
const STRETCH: usize = 1 << 20;
/// Buffers of all workers together stay below this.
const MEMORY: usize = 16 << 20;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Packs into a regular file, which is empty and not open for appending. Returns the packer, which knows what there was.
///
/// # Errors
/// The first that happened. The output is then of no use.
pub fn pack_file(packer: Packer, output: &File, work: &Work<'_>) -> Result<Packer, Error> {
    run(packer, work, |stretch, bytes| output.write_all_at(bytes, stretch.position))
}

/// Packs into a stream, in order.
///
/// # Errors
/// The first that happened.
pub fn pack(packer: Packer, output: impl Write + Send, work: &Work<'_>) -> Result<Packer, Error> {
    let output = Mutex::new(output);
    let packer = run(packer, work, |stretch, bytes| {
        stretch.wait()?;
        lock(&output).write_all(bytes)
    })?;
    lock(&output).flush().map_err(Error::Write)?;
    Ok(packer)
}

struct State {
    packer: Packer,
    number: u64,
    position: u64,
    failure: Option<Error>,
}

/// A stretch that a worker has. However its work ends, the next one's turn comes then.
struct Stretch<'a> {
    number: u64,
    position: u64,
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
    fn wait(&self) -> io::Result<()> {
        let early = |next: &mut Option<u64>| next.is_some_and(|next| next != self.number);
        let next = self.turn.changed.wait_while(lock(&self.turn.next), early).unwrap_or_else(PoisonError::into_inner);
        next.map(|_| ()).ok_or_else(|| io::Error::other(Error::Stopped))
    }
}

impl Drop for Stretch<'_> {
    fn drop(&mut self) {
        let mut next = lock(&self.turn.next);
        *next = if self.done { next.map(|next| next + 1) } else { None };
        self.turn.changed.notify_all();
    }
}

fn run(packer: Packer, work: &Work<'_>, put: impl Fn(&Stretch<'_>, &[u8]) -> io::Result<()> + Sync) -> Result<Packer, Error> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if work.threads == 0 { cores() } else { work.threads }.min(MEMORY / STRETCH);
    let state = Mutex::new(State { packer, number: 0, position: 0, failure: None });
    let turn = Turn { next: Mutex::new(Some(0)), ..Turn::default() };
    let worker = || {
        let mut buffer = vec![0; STRETCH];
        loop {
            let mut held = lock(&state);
            if held.failure.is_some() || held.packer.ended() {
                return;
            }
            let mut stretch = Stretch { number: held.number, position: held.position, turn: &turn, done: false };
            let taken = match work.stop.is_some_and(|stop| stop()) {
                true => Err(Error::Stopped),
                false => held.packer.take(&mut buffer),
            };
            held.number += 1;
            held.position += taken.as_ref().map_or(0, |(length, _)| *length as u64);
            drop(held);
            let result = taken.and_then(|(length, job)| {
                job.complete(&mut buffer[..length])?;
                put(&stretch, &buffer[..length]).map_err(Error::Write)?;
                work.progress.into_iter().for_each(|progress| progress(length as u64));
                Ok(())
            });
            if let Err(error) = result {
                // What others meet because of it comes later.
                lock(&state).failure.get_or_insert(error);
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
    failure.map_or(Ok(packer), Err)
}
