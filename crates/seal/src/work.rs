//! Options and results of sealing and opening.

use crate::Signatures;

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

/// The work that was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Bytes of plain data, without padding.
    pub plain: u64,
    /// Bytes of sealed data, header and trailer included.
    pub sealed: u64,
    /// Who signed the data that were opened; `None` if nobody did, and after sealing.
    pub signatures: Option<Signatures>,
}
