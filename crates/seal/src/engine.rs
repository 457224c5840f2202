//! The engine: three ways through a message, one format, the same errors.
//!
//! **Positioned** ([`file`]), where input and output are regular files: workers take stretches of segments from a counter; each reads, works
//! and writes at positions that it computes itself. No queue, no order, no hand-over: waking a sleeping thread on another core costs more
//! than sealing a segment. Memory is one pair of buffers for each worker.
//!
//! **Streamed** ([`stream`]), where one of them is a pipe: the workers are alike here too. Each in turn holds the input while it reads a unit,
//! works on it alone, and holds the output when its unit's turn comes. Whoever is slower makes the others wait: memory is a pair of
//! buffers for each worker again.
//!
//! **In memory** ([`memory`]), where both are bytes: segments are taken from one iterator and worked on where they lie.
//!
//! All report the error of the first segment that fails, whichever worker met it first.

mod buffer;
pub(crate) mod file;
pub(crate) mod memory;
pub(crate) mod stream;
pub(crate) mod units;

#[cfg(test)]
mod tests;

#[cfg(test)]
use buffer::count as buffers;

use crate::Work;

/// Buffers of all workers together stay below this, however many cores there are.
const MEMORY: usize = 10 << 20;

/// How many workers there should be for units of work that need so much memory each.
fn workers(work: &Work<'_>, memory: usize, units: u64) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = if work.threads == 0 { cores() } else { work.threads };
    wanted.min(MEMORY / memory.max(1)).min(usize::try_from(units).unwrap_or(usize::MAX)).max(1)
}

/// Runs `job` on so many threads, of which this is one.
fn on_threads(count: usize, job: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        // Where the system has no thread to give, the others do its work.
        let spawned = (1..count).filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, &job).ok());
        let _helpers: Vec<_> = spawned.collect();
        job();
    });
}
