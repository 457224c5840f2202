//! Removes incomplete files when the program is interrupted.

use std::sync::Arc;

use super::ledger::Ledger;

/// The incomplete files of an [`Unpacker`](super::Unpacker) in an existing folder. A program that a signal ends should
/// remove them first.
#[derive(Clone, Debug)]
pub struct Drafts(pub(super) Arc<Ledger>);

impl Drafts {
    /// Removes the drafts, from any thread and while other threads work. From then on the unpacker begins and completes
    /// no file, and ends with [`Error::Stopped`](crate::Error::Stopped). A [`fresh`](super::Unpacking::fresh) folder
    /// has no drafts: its maker removes the whole folder.
    pub fn remove(&self) {
        self.0.names.remove();
        self.0.give_up();
    }
}
