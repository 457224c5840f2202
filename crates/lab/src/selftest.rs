//! Tests on this machine whether the lab is as reliable as promised. The selftest tests each promise many times while a
//! compiler runs. Because of the many tests, the interval of each rate is narrow.

mod alarms;
mod power;
mod sample;
mod shift;
mod workers;

use std::time::Duration;

use crate::clock::{Clock, Mock};
use crate::distribution::clopper_pearson;
use crate::load::Load;
use crate::random::Random;
use crate::record::Check;
use crate::speed::{self, RaceOptions};
use crate::target::Target;
use crate::timing::{self, PairOutcome, Settings};
use crate::watch::{Silent, Steps, Watch};
pub use workers::{WorkerOptions, workers};

/// The settings of the selftest, which determine how often each promise is tested.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of runs for each function that does not leak.
    pub nulls: u64,
    /// For each function that does not leak: the number of runs that must reach the verdict `NO_LEAK_ABOVE` within a
    /// minute.
    pub settled: u64,
    /// The number of runs for each pair of a shift and a clock. There are six shifts of the call's time and two clocks.
    pub shifts: u64,
    /// The number of runs for each of two leaks that are easy to find.
    pub plain: u64,
    /// The number of runs for each of two leaks that occur in one call in two hundred.
    pub rare: u64,
    /// The number of races (speed comparisons) between equal functions. The selftest also runs the same number of races
    /// between functions whose work differs by one percent.
    pub races: u64,
    /// Returns additional functions that do not leak. The lab tests the additional functions together with its own
    /// functions.
    pub targets: fn() -> Vec<Target>,
    /// Whether a compiler runs during the tests.
    pub load: bool,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nulls: 1000,
            settled: 20,
            shifts: 500,
            plain: 200,
            rare: 200,
            races: 100,
            targets: Vec::new,
            load: true,
            seed: crate::random::fresh_seed(),
        }
    }
}

impl Options {
    /// Returns settings for a selftest of a few minutes. A selftest of a few minutes finds gross errors, but its
    /// intervals are wide.
    #[must_use]
    pub fn quick() -> Self {
        Self { nulls: 40, settled: 2, shifts: 50, plain: 20, rare: 20, races: 5, ..Self::default() }
    }

    /// Returns the number of all runs and races.
    #[must_use]
    pub fn total(&self) -> u64 {
        let targets = (self.targets)().len() as u64;
        (4 + targets) * self.nulls
            + (1 + targets) * self.settled
            + 2 * shift::STEPS.len() as u64 * self.shifts
            + 2 * self.plain
            + self.plain.min(DENORMALS)
            + 2 * self.rare
            + 2 * self.races
    }
}

const DENORMALS: u64 = 20;

/// Tests the promises about timing and speed, and returns the results. The function calls `show` with each result as
/// soon as the result is known. If `watch` stops the selftest, each check uses the runs that are complete, and a check
/// without runs is skipped.
pub fn run(options: &Options, clock: &dyn Clock, watch: &mut dyn Watch, show: &mut dyn FnMut(&Check)) -> Vec<Check> {
    let load = options.load.then(Load::start);
    let beside = load.as_ref().map_or("none", Load::name);
    let mut checks = Vec::new();
    // If `wanted` is zero, the user did not request the check. The results contain every requested check.
    let mut keep = |mut check: Check, wanted: u64| {
        if wanted == 0 {
            return;
        }
        if check.runs > 0 {
            check.detail = format!("{}; other load: {beside}", check.detail);
        } else {
            (check.detail, check.passed) = ("skipped: the selftest was stopped before this check".to_owned(), None);
        }
        show(&check);
        checks.push(check);
    };
    let mut series = Series { clock, steps: Steps::new(watch, options.total()), random: Random::new(options.seed) };
    let mut targets = (options.targets)();
    alarms::check(options, &mut targets, &mut series, &mut keep);
    keep(shift::mock(options.shifts, &mut series), options.shifts);
    keep(shift::real(options.shifts, &mut series), options.shifts);
    keep(power::early_exit(options.plain, &mut series), options.plain);
    keep(power::relocated(options.plain, &mut series), options.plain);
    keep(power::denormal(options.plain.min(DENORMALS), &mut series), options.plain);
    let turn = power::rare("one more iteration of a loop", sample::rare_turn, 0.95, options.rare, &mut series);
    keep(turn, options.rare);
    let turns = (133.0 * timing::turns_per_ns(clock)) as u32;
    let delay = power::rare("133 ns more", move || sample::rare_delay(turns), 0.90, options.rare, &mut series);
    keep(delay, options.rare);
    let race = RaceOptions { seed: options.seed, ..RaceOptions::default() };
    keep(speed::selftest_same(options.races, clock, &race, &mut series.steps), options.races);
    keep(speed::selftest_change(options.races, clock, &race, &mut series.steps), options.races);
    checks
}

struct Series<'s> {
    clock: &'s dyn Clock,
    steps: Steps<'s>,
    random: Random,
}

impl Series<'_> {
    fn measure(&mut self, target: &mut Target, settings: Settings) -> PairOutcome {
        let settings = Settings { seed: self.random.bits(), ..settings };
        timing::measure(target, &settings, self.clock, &mut Silent).1.swap_remove(0)
    }

    /// Measures a target whose time comes from a mock clock. `make` gets the clock and a seed.
    fn simulate(&mut self, step: u32, settings: Settings, make: impl FnOnce(Mock, u64) -> Target) -> PairOutcome {
        let clock = Mock::new(step);
        let settings = Settings { seed: self.random.bits(), ..settings };
        let mut target = make(clock.clone(), self.random.bits());
        timing::measure(&mut target, &settings, &clock, &mut Silent).1.swap_remove(0)
    }
}

/// Returns settings for a run that evaluates the data as often as planned, so that every possible false alarm can
/// occur. A slow function gets fewer pairs.
fn thorough(target: &mut Target) -> Settings {
    let base = Settings { stop_early: false, time_limit: Duration::from_secs(4), ..Settings::default() };
    let mut input = vec![0; target.length()];
    let mut took = Duration::MAX;
    for _ in 0..5 {
        target.fill(0, &mut Random::new(1), &mut input);
        let begin = std::time::Instant::now();
        target.call(&mut input);
        took = took.min(begin.elapsed());
    }
    if took > Duration::from_micros(5) { Settings { looks: 4, pairs: 16, ..base } } else { base }
}

/// Creates a check of a rate. The check passes if the rate is at most, or at least, a limit.
fn judged(what: String, found: u64, runs: u64, bar: Bar, detail: String) -> Check {
    let rate = clopper_pearson(found, runs, 0.95);
    let (wanted, passed) = match bar {
        Bar::AtMost(most) => (format!("at most {} %", most * 100.0), found as f64 <= most * runs as f64),
        Bar::AtLeast(least) => (format!("at least {} %", least * 100.0), found as f64 >= least * runs as f64),
    };
    // If there are too few runs for a decision, the result of the check stays open.
    let open = !passed && runs < TELLING && rate.covers(bar.value());
    Check { what, runs, found, rate, wanted, detail, passed: (runs > 0 && !open).then_some(passed) }
}

#[derive(Clone, Copy)]
enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    fn value(self) -> f64 {
        let (Self::AtMost(value) | Self::AtLeast(value)) = self;
        value
    }
}

/// This number of runs is always enough for a decision. With at least this number of runs, the check fails if the rate
/// violates its limit.
const TELLING: u64 = 100;
