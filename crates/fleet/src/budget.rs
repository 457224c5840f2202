//! A limit on the memory of all that runs at the same time.

use parking_lot::{Condvar, Mutex};

/// Bytes that may be used.
pub(crate) struct Budget {
    all: u64,
    state: Mutex<State>,
    given_back: Condvar,
}

struct State {
    left: u64,
    /// The number of threads that wait in [`Budget::take`].
    waiting: usize,
}

/// Bytes that are in use until this is dropped.
pub(crate) struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(all: u64) -> Self {
        Self { all, state: Mutex::new(State { left: all, waiting: 0 }), given_back: Condvar::new() }
    }

    /// Waits until so many bytes are left. What needs more than there is gets all there is, and runs alone.
    pub(crate) fn take(&self, bytes: u64) -> Share<'_> {
        let bytes = bytes.min(self.all);
        let mut state = self.state.lock();
        while state.left < bytes {
            state.waiting += 1;
            self.given_back.wait(&mut state);
            state.waiting -= 1;
        }
        state.left -= bytes;
        Share { budget: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state.lock();
        state.left += self.bytes;
        if state.waiting > 0 {
            self.budget.given_back.notify_all();
        }
    }
}
