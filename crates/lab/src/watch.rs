//! Lets the caller of a long run see the progress of the run and stop the run.

/// Receives a run's progress and can stop the run. The library never prints anything. The caller of the library decides
/// what to show.
pub trait Watch {
    /// Reports that `done` of `of` steps are complete, and that the run is now measuring `what`. The lab calls this
    /// method during the run.
    fn progress(&mut self, what: &str, done: u64, of: u64);

    /// Returns whether the run must stop. A run that was stopped reports the results so far, with an inconclusive
    /// verdict.
    fn stopped(&self) -> bool {
        false
    }
}

/// A watch that ignores the progress and never stops the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn progress(&mut self, _what: &str, _done: u64, _of: u64) {}
}

/// Counts the steps of a series of runs and reports them to another watch. For the other watch, the whole series is a
/// single run.
pub(crate) struct Steps<'w> {
    watch: &'w mut dyn Watch,
    done: u64,
    total: u64,
}

impl<'w> Steps<'w> {
    pub(crate) fn new(watch: &'w mut dyn Watch, total: u64) -> Self {
        Self { watch, done: 0, total }
    }

    /// Begins the next step. Returns false if the run must stop.
    pub(crate) fn step(&mut self, what: &str) -> bool {
        self.watch.progress(what, self.done, self.total);
        self.done += 1;
        !self.watch.stopped()
    }
}

/// Each run within the series reports its own progress as a part of the current step.
impl Watch for Steps<'_> {
    fn progress(&mut self, what: &str, done: u64, of: u64) {
        self.watch.progress(what, self.done + done.min(of), self.total);
    }

    fn stopped(&self) -> bool {
        self.watch.stopped()
    }
}
