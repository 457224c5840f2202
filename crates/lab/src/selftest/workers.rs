//! Tests the promises about workers, for each language whose runtime this machine has.

use std::time::Duration;

use super::{Bar, judged};
use crate::distribution::median;
use crate::foreign::{Error, Language, Worker};
use crate::load::Load;
use crate::random::Random;
use crate::record::{Check, Verdict};
use crate::target::Target;
use crate::timing::{self, PairOutcome, Settings};
use crate::watch::{Silent, Steps, Watch};

/// Settings of the tests of workers.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// For each language, the number of runs without a leak.
    pub nulls: u64,
    /// For each language, the number of runs with a comparison that stops at the first difference.
    pub leaks: u64,
    /// Whether a compiler runs during the tests.
    pub load: bool,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self { nulls: 300, leaks: 20, load: true, seed: crate::random::fresh_seed() }
    }
}

impl WorkerOptions {
    /// Returns settings for tests that take about half a minute. Tests of half a minute find gross errors, but give
    /// wide intervals.
    #[must_use]
    pub fn quick() -> Self {
        Self { nulls: 20, ..Self::default() }
    }

    /// Returns the number of all runs.
    #[must_use]
    pub fn total(&self) -> u64 {
        Language::ALL.len() as u64 * (self.nulls + self.leaks)
    }
}

/// The time limit for an answer of a worker.
const LIMIT: Duration = Duration::from_secs(120);
/// Number of runs in one process. In each new process, the memory has other addresses.
const RUNS: u64 = 10;
/// The positions of the tested functions in the list of targets of each worker.
const EARLY_EXIT: usize = 0;
const LIBRARY: usize = 1;

/// Tests the worker of each language, and returns the results. The function calls `show` with each result as soon as
/// the result is known.
pub fn workers(options: &WorkerOptions, watch: &mut dyn Watch, show: &mut dyn FnMut(&Check)) -> Vec<Check> {
    let load = options.load.then(Load::start);
    let beside = load.as_ref().map_or("none", Load::name);
    let mut steps = Steps::new(watch, options.total());
    let mut random = Random::new(options.seed);
    let mut checks = Vec::new();
    for language in Language::ALL {
        for index in [LIBRARY, EARLY_EXIT] {
            let mut series = WorkerSeries { language, index, options, random: &mut random, steps: &mut steps };
            let Some(mut check) = series.check() else { continue };
            if check.runs > 0 {
                check.detail = format!("{}; other load: {beside}", check.detail);
            }
            show(&check);
            checks.push(check);
        }
    }
    checks
}

struct WorkerSeries<'s, 'w> {
    language: Language,
    index: usize,
    options: &'s WorkerOptions,
    random: &'s mut Random,
    steps: &'s mut Steps<'w>,
}

#[derive(Default)]
struct Findings {
    runs: u64,
    rejected: u64,
    leaks: u64,
    invalid: u64,
    milliseconds: Vec<f64>,
    effects: Vec<f64>,
}

impl WorkerSeries<'_, '_> {
    /// Returns the result of all runs. Returns `None` if the test made no run, or if another check already reports that
    /// the runtime of the language is missing.
    fn check(&mut self) -> Option<Check> {
        let (name, early_exit) = (self.language.name(), self.index == EARLY_EXIT);
        let what = if early_exit {
            format!("{name} worker: early exit found")
        } else {
            format!("{name} worker: false alarms")
        };
        if let Some(missing) = self.language.missing() {
            // Only one check for each language reports that the runtime is missing.
            let what = format!("{name} worker");
            return (!early_exit).then(|| Check { what, detail: format!("skipped: no {missing}"), ..Check::default() });
        }
        let mut found = Findings::default();
        if let Err(error) = self.run(&what, &mut found) {
            return Some(Check { what, detail: error.to_string(), passed: Some(false), ..Check::default() });
        }
        if found.runs == 0 {
            return None;
        }
        let middle = median(&mut found.milliseconds);
        Some(if early_exit {
            let detail =
                format!("median {middle:.0} ms of measuring; the leak is {:.0} ns", median(&mut found.effects));
            judged(what, found.leaks, found.runs, Bar::AtLeast(1.0), detail)
        } else {
            let detail = format!(
                "the language's own comparison; rejected at α = 1 %, five looks; ended as LEAK: {}, INVALID: {}; \
                median {middle:.0} ms of measuring",
                found.leaks, found.invalid
            );
            judged(what, found.rejected, found.runs, Bar::AtMost(0.015), detail)
        })
    }

    fn run(&mut self, what: &str, found: &mut Findings) -> Result<(), Error> {
        let runs = if self.index == EARLY_EXIT { self.options.leaks } else { self.options.nulls };
        let shipped = self.language.prepare()?;
        let mut left = runs;
        while left > 0 {
            let worker = Worker::start(shipped.command(), LIMIT)?;
            let mut target = worker.targets(&[])?.swap_remove(self.index);
            worker.warm_up(&mut target, self.random.bits())?;
            for _ in 0..left.min(RUNS) {
                left -= 1;
                if !self.steps.step(what) {
                    return Ok(());
                }
                found.add(&self.measure(&worker, &mut target)?);
            }
        }
        Ok(())
    }

    fn measure(&mut self, worker: &Worker, target: &mut Target) -> Result<PairOutcome, Error> {
        let base = Settings { delta_ns: Some(worker.delta_ns()), seed: self.random.bits(), ..Settings::default() };
        // A run without a leak makes all planned evaluations of the data, so that every evaluation can raise a false
        // alarm.
        let settings = if self.index == EARLY_EXIT { base } else { Settings { looks: 5, stop_early: false, ..base } };
        let (_, mut outcomes, _) = timing::measure(target, &settings, &worker.clock(), &mut worker.watch(&mut Silent));
        worker.check()?;
        Ok(outcomes.swap_remove(0))
    }
}

impl Findings {
    fn add(&mut self, outcome: &PairOutcome) {
        self.runs += 1;
        self.rejected += u64::from(outcome.p <= 0.01);
        self.leaks += u64::from(outcome.verdict == Verdict::Leak);
        self.invalid += u64::from(outcome.verdict == Verdict::Invalid);
        self.milliseconds.push(outcome.seconds * 1e3);
        self.effects.extend(outcome.facts.effects.first().map(|effect| effect.difference.estimate.abs()));
    }
}
