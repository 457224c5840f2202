//! Tests whether the lab keeps its promises on this machine. Each promise is tested many times while a compiler runs,
//! so that its rate has a narrow interval.

mod sample;
mod workers;

use crate::clock::Clock;
use crate::distribution::{clopper_pearson, median};
use crate::load::Load;
use crate::random::Random;
use crate::record::{Check, Interval, Verdict};
use crate::speed::{self, RaceOptions};
use crate::target::Target;
use crate::timing::{self, Outcome, Settings};
use crate::watch::{Silent, Steps, Watch};
pub use workers::{WorkerOptions, workers};

/// Settings of the selftest: how often each promise is tested.
#[derive(Clone, Debug)]
pub struct Options {
    /// Runs without a leak, for each of two functions.
    pub nulls: u64,
    /// Runs with a leak that is easy to find.
    pub plain: u64,
    /// Runs with a leak in one call in two hundred, for each of two leaks.
    pub rare: u64,
    /// Races between equal functions, and as many between functions that differ by one percent.
    pub races: u64,
    /// Whether a compiler runs during the tests.
    pub load: bool,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { nulls: 1000, plain: 200, rare: 200, races: 100, load: true, seed: crate::random::fresh_seed() }
    }
}

impl Options {
    /// Settings for a selftest of about a minute, which finds gross errors but gives wide intervals.
    #[must_use]
    pub fn quick() -> Self {
        Self { nulls: 60, plain: 20, rare: 20, races: 5, ..Self::default() }
    }

    /// Returns the number of all runs and races.
    #[must_use]
    pub fn total(&self) -> u64 {
        2 * self.nulls + self.plain + 2 * self.rare + 2 * self.races
    }
}

/// Tests the promises about timing and speed, and returns the results. Each result is passed to `show` as soon as it is
/// known. If `watch` stops the selftest, a check counts the runs that were made.
pub fn run(options: &Options, clock: &dyn Clock, watch: &mut dyn Watch, show: &mut dyn FnMut(&Check)) -> Vec<Check> {
    let load = options.load.then(Load::start);
    let beside = load.as_ref().map_or("none", Load::name);
    let mut checks = Vec::new();
    let mut keep = |mut check: Check| {
        if check.runs > 0 {
            check.detail = format!("{}; other load: {beside}", check.detail);
            show(&check);
            checks.push(check);
        }
    };
    let mut series = Series { clock, steps: Steps::new(watch, options.total()), random: Random::new(options.seed) };
    let mut coverage = Coverage::default();
    for (name, make) in
        [("identical inputs", sample::identical as fn() -> Target), ("32-byte comparison of all bytes", sample::whole)]
    {
        keep(false_alarms(name, make, options.nulls, &mut series, &mut coverage));
    }
    keep(coverage.check());
    keep(early_exit(options.plain, &mut series));
    keep(rare("one more iteration of a loop", sample::rare_turn, 0.95, options.rare, &mut series));
    let turns = (133.0 * timing::turns_per_ns(clock)) as u32;
    keep(rare("133 ns more", move || sample::rare_delay(turns), 0.90, options.rare, &mut series));
    let race = RaceOptions { seed: options.seed, ..RaceOptions::default() };
    keep(speed::selftest_same(options.races, clock, &race, &mut series.steps));
    keep(speed::selftest_change(options.races, clock, &race, &mut series.steps));
    checks
}

struct Series<'s> {
    clock: &'s dyn Clock,
    steps: Steps<'s>,
    random: Random,
}

impl Series<'_> {
    fn measure(&mut self, target: &mut Target, settings: Settings) -> Outcome {
        let settings = Settings { seed: self.random.bits(), ..settings };
        timing::measure(target, &settings, self.clock, &mut Silent).1.swap_remove(0)
    }
}

