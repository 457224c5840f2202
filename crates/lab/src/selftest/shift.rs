//! Tests functions whose calls take longer for one class, by a known time. The checks count how often each interval
//! contains this time.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::alarms::Coverage;
use super::{Series, sample};
use crate::clock::{self, Clock};
use crate::record::Check;
use crate::timing::{self, Settings};
use crate::watch::Silent;

/// The shifts, in steps of the clock.
pub(super) const STEPS: [f64; 6] = [0.3, 0.7, 1.0, 2.0, 5.0, 20.0];
/// The step of the mock clock, in nanoseconds.
const MOCK_STEP: u32 = 10;
/// Returns the settings of a run with a shift. The run collects much less data than usual, so that the selftest can
/// make many runs.
fn settings() -> Settings {
    Settings { looks: 4, stop_early: false, time_limit: Duration::from_secs(1), ..Settings::default() }
}

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

/// Measures a delay loop with shifted times, on this machine's clock and with the noise of this machine. The test adds
/// the shift to the clock's time and does not lengthen the loop, because the duration of a longer loop changes with the
/// processor's speed.
pub(super) fn real(runs: u64, series: &mut Series<'_>) -> Check {
    let what = "99 % intervals that cover a shift of 0.3 to 20 steps of a real clock, worst statistic".to_owned();
    let mut coverage = Coverage::default();
    for shift in STEPS {
        for _ in 0..runs {
            if !series.steps.step(&what) {
                return coverage.judged(what);
            }
            let clock = Moved::new();
            let ticks = shift * clock.step;
            let truth = ticks * 1e9 / clock.hertz();
            let mut target = sample::moved(clock.clone(), move |clock, times| clock.advance(ticks * times));
            let settings = Settings { seed: series.random.bits(), ..settings() };
            let outcome = timing::measure(&mut target, &settings, &clock, &mut Silent).1.swap_remove(0);
            coverage.add_shifted(&outcome.single, |interval| interval.covers(truth));
        }
    }
    coverage.judged(what)
}

/// A clock with steps that are four times as long as the steps of this machine's clock. The test can move the time of
/// this clock forward.
#[derive(Clone)]
struct Moved {
    real: Rc<dyn Clock>,
    /// The whole steps of the offset.
    steps: Rc<Cell<u64>>,
    /// The rest of the offset, in ticks; the rest is shorter than a step.
    rest: Rc<Cell<f64>>,
    /// The length of a step in ticks.
    step: f64,
}

impl Moved {
    fn new() -> Self {
        let real: Rc<dyn Clock> = clock::best().into();
        let step = 4.0 * clock::step(&*real) as f64;
        Self { real, steps: Rc::default(), rest: Rc::default(), step }
    }

    /// Moves the clock forward. The execution time of this function does not depend on `ticks`.
    fn advance(&self, ticks: f64) {
        let rest = self.rest.get() + ticks;
        let steps = (rest / self.step) as u64;
        self.steps.set(self.steps.get() + steps);
        self.rest.set(rest - steps as f64 * self.step);
    }

    /// Adds the offset to a reading and rounds the sum down to steps.
    fn moved(&self, reading: u64) -> u64 {
        let step = self.step as u64;
        let past = (reading % step) as f64 + self.rest.get();
        (reading / step + self.steps.get() + (past / self.step) as u64) * step
    }
}

impl Clock for Moved {
    fn start(&self) -> u64 {
        self.moved(self.real.start())
    }

    fn stop(&self) -> u64 {
        self.moved(self.real.stop())
    }

    fn hertz(&self) -> f64 {
        self.real.hertz()
    }

    fn name(&self) -> &'static str {
        "moved"
    }

    fn readings(&self) -> u64 {
        self.real.readings()
    }
}
