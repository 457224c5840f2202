//! How work is to be done.

/// How many threads, who watches, and who may stop it.
#[derive(Clone, Copy, Default)]
pub struct Work<'a> {
    /// Threads; 0 for one on each core.
    pub threads: usize,
    /// Called by any thread with the number of bytes of the archive that were done since its last call.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Asked between stretches; when it says yes, the work ends with [`crate::Error::Stopped`].
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("threads", &self.threads).finish_non_exhaustive()
    }
}
