//! Clocks: what a measurement reads before and after a call.
//!
//! [`best`] is the processor's own counter where it has a steady one, and the operating system's clock elsewhere. [`Mock`] is for tests: it
//! shows what it was told, so that statistics can be tested without time.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::imp;
use crate::record::ClockFacts;

/// Reads time in ticks.
pub trait Clock {
    /// Read before what is measured: nothing of that may begin earlier.
    fn start(&self) -> u64;

    /// Read after it: nothing of it may still be running.
    fn stop(&self) -> u64;

    /// Ticks in a second.
    fn hertz(&self) -> f64;

    /// A name for reports.
    fn name(&self) -> &'static str;

    /// Lets about so many cycles pass.
    #[inline(always)]
    fn delay(&self, turns: u32) {
        imp::spin::spin(turns);
    }

    /// Lets everything finish that has begun, so that a delay after it is not hidden behind it.
    #[inline(always)]
    fn settle(&self) {
        imp::counter::settle();
    }

    /// The processor's counter, if this is it: measuring loops are then compiled around the instruction.
    fn as_counter(&self) -> Option<Counter> {
        None
    }
}

/// From this step on, in seconds, a counter is read several times: a processor's cycle is ten times shorter.
const COARSE: f64 = 3e-9;

/// The processor's time counter: `rdtsc` between fences on x86-64, `cntvct_el0` between barriers on aarch64. On x86-64, where it moves in
/// coarse steps, three readings are added up, and its ticks are a third as long.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    hertz: f64,
    /// Whether it is read several times.
    spread: bool,
}

impl Counter {
    /// The counter, where there is one that runs at a constant rate.
    #[must_use]
    pub fn new() -> Option<Self> {
        static FOUND: OnceLock<Option<Counter>> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let plain = imp::counter::steady().then(|| Self { hertz: rate(), spread: false })?;
            let coarse = step(&plain) as f64 / plain.hertz > COARSE;
            let readings = imp::counter::READINGS;
            Some(if coarse && readings > 1 { Self { hertz: plain.hertz * readings as f64, spread: true } } else { plain })
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

    fn as_counter(&self) -> Option<Counter> {
        Some(*self)
    }
}

/// The counter's rate, against the system's clock: the median of five windows, so that one interruption does not shift it.
fn rate() -> f64 {
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
    /// Counts from now.
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

/// A clock that stands still until [`Mock::advance`] moves it. Clones show the same time. One tick is one nanosecond.
#[derive(Clone, Debug)]
pub struct Mock {
    now: Rc<Cell<f64>>,
    step: f64,
}

impl Mock {
    /// A clock that moves in steps of so many ticks, as real ones do.
    #[must_use]
    pub fn new(step: u32) -> Self {
        Self { now: Rc::new(Cell::new(0.0)), step: f64::from(step.max(1)) }
    }

    /// Lets time pass.
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
        self.advance(f64::from(turns));
    }
}

/// The best clock of this machine.
#[must_use]
pub fn best() -> Box<dyn Clock> {
    match Counter::new() {
        Some(counter) => Box::new(counter),
        None => Box::new(System::new()),
    }
}

/// What reading this clock takes and how finely it steps, measured.
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

/// The smallest step that this clock makes: the greatest common divisor of many differences.
#[must_use]
pub(crate) fn step(clock: &dyn Clock) -> u64 {
    let mut step = 0;
    let first = clock.start();
    for turn in 0..2000_u32 {
        clock.delay(turn % 61);
        step = divisor(step, clock.stop().wrapping_sub(first));
    }
    step.max(1)
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mock_shows_the_time_it_was_given_in_steps() {
        let clock = Mock::new(10);
        let shared = clock.clone();
        shared.advance(19.5);
        assert_eq!(clock.start(), 10);
        shared.advance(0.5);
        assert_eq!(clock.stop(), 20);
    }

    #[test]
    #[expect(clippy::print_stdout)]
    fn the_counter_agrees_with_the_system() {
        let Some(counter) = Counter::new() else { return println!("skipped: no steady counter here") };
        let (begin, first) = (Instant::now(), counter.start());
        std::thread::sleep(Duration::from_millis(30));
        let (last, elapsed) = (counter.stop(), begin.elapsed());
        let seconds = (last - first) as f64 / counter.hertz();
        assert!((seconds / elapsed.as_secs_f64() - 1.0).abs() < 0.02, "{seconds} {elapsed:?}");
    }

    #[test]
    #[expect(clippy::print_stdout)]
    fn readings_that_are_added_up_lie_between_those_around_them() {
        if !imp::counter::steady() {
            return println!("skipped: no steady counter here");
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
