//! How far a run has come, and whether it goes on.

use crate::record::Look;
use crate::timing::Settings;

/// So often may the machine change its speed before the run is given up.
const RESTARTS: u32 = 3;
/// A run that is still open after its looks may take so many more, if they take no longer than this, in seconds.
const FURTHER: u32 = 2;
const FURTHER_TAKES: f64 = 0.5;

/// A level is divided among so many tests: a run that begins again, or is still open at the end, may look again.
pub(super) fn tests(settings: &Settings) -> u32 {
    2 * settings.looks
}

/// How far a run has come.
pub(super) struct Course {
    /// Looks since it began, or began again.
    pub(super) turn: u32,
    /// Looks at which the data were tested.
    pub(super) tested: u32,
    /// Findings that did not repeat.
    pub(super) failed: u32,
    /// Over all looks.
    pub(super) p: f64,
    pub(super) funnel: Vec<Look>,
    restarts: u32,
    looks: u32,
    tests: u32,
    /// The seconds of measuring at which the looks were used up.
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

    /// Whether the looks that were planned are used up.
    pub(super) fn over(&self) -> bool {
        self.turn >= self.looks
    }

    /// Goes back to the first look, if all of them may be taken again.
    pub(super) fn begin_again(&mut self) -> bool {
        self.restarts += 1;
        let possible = self.restarts <= RESTARTS && self.tested + self.looks <= self.tests;
        if possible {
            (self.turn, self.failed) = (0, 0);
            self.funnel.clear();
        }
        possible
    }

    /// Whether a run whose looks are used up may take another one, which needs `next` seconds after the `measured` ones. A finding that did
    /// not repeat stays what it is.
    pub(super) fn goes_on(&mut self, measured: f64, next: f64) -> bool {
        let since = measured - *self.used_up.get_or_insert(measured);
        self.failed == 0 && self.turn < self.looks + FURTHER && self.tested < self.tests && since + next <= FURTHER_TAKES
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
    fn no_more_tests_are_made_than_the_level_was_divided_among() {
        assert!(!after(5, 8).goes_on(0.0, 0.0));
        assert!(after(2, 4).begin_again());
        assert!(!after(2, 5).begin_again());
    }

    #[test]
    fn a_finding_that_did_not_repeat_is_not_measured_away() {
        let mut course = after(4, 4);
        course.failed = 1;
        assert!(!course.goes_on(0.0, 0.0));
        // Another speed of the machine is another run.
        assert!(course.begin_again());
        assert_eq!((course.turn, course.failed, course.tested), (0, 0, 4));
    }

    #[test]
    fn a_machine_that_keeps_changing_its_speed_is_given_up() {
        let mut course = after(0, 0);
        assert_eq!([(); 4].map(|()| course.begin_again()), [true, true, true, false]);
    }
}
