//! How a long run tells what it is doing, and is told to stop.

/// Sees a run's progress and may end it. The library never prints; whoever calls it decides what to show.
pub trait Watch {
    /// `done` of `of` steps are over; `what` is being measured.
    fn progress(&mut self, what: &str, done: u64, of: u64);

    /// Whether to stop: the run then reports what is known so far as inconclusive.
    fn stopped(&self) -> bool {
        false
    }
}

/// Shows nothing, never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn progress(&mut self, _what: &str, _done: u64, _of: u64) {}
}
