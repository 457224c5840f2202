//! The clocks that a measurement reads before and after a call.
//!
//! [`best`] chooses the processor's counter if the counter's rate is constant, and otherwise the clock of the operating
//! system. [`Mock`] is a clock for tests. The mock clock advances only when the test advances it, so a test of
//! statistics need not wait for real time.
//!
//! ```
//! use deadpan_lab::clock;
//!
//! let clock = clock::best();
//! let start = clock.start();
//! let stop = clock.stop();
//! println!("{} s", (stop - start) as f64 / clock.hertz());
//! assert!(stop >= start);
//! ```

use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::imp;
use crate::record::ClockFacts;

/// A clock that reads the time in ticks.
pub trait Clock {
    /// Reads the time before a measured call. Completes the reading before any part of the measured call starts.
    fn start(&self) -> u64;

    /// Reads the time after a measured call. Starts the reading only after the measured call is complete.
    fn stop(&self) -> u64;

    /// Returns the number of ticks per second.
    fn hertz(&self) -> f64;

    /// Returns the clock's name for reports.
    fn name(&self) -> &'static str;

    /// Waits for about `turns` cycles of the processor.
    #[inline(always)]
    fn delay(&self, turns: u32) {
        imp::spin::spin(turns);
    }

    /// Waits until all earlier instructions have finished. Instructions that still run could hide the delay that
    /// follows.
    #[inline(always)]
    fn settle(&self) {
        imp::counter::settle();
    }

    /// Returns the number of counter readings that this clock adds up for one reading of the time. If the clock adds up
    /// n counter readings, the clock's step is n times shorter than the counter's step.
    fn readings(&self) -> u64 {
        1
    }

    /// Returns the processor's counter if this clock is that counter. The measuring loops can then read the processor's
    /// counter with an inlined instruction instead of a call.
    fn as_counter(&self) -> Option<Counter> {
        None
    }

    /// If this clock belongs to another process, measures delays in that process. Each measurement first runs the
    /// number of iterations that `before` contains, and then measures the time of the number of iterations that
    /// `within` contains. Returns false if the clock belongs to this process.
    #[doc(hidden)]
    fn delays_elsewhere(&self, _before: &[u32], _within: &[u32], _ticks: &mut [u64]) -> bool {
        false
    }
}

/// If the counter's step is longer than this number of seconds, the clock adds up several counter readings. This number
/// of seconds corresponds to about ten cycles of a processor.
const COARSE: f64 = 3e-9;

/// The time counter of the processor: The counter is read with `rdtsc` between fences on x86-64, and with `cntvct_el0`
/// between barriers on aarch64. If the counter of an x86-64 processor moves in coarse steps, the clock adds up three
/// readings, so a tick of the clock is a third of a tick of the counter.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    hertz: f64,
    /// Whether each reading of this clock adds up several readings of the counter.
    spread: bool,
}

impl Counter {
    /// Returns the processor's counter, if the counter has a constant rate.
    #[must_use]
    pub fn new() -> Option<Self> {
        static FOUND: OnceLock<Option<Counter>> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let plain = imp::counter::steady().then(|| Self { hertz: rate(), spread: false })?;
            let coarse = step(&plain) as f64 / plain.hertz > COARSE;
            let readings = imp::counter::READINGS;
            Some(if coarse && readings > 1 {
                Self { hertz: plain.hertz * readings as f64, spread: true }
            } else {
                plain
            })
        })
    }
}

impl Clock for Counter {
    #[inline(always)]
    fn start(&self) -> u64 {
        if self.spread { imp::counter::spread() } else { imp::counter::start() }
    }

    #[inline(always)]
    fn stop(&self) -> u64 {
        if self.spread { imp::counter::spread() } else { imp::counter::stop() }
    }

    fn hertz(&self) -> f64 {
        self.hertz
    }

    fn name(&self) -> &'static str {
        if self.spread { imp::counter::SPREAD } else { imp::counter::NAME }
    }

    fn readings(&self) -> u64 {
        if self.spread { imp::counter::READINGS } else { 1 }
    }

    fn as_counter(&self) -> Option<Counter> {
        Some(*self)
    }
}

