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

/// Counts the steps of a long series for another watch, which sees one bar for all of it.
pub(crate) struct Steps<'w> {
    watch: &'w mut dyn Watch,
    done: u64,
    total: u64,
}

impl<'w> Steps<'w> {
    pub(crate) fn new(watch: &'w mut dyn Watch, total: u64) -> Self {
        Self { watch, done: 0, total }
    }

    /// The next step begins, unless the run is to end.
    pub(crate) fn step(&mut self, what: &str) -> bool {
        self.watch.progress(what, self.done, self.total);
        self.done += 1;
        !self.watch.stopped()
    }
}

/// For parts that count by themselves.
impl Watch for Steps<'_> {
    fn progress(&mut self, what: &str, done: u64, of: u64) {
        self.watch.progress(what, self.done + done.min(of), self.total);
    }

    fn stopped(&self) -> bool {
        self.watch.stopped()
    }
}
