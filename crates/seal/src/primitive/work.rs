//! Options: the number of threads, and callbacks.

/// Options: the number of threads, and callbacks to watch and stop the work.
#[derive(Clone, Copy, Default)]
pub struct Work<'a> {
    /// The number of threads; 0 for one on each core.
    pub threads: usize,
    /// Any thread calls this with the number of bytes of plain data that were done since its last call.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Called between units. If it returns true, the work ends with [`crate::Error::Stopped`].
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("threads", &self.threads).finish_non_exhaustive()
    }
}
