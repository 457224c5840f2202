//! How many threads share some work, and starting them.

use crate::Work;

/// The buffers of all workers together take at most this much memory, however many cores there are. It is enough for
/// eight workers with segments of 256 KiB, whose buffers have a page more than 1.25 MiB.
pub(crate) const MEMORY: usize = (10 << 20) + (64 << 10);

/// Returns how many workers to start for this many units of work, each of which takes this much memory.
pub(crate) fn workers(work: &Work<'_>, memory: usize, units: u64) -> usize {
    let most = (MEMORY / memory.max(1)).min(usize::try_from(units).unwrap_or(usize::MAX));
    // On Linux, the number of cores comes from several files. To read them takes half as long as to seal a short
    // message.
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match work.threads {
        _ if most <= 1 => 1,
        0 => cores().min(most),
        threads => threads.min(most),
    }
}

/// Runs `job` on this many threads, including the calling thread. As `job` is a trait object, the compiler makes this
/// function once, and not for each job.
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
