//! Tests whether races can be trusted on this machine. A race (a speed comparison) between equal functions must report
//! them as the same, and a race must detect a difference of one percent. In both tests, an inconclusive race is a
//! failure.

use std::hint::black_box;

use crate::clock::Clock;
use crate::distribution::clopper_pearson;
use crate::record::{Check, Outcome};
use crate::speed::{RaceOptions, race};
use crate::watch::Watch;

/// The number of steps of the function that races against itself.
const STEPS: u64 = 10_000;

/// Makes `steps` steps. Each step needs the result of the step before.
#[inline(never)]
fn chain(steps: u64) -> u64 {
    let mut value = black_box(1_u64);
    for step in 0..steps {
        value = (value ^ step).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
    value
}

fn calls(steps: u64) -> impl FnMut(u64) {
    move |iterations| {
        for _ in 0..iterations {
            black_box(chain(black_box(steps)));
        }
    }
}

/// Runs `runs` races (speed comparisons) of a function against itself. At least 99 of 100 races must have the outcome
/// "the same". A race fails the test if it reports a difference or is inconclusive.
pub fn selftest_same(runs: u64, clock: &dyn Clock, options: &RaceOptions, watch: &mut dyn Watch) -> Check {
    let same = races("same", runs, STEPS, clock, options, watch, |outcome| outcome == Outcome::Same);
    check("a function is reported as the same as itself", "at least 99 %", same, |rate| rate >= 0.99)
}

/// Runs races (speed comparisons) of a function against the same function with one percent more work. There are `runs`
/// such races. At least 95 of 100 races must find the difference.
///
/// Both functions are the same code at the same address, with different numbers of steps. Two copies of the code would
/// have different addresses, and this could cause a difference.
pub fn selftest_change(runs: u64, clock: &dyn Clock, options: &RaceOptions, watch: &mut dyn Watch) -> Check {
    let found = races("change", runs, STEPS + STEPS / 100, clock, options, watch, |outcome| outcome == Outcome::Slower);
    check("one percent more work is reported as slower", "at least 95 %", found, |rate| rate >= 0.95)
}

/// Returns the number of races, and the number of races for whose outcome `counts` returns true.
fn races(
    what: &str,
    runs: u64,
    steps: u64,
    clock: &dyn Clock,
    options: &RaceOptions,
    watch: &mut dyn Watch,
    counts: impl Fn(Outcome) -> bool,
) -> (u64, u64) {
    let mut found = 0;
    for run in 0..runs {
        if watch.stopped() {
            return (run, found);
        }
        watch.progress(what, run, runs);
        let options = RaceOptions { seed: options.seed.wrapping_add(run), ..*options };
        let comparison = race(&mut calls(STEPS), &mut calls(steps), clock, &options, &mut crate::watch::Silent);
        found += u64::from(counts(comparison.outcome));
    }
    (runs, found)
}

fn check(what: &str, wanted: &str, (runs, found): (u64, u64), met: impl Fn(f64) -> bool) -> Check {
    Check {
        what: what.to_owned(),
        runs,
        found,
        rate: clopper_pearson(found, runs, 0.95),
        wanted: wanted.to_owned(),
        detail: "paired and interleaved races of a dependent chain of 10 000 steps".to_owned(),
        passed: (runs > 0).then(|| met(found as f64 / runs as f64)),
    }
}
