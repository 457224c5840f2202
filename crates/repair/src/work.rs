//! How the work is done, which does not change the result.

/// How the work is done: on how many threads, and who hears of its progress.
#[derive(Clone, Copy, Default)]
pub struct Work<'a> {
    /// The number of threads; 0 for one on each core.
    pub threads: usize,
    /// Called on any thread, with the number of bytes that were processed since the last call.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Called between pieces of the work. When it returns true, the work ends with [`crate::Error::Stopped`].
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Work<'_> {
    pub(crate) fn threads(&self) -> usize {
        if self.threads > 0 { self.threads } else { std::thread::available_parallelism().map_or(1, usize::from) }
    }

    pub(crate) fn add(&self, bytes: u64) {
        if let Some(progress) = self.progress {
            progress(bytes);
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }
}
