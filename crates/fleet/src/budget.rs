//! A limit on the memory of all tasks that run at the same time.

use parking_lot::{Condvar, Mutex};

/// The number of bytes that may be in use at the same time.
pub(crate) struct Budget {
    all: u64,
    state: Mutex<State>,
    given_back: Condvar,
}

struct State {
    left: u64,
    waiting: usize,
}

/// A share of the budget: a number of bytes that are in use until this value is dropped.
pub(crate) struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(all: u64) -> Self {
        Self { all, state: Mutex::new(State { left: all, waiting: 0 }), given_back: Condvar::new() }
    }

    /// Waits until `bytes` bytes are free. A task that needs more bytes than the budget has gets the whole budget, and
    /// runs alone.
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