/// Returns the counter's rate. The rate that the firmware states is exact, but some firmware states a wrong one, so the
/// rate that the lab measures decides.
#[cfg(target_arch = "aarch64")]
fn rate() -> f64 {
    const AGREES: f64 = 0.01;
    let (stated, measured) = (imp::counter::stated_rate() as f64, measured_rate());
    if (stated / measured - 1.0).abs() < AGREES { stated } else { measured }
}

#[cfg(not(target_arch = "aarch64"))]
fn rate() -> f64 {
    measured_rate()
}

/// Measures the counter's rate with the system's clock. The result is the median of five measurements, so one
/// interruption does not change the result.
fn measured_rate() -> f64 {
    let mut rates: Vec<f64> = (0..5)
        .map(|_| {
            let (begin, first) = (Instant::now(), imp::counter::start());
            while begin.elapsed() < Duration::from_millis(8) {
                std::hint::spin_loop();
            }
            let (elapsed, last) = (begin.elapsed(), imp::counter::stop());
            last.wrapping_sub(first) as f64 / elapsed.as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// The operating system's monotonic clock, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct System {
    since: Instant,
}

impl System {
    /// Creates a clock that counts from now.
    #[must_use]
    pub fn new() -> Self {
        Self { since: Instant::now() }
    }
}

impl Default for System {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for System {
    #[inline]
    fn start(&self) -> u64 {
        self.since.elapsed().as_nanos() as u64
    }

    #[inline]
    fn stop(&self) -> u64 {
        self.since.elapsed().as_nanos() as u64
    }

    fn hertz(&self) -> f64 {
        1e9
    }

    fn name(&self) -> &'static str {
        "system"
    }
}

/// A clock for tests that moves only when [`Mock::advance`] or [`Clock::delay`] is called. Clones show the same time.
/// One tick is one nanosecond. An iteration of the delay loop takes 0.31 ticks, which is about the time on a real
/// processor.
#[derive(Clone, Debug)]
pub struct Mock {
    now: Rc<Cell<f64>>,
    step: f64,
}

/// The number of ticks that one iteration of the delay loop takes on the mock clock. The number is chosen so that no
/// step of the mock clock is a multiple of this number.
const MOCK_TURN: f64 = 0.31;

impl Mock {
    /// Creates a clock whose readings are multiples of `step` ticks, like the readings of a real clock with this step.
    #[must_use]
    pub fn new(step: u32) -> Self {
        Self { now: Rc::new(Cell::new(0.0)), step: f64::from(step.max(1)) }
    }

    /// Advances the clock by this many ticks.
    pub fn advance(&self, ticks: f64) {
        self.now.set(self.now.get() + ticks);
    }

    fn read(&self) -> u64 {
        ((self.now.get() / self.step).floor() * self.step) as u64
    }
}

impl Clock for Mock {
    fn start(&self) -> u64 {
        self.read()
    }

    fn stop(&self) -> u64 {
        self.read()
    }

    fn hertz(&self) -> f64 {
        1e9
    }

    fn name(&self) -> &'static str {
        "mock"
    }

    fn delay(&self, turns: u32) {
        self.advance(f64::from(turns) * MOCK_TURN);
    }
}

/// Returns the best clock of this machine: the processor's counter if the counter's rate is constant, otherwise the
/// system's clock.
#[must_use]
pub fn best() -> Box<dyn Clock> {
    match Counter::new() {
        Some(counter) => Box::new(counter),
        None => Box::new(System::new()),
    }
}

/// Measures the step of this clock and the time that a reading takes.
#[must_use]
pub fn facts(clock: &dyn Clock) -> ClockFacts {
    let nanoseconds = 1e9 / clock.hertz();
    let mut gaps: Vec<u64> = (0..4096)
        .map(|_| {
            let begin = clock.start();
            clock.stop().wrapping_sub(begin)
        })
        .collect();
    gaps.sort_unstable();
    let mean = gaps[..gaps.len() * 9 / 10].iter().sum::<u64>() as f64 / (gaps.len() * 9 / 10) as f64;
    ClockFacts {
        name: clock.name().to_owned(),
        hertz: clock.hertz(),
        step_ns: step(clock) as f64 * nanoseconds,
        overhead_ns: mean * nanoseconds,
    }
}

/// Measures the smallest step of this clock, which is the greatest common divisor of many time differences.
///
/// Some counters of AArch64 move at 1 GHz on paper, but in steps of 41 or 42 ticks of a slower counter. The greatest
/// common divisor of these steps is 1. If two readings in a row are equal, a step takes longer than a reading. The
/// smallest difference of two readings is then a single step.
#[must_use]
pub(crate) fn step(clock: &dyn Clock) -> u64 {
    let (mut step, mut least, mut stood) = (0, u64::MAX, false);
    let first = clock.start();
    let mut last = first;
    for turn in 0..2000_u32 {
        clock.delay(turn % 61);
        let now = clock.stop();
        step = divisor(step, now.wrapping_sub(first));
        match now.wrapping_sub(last) {
            0 => stood = true,
            moved => least = least.min(moved),
        }
        last = now;
    }
    if stood && least < u64::MAX { step.max(least) } else { step.max(1) }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mock_rounds_its_time_down_to_steps() {
        let clock = Mock::new(10);
        let shared = clock.clone();
        shared.advance(19.5);
        assert_eq!(clock.start(), 10);
        shared.advance(0.5);
        assert_eq!(clock.stop(), 20);
    }

    /// A clock with a rate of 1 GHz that copies a slower counter, so that its steps differ by a tick.
    struct Copied(Mock, f64);

    impl Clock for Copied {
        fn start(&self) -> u64 {
            ((self.0.now.get() / self.1).floor() * self.1) as u64
        }

        fn stop(&self) -> u64 {
            self.start()
        }

        fn hertz(&self) -> f64 {
            1e9
        }

        fn name(&self) -> &'static str {
            "mock"
        }

        fn delay(&self, turns: u32) {
            self.0.delay(turns);
        }
    }

    #[test]
    fn the_step_of_a_copied_counter_is_not_the_divisor_of_its_steps() {
        for (hertz, wanted) in [(24e6, 41), (25e6, 40), (62.5e6, 16), (1e9, 1)] {
            assert_eq!(step(&Copied(Mock::new(1), 1e9 / hertz)), wanted, "{hertz}");
        }
    }

    #[test]
    #[expect(clippy::print_stdout)]
    fn the_counter_agrees_with_the_system() {
        let Some(counter) = Counter::new() else {
            return println!("skipped: the processor has no counter with a constant rate");
        };
        // The test reads the system's clock before and after each reading of the counter. If this thread pauses between
        // the readings, the test accepts a wider range of counter values and does not fail.
        let reading = || {
            let before = Instant::now();
            (before, counter.start(), Instant::now())
        };
        let first = reading();
        std::thread::sleep(Duration::from_millis(30));
        let last = reading();
        let seconds = (last.1 - first.1) as f64 / counter.hertz();
        let least = last.0.duration_since(first.2).as_secs_f64() * 0.98;
        let most = last.2.duration_since(first.0).as_secs_f64() * 1.02;
        assert!((least..most).contains(&seconds), "{seconds} is not from {least} to {most}");
    }

    #[test]
    #[expect(clippy::print_stdout)]
    fn the_sum_of_readings_lies_between_the_readings_before_and_after() {
        if !imp::counter::steady() {
            return println!("skipped: the processor has no counter with a constant rate");
        }
        for _ in 0..1000 {
            let (before, sum, after) = (imp::counter::start(), imp::counter::spread(), imp::counter::stop());
            let readings = imp::counter::READINGS;
            assert!((readings * before..=readings * after).contains(&sum), "{before} {sum} {after}");
        }
    }

    #[test]
    fn facts_of_the_best_clock_are_plausible() {
        let facts = facts(&*best());
        assert!(facts.step_ns > 0.0 && facts.step_ns < 1e6, "{facts:?}");
        assert!(facts.hertz > 1e6, "{facts:?}");
    }
}