/// Creates a check whose rate must be on one side of a limit.
fn judged(what: String, found: u64, runs: u64, bar: Bar, detail: String) -> Check {
    let rate = clopper_pearson(found, runs, 0.95);
    let (wanted, passed) = match bar {
        Bar::AtMost(most) => (format!("at most {} %", most * 100.0), found as f64 <= most * runs as f64),
        Bar::AtLeast(least) => (format!("at least {} %", least * 100.0), found as f64 >= least * runs as f64),
    };
    // If there are too few runs to decide, the check has neither passed nor failed.
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

/// From this number of runs on, the check fails if the rate is on the wrong side of its limit.
const TELLING: u64 = 100;

fn false_alarms(
    name: &str,
    make: fn() -> Target,
    runs: u64,
    series: &mut Series<'_>,
    coverage: &mut Coverage,
) -> Check {
    let what = format!("false alarms: {name}");
    let (mut rejected, mut leaks, mut done, mut ends) = (0, 0, 0, [0_u64; 3]);
    for _ in 0..runs {
        if !series.steps.step(&what) {
            break;
        }
        // Each run takes all looks, so that it has every chance of a false alarm.
        let outcome = series.measure(&mut make(), Settings { stop_early: false, ..Settings::default() });
        done += 1;
        rejected += u64::from(outcome.p <= 0.01);
        leaks += u64::from(outcome.verdict == Verdict::Leak);
        for (end, verdict) in ends.iter_mut().zip([Verdict::NoLeakAbove, Verdict::Inconclusive, Verdict::Invalid]) {
            *end += u64::from(outcome.verdict == verdict);
        }
        coverage.add(&outcome.single);
    }
    let detail = format!(
        "rejected at α = 1 %, all seven looks; ended as LEAK: {leaks}, NO_LEAK_ABOVE: {}, INCONCLUSIVE: {}, INVALID: \
        {}",
        ends[0], ends[1], ends[2]
    );
    judged(what, rejected, done, Bar::AtMost(0.015), detail)
}

/// Counts how often the interval of each statistic covers the true difference, which is zero.
#[derive(Default)]
struct Coverage {
    runs: u64,
    covered: Vec<u64>,
}

impl Coverage {
    fn add(&mut self, intervals: &[Option<Interval>]) {
        self.runs += 1;
        self.covered.resize(intervals.len(), 0);
        for (covered, interval) in self.covered.iter_mut().zip(intervals) {
            *covered += u64::from(interval.is_none_or(|interval| interval.covers(0.0)));
        }
    }

    fn check(&self) -> Check {
        let share = |covered: u64| format!("{:.1}", covered as f64 / self.runs as f64 * 100.0);
        let all: Vec<String> = timing::names()
            .iter()
            .zip(&self.covered)
            .map(|(name, &covered)| format!("{name} {} %", share(covered)))
            .collect();
        let worst = self.covered.iter().copied().min().unwrap_or(0);
        let what = "99 % intervals that cover zero for functions that do not leak, worst statistic".to_owned();
        judged(what, worst, self.runs, Bar::AtLeast(0.985), all.join(", "))
    }
}

fn early_exit(runs: u64, series: &mut Series<'_>) -> Check {
    let what = "early-exit comparison of 32 bytes: LEAK".to_owned();
    let (mut found, mut done, mut seconds, mut effect) = (0, 0, Vec::new(), Vec::new());
    for _ in 0..runs {
        if !series.steps.step(&what) {
            break;
        }
        let outcome = series.measure(&mut sample::early_exit(), Settings::default());
        done += 1;
        found += u64::from(outcome.verdict == Verdict::Leak);
        seconds.push(outcome.seconds);
        effect.extend(outcome.facts.effects.first().map(|effect| effect.difference.estimate));
    }
    let middle = if seconds.is_empty() { 0.0 } else { median(&mut seconds) * 1e3 };
    let detail = format!(
        "median {middle:.1} ms of measuring (wanted: at most 10); the leak is {:.1} ns",
        median(&mut effect).abs()
    );
    let mut check = judged(what, found, done, Bar::AtLeast(1.0), detail);
    check.passed = check.passed.map(|passed| passed && middle <= 10.0);
    check
}

fn rare(name: &str, make: impl Fn() -> Target, bar: f64, runs: u64, series: &mut Series<'_>) -> Check {
    let what = format!("{name} on 0.5 % of the calls: found within 100 ms of measuring");
    let (mut within, mut found, mut done, mut seconds) = (0, 0, 0, Vec::new());
    for _ in 0..runs {
        if !series.steps.step(&what) {
            break;
        }
        // With Δ = 0, any real difference is a leak.
        let outcome = series.measure(&mut make(), Settings { delta_ns: Some(0.0), ..Settings::default() });
        done += 1;
        let leak = outcome.verdict == Verdict::Leak;
        found += u64::from(leak);
        within += u64::from(leak && outcome.seconds <= 0.1);
        seconds.push(outcome.seconds);
    }
    let detail =
        format!("LEAK at Δ = 0 in {found} of {done} runs, after any time; median {:.1} ms", median(&mut seconds) * 1e3);
    judged(what, within, done, Bar::AtLeast(bar), detail)
}
