//! Determines the number of threads for a job, and starts the threads.

use crate::Work;

/// The maximum amount of memory for the buffers of all workers together, however many cores there are. This amount of
/// memory is enough for eight workers with segments of 256 KiB. The buffers of a worker with segments of 256 KiB take
/// 1.25 MiB and one page.
pub(crate) const MEMORY: usize = (10 << 20) + (64 << 10);

/// Returns the number of workers to start for a job with `units` units of work. Each worker takes `memory` bytes of
/// memory.
pub(crate) fn workers(work: &Work<'_>, memory: usize, units: u64) -> usize {
    workers_within(MEMORY, work, memory, units)
}

/// The same with another maximum amount of memory for all workers together.
pub(crate) fn workers_within(most: usize, work: &Work<'_>, memory: usize, units: u64) -> usize {
    let most = (most / memory.max(1)).min(usize::try_from(units).unwrap_or(usize::MAX));
    // On Linux, the standard library computes the number of cores from several files. Reading these files takes half as
    // long as sealing a short message.
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match work.threads {
        _ if most <= 1 => 1,
        0 => cores().min(most),
        threads => threads.min(most),
    }
}

/// Runs `job` on `count` threads, including the calling thread. Because `job` is a trait object, the compiler compiles
/// this function only once, and not once for each type of job.
pub(crate) fn on_threads(count: usize, job: &(dyn Fn() + Sync)) {
    if count == 1 {
        return job();
    }
    std::thread::scope(|scope| {
        // If the system refuses more threads, the running threads do all of the work.
        let spawned = (1..count).filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, job).ok());
        let _helpers: Vec<_> = spawned.collect();
        job();
    });
}
