//! Counts the looks of a run and decides whether the run continues.

use crate::record::Look;
use crate::timing::Settings;

/// Maximum number of times that a run starts again because the machine changed its speed.
const RESTARTS: u32 = 3;
/// Number of further looks for a run that is inconclusive after the planned ones.
const FURTHER: u32 = 2;
/// Maximum time of these further looks, in seconds.
const FURTHER_TAKES: f64 = 0.5;

/// Returns the number of tests among which the level is divided. The number is twice the planned looks, because a run
/// may start again or take further looks.
pub(super) fn tests(settings: &Settings) -> u32 {
    2 * settings.looks
}

/// The progress of a run.
pub(super) struct Course {
    /// Looks since the run started, or last started again.
    pub(super) turn: u32,
    /// Looks at which the data were tested, over all starts.
    pub(super) tested: u32,
    /// Findings that did not repeat.
    pub(super) failed: u32,
    /// The smallest p-value so far, corrected for the number of tests.
    pub(super) p: f64,
    pub(super) funnel: Vec<Look>,
    restarts: u32,
    looks: u32,
    tests: u32,
    /// Seconds of measuring when the planned looks were done.
    used_up: Option<f64>,
}

impl Course {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            turn: 0,
            tested: 0,
            failed: 0,
            p: 1.0,
            funnel: Vec::new(),
            restarts: 0,
            looks: settings.looks,
            tests: tests(settings),
            used_up: None,
        }
    }

    /// Returns whether the planned looks are done.
    pub(super) fn over(&self) -> bool {
        self.turn >= self.looks
    }

    /// Returns to the first look. Returns false if the level does not allow all looks again, or if the machine changed
    /// its speed too often.
    pub(super) fn begin_again(&mut self) -> bool {
        self.restarts += 1;
        let possible = self.restarts <= RESTARTS && self.tested + self.looks <= self.tests;
        if possible {
            (self.turn, self.failed) = (0, 0);
            self.funnel.clear();
        }
        possible
    }

    /// Returns whether a run may take a further look after the planned ones, where `measured` is the time so far and
    /// `next` that of the next look, in seconds. After a finding that did not repeat there are no further looks.
    pub(super) fn goes_on(&mut self, measured: f64, next: f64) -> bool {
        let since = measured - *self.used_up.get_or_insert(measured);
        self.failed == 0
            && self.turn < self.looks + FURTHER
            && self.tested < self.tests
            && since + next <= FURTHER_TAKES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(turn: u32, tested: u32) -> Course {
        Course { turn, tested, ..Course::new(&Settings { looks: 4, ..Settings::default() }) }
    }

    #[test]
    fn two_further_looks_are_taken_if_they_are_quick() {
        let mut course = after(4, 4);
        assert!(course.over() && course.goes_on(0.1, 0.1));
        (course.turn, course.tested) = (5, 5);
        assert!(course.goes_on(0.2, 0.4));
        assert!(!course.goes_on(0.2, 0.41));
        (course.turn, course.tested) = (6, 6);
        assert!(!course.goes_on(0.2, 0.0));
    }

    #[test]
    fn the_tests_never_outnumber_the_shares_of_the_level() {
        assert!(!after(5, 8).goes_on(0.0, 0.0));
        assert!(after(2, 4).begin_again());
        assert!(!after(2, 5).begin_again());
    }

    #[test]
    fn a_finding_that_did_not_repeat_allows_no_further_looks() {
        let mut course = after(4, 4);
        course.failed = 1;
        assert!(!course.goes_on(0.0, 0.0));
        // After a change of the machine's speed, the run starts from nothing.
        assert!(course.begin_again());
        assert_eq!((course.turn, course.failed, course.tested), (0, 0, 4));
    }

    #[test]
    fn a_run_ends_after_three_changes_of_the_machines_speed() {
        let mut course = after(0, 0);
        assert_eq!([(); 4].map(|()| course.begin_again()), [true, true, true, false]);
    }
}
