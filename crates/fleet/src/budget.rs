//! A limit on the memory of all that runs at the same time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that may be used.
pub(crate) struct Budget {
    all: u64,
    left: Mutex<u64>,
    given_back: Condvar,
}

/// Bytes that are in use until this is dropped.
pub(crate) struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(all: u64) -> Self {
        Self { all, left: Mutex::new(all), given_back: Condvar::new() }
    }

    fn left(&self) -> MutexGuard<'_, u64> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until so many bytes are left. What needs more than there is gets all there is, and runs alone.
    pub(crate) fn take(&self, bytes: u64) -> Share<'_> {
        let bytes = bytes.min(self.all);
        let mut left = self.left();
        while *left < bytes {
            left = self.given_back.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        *left -= bytes;
        Share { budget: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.budget.left() += self.bytes;
        self.budget.given_back.notify_all();
    }
}
