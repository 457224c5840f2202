//! Functions whose calls take longer by a known time for one class: how often each interval covers this time.

use std::time::Duration;

use super::alarms::Coverage;
use super::{Series, sample};
use crate::clock;
use crate::random::Random;
use crate::record::Check;
use crate::target::Target;
use crate::timing::{self, Settings};

/// The shifts, in steps of the clock.
pub(super) const STEPS: [f64; 6] = [0.3, 0.7, 1.0, 2.0, 5.0, 20.0];
/// The step of the mock clock, in nanoseconds.
const MOCK_STEP: u32 = 10;
/// Number of pairs of long measurements that tell the true difference on a real clock.
const TRUTH: usize = 2048;
/// Calls in such a measurement.
const TRUTH_REPEATS: usize = 64;

/// Settings of a run with a shift: a fraction of the usual data, so that many runs fit into the time.
fn settings() -> Settings {
    Settings { looks: 4, stop_early: false, time_limit: Duration::from_secs(1), ..Settings::default() }
}

/// Measures shifts of a simulated function.
pub(super) fn mock(runs: u64, series: &mut Series<'_>) -> Check {
    let what = "99 % intervals that cover a shift of 0.3 to 20 steps of a mock clock, worst statistic".to_owned();
    let mut coverage = Coverage::default();
    for shift in STEPS {
        let shift = shift * f64::from(MOCK_STEP);
        for _ in 0..runs {
            if !series.steps.step(&what) {
                return coverage.judged(what);
            }
            let outcome = series.simulate(MOCK_STEP, settings(), |clock, seed| sample::shifted(clock, seed, shift));
            coverage.add_shifted(&outcome.single, |interval| interval.covers(shift));
        }
    }
    coverage.judged(what)
}

/// Measures shifts of a delay loop on the real clock. The true shift is measured with many calls in each measurement,
/// for which the clock's step does not matter, before and after the run.
pub(super) fn real(runs: u64, series: &mut Series<'_>) -> Check {
    let what = "99 % intervals that cover a shift of 0.3 to 20 steps of this clock, worst statistic".to_owned();
    let mut coverage = Coverage::default();
    let step_ns = clock::facts(series.clock).step_ns;
    let turns_per_ns = timing::turns_per_ns(series.clock);
    for shift in STEPS {
        let turns = ((shift * step_ns * turns_per_ns).round() as u32).max(1);
        for _ in 0..runs {
            if !series.steps.step(&what) {
                return coverage.judged(what);
            }
            let mut target = sample::delayed(turns);
            let before = truth(&mut target, series);
            let outcome = series.measure(&mut target, settings());
            let truth = [before, truth(&mut target, series)];
            // The machine's speed changed between the two measurements if they differ.
            let (low, high) = (truth[0].min(truth[1]), truth[0].max(truth[1]));
            coverage.add_shifted(&outcome.single, |interval| interval.lower <= high && interval.upper >= low);
        }
    }
    coverage.judged(what)
}

/// Returns the difference between the two classes of a target in nanoseconds, measured with many calls at once.
fn truth(target: &mut Target, series: &mut Series<'_>) -> f64 {
    let random = &mut Random::new(series.random.bits());
    timing::difference(target, series.clock, TRUTH_REPEATS, TRUTH, random)
}
