//! Timing verdicts on clocks whose step is long for the call, like the counters of 24 MHz on AArch64.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use deadpan_lab::clock::Clock;
use deadpan_lab::record::{Timing, Verdict};
use deadpan_lab::timing::{self, Settings};
use deadpan_lab::{Random, Silent, Target};

/// The duration of a call in nanoseconds.
const CALL: f64 = 50.0;

/// A clock for tests with steps of any length. The clock moves only when a call or a delay advances it.
#[derive(Clone, Debug)]
struct Coarse {
    nanoseconds: Rc<Cell<f64>>,
    step_ns: f64,
    hertz: f64,
    /// Whether a reading before a call waits for the next step.
    waits: bool,
}

impl Coarse {
    /// Creates a clock with one tick for each step.
    fn new(hertz: f64) -> Self {
        Self { nanoseconds: Rc::default(), step_ns: 1e9 / hertz, hertz, waits: false }
    }

    /// Creates a clock that states a rate of 1 GHz, but copies a counter with this rate.
    fn copied(hertz: f64) -> Self {
        Self { hertz: 1e9, ..Self::new(hertz) }
    }

    fn advance(&self, nanoseconds: f64) {
        self.nanoseconds.set(self.nanoseconds.get() + nanoseconds);
    }
}

impl Clock for Coarse {
    fn start(&self) -> u64 {
        if self.waits {
            self.nanoseconds.set((self.nanoseconds.get() / self.step_ns).ceil() * self.step_ns);
        }
        self.stop()
    }

    fn stop(&self) -> u64 {
        let steps = (self.nanoseconds.get() / self.step_ns + 1e-9).floor();
        (steps * self.step_ns * self.hertz / 1e9 + 1e-6) as u64
    }

    fn hertz(&self) -> f64 {
        self.hertz
    }

    fn name(&self) -> &'static str {
        "coarse"
    }

    fn delay(&self, turns: u32) {
        self.advance(0.31 * f64::from(turns));
    }
}

/// Measures a function whose calls take `call` nanoseconds and some noise. The calls of the second class take `leak`
/// nanoseconds longer. A difference above `delta_ns` is a leak.
fn simulate(clock: &Coarse, seed: u64, call: f64, leak: f64, delta_ns: f64) -> Timing {
    let (inner, mut random) = (clock.clone(), Random::new(!seed));
    let function = move |input: &mut [u8]| inner.advance(call + random.normal().abs() + leak * f64::from(input[0]));
    let target = Target::in_place("coarse", 1, function).fixed("a", &[0]).fixed("b", &[1]);
    run(clock, &settings(seed, delta_ns), target)
}

fn run(clock: &Coarse, settings: &Settings, mut target: Target) -> Timing {
    timing::run(&mut target, settings, clock, &mut Silent)
}

/// Returns settings with a time limit that no test reaches, so the result depends only on the seed.
fn settings(seed: u64, delta_ns: f64) -> Settings {
    let time_limit = Duration::from_secs(3600);
    Settings { looks: 4, delta_ns: Some(delta_ns), time_limit, seed, ..Settings::default() }
}

/// Returns clocks of AArch64 processors. For each clock, the function also returns a leak per call that is far below a
/// step of the clock, and a threshold.
fn clocks() -> [(Coarse, f64, f64); 3] {
    [(Coarse::new(24e6), 5.0, 1.0), (Coarse::copied(24e6), 5.0, 1.0), (Coarse::new(1e9), 0.3, 0.1)]
}

/// Returns the length of a clock step for each call of a measurement, in nanoseconds.
fn step_per_call(clock: &Coarse, report: &Timing) -> f64 {
    clock.step_ns.floor() / f64::from(report.repeats)
}

