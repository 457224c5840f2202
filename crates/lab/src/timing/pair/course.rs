//! Counts the evaluations of a run's data, and decides whether the run continues.

use crate::record::Look;
use crate::timing::Settings;

/// Maximum number of tests in addition to the planned evaluations.
const FURTHER: u32 = 10;

/// Returns the number of tests among which the level α is divided. This number is larger than the number of planned
/// evaluations: a run continues if its intervals are too wide, or if the fresh data did not confirm a difference.
pub(super) fn tests(settings: &Settings) -> u32 {
    settings.looks + FURTHER
}

/// The progress of a run.
pub(super) struct Course {
    /// The number of looks so far. After n evaluations, the next evaluation needs 2ⁿ times as many batches as the first
    /// evaluation.
    turn: u32,
    /// The number of evaluations with a test of the data.
    pub(super) tested: u32,
    /// The smallest p-value so far, corrected for the number of tests.
    pub(super) p: f64,
    pub(super) funnel: Vec<Look>,
    looks: u32,
    tests: u32,
    first: usize,
}

impl Course {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            turn: 0,
            tested: 0,
            p: 1.0,
            funnel: Vec::new(),
            looks: settings.looks,
            tests: tests(settings),
            first: settings.first,
        }
    }

    /// Returns the number of batches for the next evaluation.
    pub(super) fn size(&self) -> usize {
        self.first << self.turn
    }

    /// Counts a look.
    pub(super) fn look(&mut self) {
        self.turn += 1;
    }

    /// Returns whether all planned evaluations are done.
    pub(super) fn over(&self) -> bool {
        self.turn >= self.looks
    }

    /// Returns whether another test is allowed without exceeding the level α.
    pub(super) fn may_test(&self) -> bool {
        self.tested < self.tests
    }

    /// Counts a test at this evaluation, and stores the smallest corrected p-value.
    pub(super) fn test(&mut self, look: Look) {
        self.tested += 1;
        self.p = self.p.min((look.p * f64::from(self.tests)).min(1.0));
        self.funnel.push(look);
    }

    /// Continues with `batches` batches of fresh data, after these data did not confirm a difference.
    pub(super) fn continue_from(&mut self, batches: usize) {
        self.turn = 0;
        while self.size() <= batches {
            self.turn += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course() -> Course {
        Course::new(&Settings { looks: 4, first: 16, ..Settings::default() })
    }

    fn look(p: f64) -> Look {
        Look { batches: 16, p, difference: crate::record::Interval::default() }
    }

    #[test]
    fn looks_double_the_data_and_go_on_after_the_planned_ones() {
        let mut course = course();
        let sizes: Vec<(usize, bool)> = (0..6)
            .map(|_| {
                let size = course.size();
                course.look();
                (size, course.over())
            })
            .collect();
        assert_eq!(sizes, [(16, false), (32, false), (64, false), (128, true), (256, true), (512, true)]);
    }

    #[test]
    fn the_tests_never_outnumber_the_shares_of_the_level() {
        let mut course = course();
        for test in 0..14 {
            assert!(course.may_test(), "{test}");
            course.test(look(0.01 * f64::from(test + 1)));
        }
        assert!(!course.may_test());
        assert!((course.p - 0.14).abs() < 1e-12, "{}", course.p);
    }

    #[test]
    fn after_a_finding_that_did_not_repeat_the_next_look_needs_more_than_the_fresh_data() {
        let mut course = course();
        course.continue_from(64);
        assert_eq!(course.size(), 128);
        course.continue_from(12);
        assert_eq!(course.size(), 16);
    }
}
