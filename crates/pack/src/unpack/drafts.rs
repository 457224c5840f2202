//! Files that are called something else until they are complete, and what becomes of them when everything ends at once.

use super::ledger::{Ledger, Trouble};
use crate::Error;
use rustix::fs::{AtFlags, unlinkat};
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The files that an [`Unpacker`](super::Unpacker) has begun in a folder that was there before, and not completed: whoever ends the program
/// in the middle, on a signal for instance, takes them away first.
#[derive(Clone, Debug)]
pub struct Drafts(pub(super) Arc<Ledger>);

impl Drafts {
    /// Removes them, from any thread and while others are at work. Nothing is begun or completed from then on: the unpacker ends with
    /// [`Error::Stopped`]. A folder that is [`fresh`](super::Options::fresh) has no drafts; who made it removes all of it.
    pub fn remove(&self) {
        self.0.names.take_away();
        self.0.give_up();
    }
}

/// Their names.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Whether they were taken away. Held by all who make or give up a name, so that none comes up behind the back of who takes them away.
    closed: RwLock<bool>,
    /// Random enough that no two are the same, with the folders they stand in.
    drafts: Mutex<HashMap<Vec<u8>, Arc<OwnedFd>>>,
}

impl Names {
    /// Does what makes names or gives them up, and takes no time.
    pub(super) fn change<T>(&self, act: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
        let closed = self.closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed { Err(Trouble::Known(Error::Stopped)) } else { act() }
    }

    pub(super) fn add(&self, name: &[u8], folder: &Arc<OwnedFd>) {
        self.drafts().insert(name.to_vec(), Arc::clone(folder));
    }

    pub(super) fn forget(&self, name: &[u8]) {
        self.drafts().remove(name);
    }

    fn take_away(&self) {
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
        for (name, folder) in self.drafts().drain() {
            let _ = unlinkat(&folder, name, AtFlags::empty());
        }
    }

    fn drafts(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Arc<OwnedFd>>> {
        self.drafts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