#[test]
fn a_leak_far_below_a_clock_step_is_found_and_its_size_is_in_the_interval() {
    for (clock, leak, delta_ns) in clocks() {
        for seed in 0..3 {
            let report = simulate(&clock, seed, CALL, leak, delta_ns);
            let pair = &report.pairs[0];
            assert_eq!(report.verdict, Verdict::Leak, "{clock:?}: {}", pair.reason);
            assert!(f64::from(report.repeats) * CALL > 1.9 * clock.step_ns, "{clock:?}: {} calls", report.repeats);
            assert!(pair.effects[0].difference.covers(leak), "{clock:?}: {:?}", pair.effects[0]);
        }
    }
}

#[test]
fn without_a_leak_the_bounds_are_as_wide_as_the_clock_needs() {
    for (clock, _, delta_ns) in clocks() {
        let report = simulate(&clock, 1, CALL, 0.0, delta_ns);
        let pair = &report.pairs[0];
        assert_eq!(report.verdict, Verdict::NoLeakAbove, "{clock:?}: {}", pair.reason);
        assert!(pair.bound_ns > 0.0 && pair.bound_ns <= delta_ns, "{clock:?}: {}", pair.reason);
        // The random delays inside the measurements make bounds below a step possible, but not for the slowest calls.
        assert!(pair.tail_bound_ns >= step_per_call(&clock, &report), "{clock:?}: {}", pair.reason);
        assert!(pair.controls.delay.passed && pair.controls.leak.passed, "{:?}", pair.controls);
    }
}

#[test]
fn a_bound_is_never_below_the_true_difference() {
    for (clock, _, delta_ns) in clocks() {
        for (seed, share) in (0..).zip([0.1, 0.6]) {
            let report = simulate(&clock, seed, CALL, share * delta_ns, delta_ns);
            let pair = &report.pairs[0];
            assert!(matches!(report.verdict, Verdict::NoLeakAbove | Verdict::BelowThreshold), "{}", pair.reason);
            assert!(pair.bound_ns >= share * delta_ns, "{clock:?} {share}: {}", pair.reason);
        }
    }
}

/// If each measurement starts at a step, the plain times of both classes may be equal although the calls differ.
#[test]
fn a_clock_that_waits_for_its_next_step_hides_no_leak() {
    let clock = Coarse { waits: true, ..Coarse::copied(24e6) };
    for call in [CALL, 57.0, 64.0] {
        let inner = clock.clone();
        let target = Target::new("coarse", 1, move |input| inner.advance(call + 5.0 * f64::from(input[0])))
            .fixed("a", &[0])
            .fixed("b", &[1]);
        let short = Settings { time_limit: Duration::from_millis(300), ..settings(1, 1.0) };
        let report = run(&clock, &short, target);
        assert_ne!(report.verdict, Verdict::NoLeakAbove, "{call}: {}", report.pairs[0].reason);
    }
}

#[test]
fn a_short_call_that_cannot_be_repeated_is_unmeasurable() {
    let clock = Coarse::new(24e6);
    let inner = clock.clone();
    // Each call needs its own copy of the input, and there is no room for a second copy.
    let target = Target::in_place("coarse", 40_000, move |input| inner.advance(CALL + 5.0 * f64::from(input[0])))
        .fixed("a", &[0; 40_000])
        .fixed("b", &[1; 40_000]);
    let report = run(&clock, &settings(1, 1.0), target);
    assert_eq!((report.verdict, report.repeats), (Verdict::Unmeasurable, 1), "{}", report.pairs[0].reason);
}

/// The random delays are at most a few microseconds long, so they cannot spread the calls over a longer step.
#[test]
fn a_clock_with_steps_of_many_microseconds_is_too_coarse_for_short_calls() {
    for clock in [Coarse::new(1e3), Coarse::copied(1e4), Coarse::new(1e5), Coarse::copied(1e5)] {
        let report = simulate(&clock, 1, CALL, 5.0, 1.0);
        assert_eq!(report.verdict, Verdict::Unmeasurable, "{clock:?}: {}", report.pairs[0].reason);
    }
}
