//! Options for sealing and opening: the number of threads, and callbacks.

/// Options: the number of threads, and callbacks that watch or stop the work.
#[derive(Clone, Copy, Default)]
pub struct Work<'a> {
    /// The number of threads. If the number of threads is 0, one thread runs on each core.
    pub threads: usize,
    /// A callback for the progress. Any thread may call it. Each call passes a number of bytes of plain data that were
    /// newly completed. Each byte is counted in only one call.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// A callback that is called between units of work. If the callback returns true, the work ends with
    /// [`crate::Error::Stopped`].
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("threads", &self.threads).finish_non_exhaustive()
    }
}
