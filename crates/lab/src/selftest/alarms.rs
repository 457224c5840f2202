//! Tests functions that do not leak. The checks count false differences, intervals that exclude zero, and verdicts
//! within a minute.

use std::time::{Duration, Instant};

use super::{Bar, Options, Series, judged, sample, thorough};
use crate::record::{Check, Interval, Verdict};
use crate::target::Target;
use crate::timing::{self, PairOutcome, Settings};

/// The simulated function takes one of these two times, in nanoseconds.
pub(super) const MODES: [f64; 2] = [100.0, 200.0];

pub(super) fn check(
    options: &Options,
    targets: &mut [Target],
    series: &mut Series<'_>,
    keep: &mut dyn FnMut(Check, u64),
) {
    let mut coverage = Coverage::default();
    let own = [
        ("identical inputs", sample::identical as fn() -> Target),
        ("32-byte comparison of all bytes", sample::whole),
        ("1024-byte comparison with buffers that move", || sample::memcmp(1000, 1000)),
    ];
    for (name, make) in own {
        let run = |series: &mut Series<'_>| {
            let mut target = make();
            let settings = thorough(&mut target);
            series.measure(&mut target, settings)
        };
        keep(alarms(name, options.nulls, series, &mut coverage, run), options.nulls);
    }
    let bimodal = |series: &mut Series<'_>, settings: Settings| {
        series.simulate(1, settings, |clock, seed| sample::bimodal(clock, seed, MODES))
    };
    let name = "a function with two modes, on a mock clock";
    let run = |series: &mut Series<'_>| bimodal(series, Settings { stop_early: false, ..Settings::default() });
    keep(alarms(name, options.nulls, series, &mut coverage, run), options.nulls);
    for target in targets.iter_mut() {
        let settings = thorough(target);
        let name = target.name().to_owned();
        let run = |series: &mut Series<'_>| series.measure(target, settings.clone());
        keep(alarms(&name, options.nulls, series, &mut coverage, run), options.nulls);
    }
    keep(coverage.check(), options.nulls);
    let run = |series: &mut Series<'_>| bimodal(series, Settings::default());
    keep(settled(name, options.settled, series, run), options.settled);
    for target in targets {
        let name = target.name().to_owned();
        let run = |series: &mut Series<'_>| series.measure(target, Settings::default());
        keep(settled(&name, options.settled, series, run), options.settled);
    }
}

fn alarms(
    name: &str,
    runs: u64,
    series: &mut Series<'_>,
    coverage: &mut Coverage,
    mut run: impl FnMut(&mut Series<'_>) -> PairOutcome,
) -> Check {
    let what = format!("false alarms: {name}");
    let (mut rejected, mut leaks, mut done, mut ends) = (0, 0, 0, [0_u64; 3]);
    for _ in 0..runs {
        if !series.steps.step(&what) {
            break;
        }
        let outcome = run(series);
        done += 1;
        rejected += u64::from(outcome.p <= 0.01);
        leaks += u64::from(outcome.verdict == Verdict::Leak);
        for (end, verdict) in ends.iter_mut().zip([Verdict::NoLeakAbove, Verdict::Inconclusive, Verdict::Invalid]) {
            *end += u64::from(outcome.verdict == verdict);
        }
        coverage.add(&outcome.single);
    }
    let detail = format!(
        "rejected at α = 1 %, all planned looks; ended as LEAK: {leaks}, NO_LEAK_ABOVE: {}, INCONCLUSIVE: {}, \
        INVALID: {}",
        ends[0], ends[1], ends[2]
    );
    judged(what, rejected, done, Bar::AtMost(0.015), detail)
}

/// Counts how often a function gets the verdict `NO_LEAK_ABOVE` within a minute.
fn settled(
    name: &str,
    runs: u64,
    series: &mut Series<'_>,
    mut run: impl FnMut(&mut Series<'_>) -> PairOutcome,
) -> Check {
    let what = format!("NO_LEAK_ABOVE within a minute: {name}");
    let (mut found, mut done, mut longest, mut bound) = (0, 0, 0.0_f64, 0.0_f64);
    for _ in 0..runs {
        if !series.steps.step(&what) {
            break;
        }
        let begin = Instant::now();
        let outcome = run(series);
        done += 1;
        let good = outcome.verdict == Verdict::NoLeakAbove && begin.elapsed() <= Duration::from_secs(60);
        found += u64::from(good);
        longest = longest.max(begin.elapsed().as_secs_f64());
        if good {
            bound = bound.max(outcome.bound());
        }
    }
    let detail = format!("longest run {longest:.1} s, widest bound {bound:.1} ns");
    judged(what, found, done, Bar::AtLeast(0.9), detail)
}

/// Counts how often the interval of each statistic covers the true difference.
#[derive(Default)]
pub(super) struct Coverage {
    runs: u64,
    /// For each statistic, the total number of intervals. `covered` contains, for each statistic, the number of
    /// intervals with the true difference.
    known: Vec<u64>,
    covered: Vec<u64>,
}

impl Coverage {
    fn add(&mut self, intervals: &[Option<Interval>]) {
        self.add_shifted(intervals, |interval| interval.covers(0.0));
    }

    pub(super) fn add_shifted(&mut self, intervals: &[Option<Interval>], covers: impl Fn(&Interval) -> bool) {
        self.runs += 1;
        self.known.resize(intervals.len(), 0);
        self.covered.resize(intervals.len(), 0);
        for ((known, covered), interval) in self.known.iter_mut().zip(&mut self.covered).zip(intervals) {
            *known += u64::from(interval.is_some());
            *covered += u64::from(interval.as_ref().is_some_and(&covers));
        }
    }

    fn check(&self) -> Check {
        self.judged("99 % intervals that cover zero for functions that do not leak, worst statistic".to_owned())
    }

    /// Returns the check. The check uses the statistic whose intervals contain the true difference least often.
    pub(super) fn judged(&self, what: String) -> Check {
        let share = |index: usize| self.covered[index] as f64 / self.known[index] as f64;
        let known: Vec<usize> = (0..self.known.len()).filter(|&index| self.known[index] > 0).collect();
        let all: Vec<String> =
            known.iter().map(|&index| format!("{} {:.1} %", timing::names()[index], share(index) * 100.0)).collect();
        let worst = known.iter().copied().min_by(|&x, &y| share(x).total_cmp(&share(y)));
        let (covered, runs) = worst.map_or((0, 0), |index| (self.covered[index], self.known[index]));
        judged(what, covered, runs, Bar::AtLeast(0.985), all.join(", "))
    }
}
