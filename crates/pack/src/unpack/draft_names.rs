//! The temporary names of files that are not complete.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rustix::fs::{AtFlags, unlinkat};

use super::trouble::Trouble;
use crate::error::Error;

/// The names of the drafts.
#[derive(Debug, Default)]
pub(super) struct DraftNames {
    /// Whether the drafts were removed. Threads that make or rename a draft hold this lock, so that no new draft
    /// appears during the removal.
    closed: RwLock<bool>,
    /// The names of drafts with their folders. Each name has a random number, so no two names are the same.
    drafts: Mutex<HashMap<Vec<u8>, Arc<OwnedFd>>>,
}

impl DraftNames {
    /// Runs `act`, which makes or removes names, unless the drafts were removed. `act` must be short.
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

    /// Removes the drafts. From then on, [`DraftNames::change`] fails.
    pub(super) fn remove(&self) {
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
        for (name, folder) in self.drafts().drain() {
            let _ = unlinkat(&folder, name, AtFlags::empty());
        }
    }

    fn drafts(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Arc<OwnedFd>>> {
        self.drafts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
