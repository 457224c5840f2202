//! Packs on all cores, without keys.
//!
//! Each worker thread locks the packer and takes the next chunk of the pack. The worker reads and hashes the files of
//! the chunk without the lock. The worker waits until all earlier chunks are written, and then writes this chunk. In a
//! measurement, writing the chunks in any order, each to its offset, took a third longer: only one thread at a time can
//! write to a file, and the other threads wait in loops.

use std::io::Write;

use parking_lot::{Condvar, Mutex};

use crate::error::Error;
use crate::pack::Packer;
use crate::work::Work;

/// The length of a chunk, in bytes.
const CHUNK: usize = 512 << 10;
/// The maximum number of bytes in the buffers of all workers.
const MEMORY: usize = 16 << 20;

struct PackState {
    packer: Packer,
    /// The number of the next chunk.
    number: u64,
    failure: Option<Error>,
}

/// A chunk that a worker holds. When a worker drops a chunk that it has written, the next chunk may be written. If a
/// chunk is dropped before it was written, the other workers stop.
struct Chunk<'a> {
    number: u64,
    turn: &'a Turn,
    /// Whether the chunk was written.
    done: bool,
}

/// Decides which chunk may be written now.
#[derive(Default)]
struct Turn {
    /// The number of the next chunk to write; `None` after a chunk failed.
    next: Mutex<Option<u64>>,
    changed: Condvar,
}

impl Chunk<'_> {
    fn wait(&self) -> Result<(), Error> {
        let early = |next: &mut Option<u64>| next.is_some_and(|next| next != self.number);
        let mut next = self.turn.next.lock();
        self.turn.changed.wait_while(&mut next, early);
        next.map(|_| ()).ok_or(Error::Stopped)
    }
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        let mut next = self.turn.next.lock();
        *next = if self.done { next.map(|next| next + 1) } else { None };
        self.turn.changed.notify_all();
    }
}

/// Packs a folder into `output`. Returns the packer, with its notes and counts.
///
/// # Errors
/// The first error of any thread. The output is then not usable.
pub fn pack(packer: Packer, output: impl Write + Send, work: &Work<'_>) -> Result<Packer, Error> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if work.threads == 0 { cores() } else { work.threads }.min(MEMORY / CHUNK);
    let state = Mutex::new(PackState { packer, number: 0, failure: None });
    let output = Mutex::new(output);
    let turn = Turn { next: Mutex::new(Some(0)), ..Turn::default() };
    let worker = || {
        let mut buffer = vec![0; CHUNK];
        loop {
            let mut held = state.lock();
            if held.failure.is_some() || held.packer.ended() {
                return;
            }
            let mut chunk = Chunk { number: held.number, turn: &turn, done: false };
            let taken =
                if work.stop.is_some_and(|stop| stop()) { Err(Error::Stopped) } else { held.packer.take(&mut buffer) };
            held.number += 1;
            drop(held);
            let result = taken.and_then(|(length, job)| {
                job.complete(&mut buffer[..length])?;
                chunk.wait()?;
                output.lock().write_all(&buffer[..length]).map_err(Error::Write)?;
                work.progress.into_iter().for_each(|progress| progress(length as u64));
                Ok(())
            });
            if let Err(error) = result {
                let mut state = state.lock();
                // The other workers report `Stopped`, but only because of the first failure.
                if state.failure.is_none() || matches!(state.failure, Some(Error::Stopped)) {
                    state.failure = Some(error);
                }
                return;
            }
            chunk.done = true;
        }
    };
    std::thread::scope(|scope| {
        let spawned = (1..workers).filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, worker).ok());
        let _others: Vec<_> = spawned.collect();
        worker();
    });
    let PackState { packer, failure, .. } = state.into_inner();
    match failure {
        Some(error) => Err(error),
        None => output.lock().flush().map(|()| packer).map_err(Error::Write),
    }
}
