//! Tests functions that leak. The checks count how often the lab finds the leak, and how fast.

use super::{Bar, Series, judged, sample};
use crate::distribution::median;
use crate::record::{Check, Verdict};
use crate::target::Target;
use crate::timing::{PairOutcome, Settings};

/// The lab must find a rare leak within this number of seconds of processor time. The limit is not wall-clock time,
/// because wall-clock time on a loaded machine depends mainly on the load.
const RARE: f64 = 0.1;

pub(super) fn early_exit(runs: u64, series: &mut Series<'_>) -> Check {
    let mut found = Leaks::new("early-exit comparison of 32 bytes: LEAK", runs, series, sample::early_exit);
    let middle = middle(&mut found.seconds) * 1e3;
    let mut check =
        found.judged(1.0, format!("median {middle:.1} ms of processor time for measuring (wanted: at most 10)"));
    check.passed = check.passed.map(|passed| passed && middle <= 10.0);
    check
}

/// Tests a comparison that leaks the position of the difference only at some addresses of its buffer.
pub(super) fn relocated(runs: u64, series: &mut Series<'_>) -> Check {
    let what = "1024-byte comparison, byte 1000 or byte 1023 differs: LEAK";
    let mut found = Leaks::new(what, runs, series, || sample::memcmp(1000, 1023));
    let middle = middle(&mut found.seconds) * 1e3;
    found.judged(0.95, format!("median {middle:.1} ms of processor time for measuring"))
}

/// Tests multiplications by denormal numbers. These multiplications take longer, but a trace does not show this.
pub(super) fn denormal(runs: u64, series: &mut Series<'_>) -> Check {
    let mut found = Leaks::new("multiplication by denormal numbers: LEAK", runs, series, sample::denormal);
    let middle = middle(&mut found.seconds) * 1e3;
    found.judged(1.0, format!("median {middle:.1} ms of processor time for measuring"))
}

/// The runs with one leaking function.
struct Leaks {
    what: String,
    found: u64,
    done: u64,
    seconds: Vec<f64>,
    effects: Vec<f64>,
}

impl Leaks {
    fn new(what: &str, runs: u64, series: &mut Series<'_>, make: impl Fn() -> Target) -> Self {
        let mut leaks = Self { what: what.to_owned(), found: 0, done: 0, seconds: Vec::new(), effects: Vec::new() };
        for _ in 0..runs {
            if !series.steps.step(what) {
                break;
            }
            let outcome = series.measure(&mut make(), Settings::default());
            leaks.done += 1;
            leaks.found += u64::from(outcome.verdict == Verdict::Leak);
            leaks.seconds.push(outcome.processor_seconds);
            leaks.effects.push(largest(&outcome));
        }
        leaks
    }

    fn judged(mut self, bar: f64, detail: String) -> Check {
        let detail = format!("{detail}; the leak is {:.1} ns", middle(&mut self.effects));
        judged(self.what, self.found, self.done, Bar::AtLeast(bar), detail)
    }
}

/// Returns the largest difference in the statistics of the fastest 95 % of the calls.
fn largest(outcome: &PairOutcome) -> f64 {
    let usual = outcome.facts.effects.iter().filter(|effect| effect.up_to <= 0.95);
    usual.map(|effect| effect.difference.estimate.abs()).fold(0.0, f64::max)
}

fn middle(values: &mut [f64]) -> f64 {
    if values.is_empty() { 0.0 } else { median(values) }
}

pub(super) fn rare(name: &str, make: impl Fn() -> Target, bar: f64, runs: u64, series: &mut Series<'_>) -> Check {
    let what = format!("{name} on 0.5 % of the calls: found within 100 ms of processor time");
    let (mut within, mut found, mut done, mut seconds) = (0, 0, 0, Vec::new());
    for _ in 0..runs {
        if !series.steps.step(&what) {
            break;
        }
        // With the threshold Δ = 0, any real difference is a leak.
        let outcome = series.measure(&mut make(), Settings { delta_ns: Some(0.0), ..Settings::default() });
        done += 1;
        let leak = outcome.verdict == Verdict::Leak;
        found += u64::from(leak);
        within += u64::from(leak && outcome.processor_seconds <= RARE);
        seconds.push(outcome.processor_seconds);
    }
    let detail =
        format!("LEAK at Δ = 0 in {found} of {done} runs, after any time; median {:.1} ms", middle(&mut seconds) * 1e3);
    judged(what, within, done, Bar::AtLeast(bar), detail)
}
