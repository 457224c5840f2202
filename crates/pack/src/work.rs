//! Settings for packing and unpacking: threads, progress and stopping.

/// The threads to use, and callbacks for progress and for stopping.
#[derive(Clone, Copy, Default)]
pub struct Work<'a> {
    /// The number of threads; 0 for one on each core.
    pub threads: usize,
    /// Called on any thread, with the number of bytes of the archive that were processed since the last call.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Called between chunks. When it returns true, the work ends with [`crate::Error::Stopped`].
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("threads", &self.threads).finish_non_exhaustive()
    }
}
