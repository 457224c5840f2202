//! Checks that a worker follows the protocol. The check sends requests that an ordinary run rarely sends.

use std::time::{Duration, Instant};

use super::worker::{NO_CALL, Request, Worker};
use super::{Error, pace};
use crate::plural::plural;
use crate::random::Random;

/// The result of checking one rule of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that the worker must follow.
    pub what: String,
    /// Whether the worker keeps the rule.
    pub passed: bool,
    /// The measured values from which the result follows.
    pub detail: String,
}

/// The number of iterations of a delay that is so long that any overhead is negligible.
const LONG: u32 = 200_000;

/// The longest step of a worker's clock that the check accepts, in nanoseconds. A clock with longer steps cannot
/// measure short calls.
const COARSE_NS: f64 = 2000.0;

/// The largest number of measurements in one request of 1 MiB, if the measurements contain no calls. A measurement
/// without calls takes eight bytes of a request.
const MANY: usize = (1 << 20) / 8;

/// The time in seconds of a short delay.
const SHORT: f64 = 200e-6;

/// Starts a worker and checks each rule of the protocol. Each answer must come within `limit`. The function calls
/// `show` with each finding as soon as the finding is known.
///
/// # Errors
/// Fails if the worker does not start, ends, does not answer in time, or sends an answer in a wrong format.
pub fn check(command: &str, limit: Duration, show: &mut dyn FnMut(&Finding)) -> Result<Vec<Finding>, Error> {
    let worker = Worker::start(command, limit)?;
    let mut findings = Vec::new();
    let mut keep = |what: &str, passed: bool, detail: String| {
        let finding = Finding { what: what.to_owned(), passed, detail };
        show(&finding);
        findings.push(finding);
    };
    let (hello, pace) = (worker.hello(), worker.pace());
    let ns = |ticks: f64| ticks * 1e9 / hello.hertz;
    let targets = hello.targets.len() as u64;
    let targets = format!("{targets} {}", plural(targets, "target", "targets"));
    keep(
        "the first message describes the worker",
        true,
        format!("{} on {}, clock {}, {targets}", hello.language, hello.runtime, hello.clock),
    );
    for slots in [0, 1, 3, 1000, MANY] {
        delays(&worker, &vec![0; slots], &vec![0; slots])?;
    }
    keep("requests of 0, 1, 3 and 1000 measurements, and of 1 MiB, are answered", true, String::new());
    let loop_rule = "the delay loop takes time";
    match long_delay(&worker)? {
        Some(delay) => {
            keep(loop_rule, true, format!("{:.2} ns for each turn", delay.turn_ns));
            keep(
                "the clock counts as many seconds as the lab's clock",
                (0.7..=1.1).contains(&delay.share),
                format!("{:.2} of the elapsed time", delay.share),
            );
            keep(
                "the clock is fine enough for short calls",
                delay.step > 0 && ns(delay.step as f64) <= COARSE_NS,
                format!("{:.0} ns for a step, {:.0} ns without a call", ns(delay.step as f64), ns(pace.overhead)),
            );
        }
        None => {
            let why = format!("{} turns take no time; has the compiler removed the loop?", u32::MAX);
            keep(loop_rule, false, why);
        }
    }
    let ratio = ratio(&worker)?;
    keep("twice the delay takes twice as long", TWICE.contains(&ratio), format!("{ratio:.2} times"));
    let before = shortest(&worker, LONG, 0)?;
    keep(
        "the delay before a measurement is not measured",
        before < pace.overhead + pace.turn_ticks * f64::from(LONG) / 4.0,
        format!("{:.0} ns with a delay of {:.0} ns before", ns(before), ns(pace.turn_ticks * f64::from(LONG))),
    );
    for index in 0..hello.targets.len() {
        let Finding { what, passed, detail } = repeated_calls(&worker, index)?;
        keep(&what, passed, detail);
    }
    let status = worker.close();
    keep(
        "the worker ends when its standard input is closed",
        status.is_some_and(|status| status.success()),
        status.map_or_else(|| "it still runs after a second".to_owned(), |status| status.to_string()),
    );
    Ok(findings)
}

fn delays(worker: &Worker, before: &[u32], within: &[u32]) -> Result<Vec<f64>, Error> {
    let mut ticks = vec![0; before.len()];
    let request = Request { target: NO_CALL, repeats: 1, before, within, length: 0, inputs: &[] };
    worker.exchange(&request, &mut ticks)?;
    Ok(ticks.into_iter().map(|ticks| ticks as f64).collect())
}

/// If the ratio of two times is in this range, the check treats one time as twice the other time.
const TWICE: std::ops::RangeInclusive<f64> = 1.6..=2.4;

/// Measures a delay and a delay of twice its length, and returns the ratio of the longer time to the shorter time. The
/// time of an empty measurement is subtracted from both times. The two delays are short and alternate, so that other
/// programs interrupt only few of the measurements. The function makes up to five attempts, because a busy machine may
/// disturb all measurements of one of the two delays.
fn ratio(worker: &Worker) -> Result<f64, Error> {
    let pace = worker.pace();
    let ticks = (SHORT * worker.hello().hertz).max(50.0 * pace.step as f64);
    let turns = (ticks / pace.turn_ticks).clamp(1000.0, f64::from(LONG)) as u32;
    let mut ratio = 0.0;
    for _ in 0..5 {
        let mut shortest = [f64::INFINITY; 2];
        for _ in 0..8 {
            let times = delays(worker, &[0; 10], &[turns, 2 * turns].repeat(5))?;
            for (slot, time) in times.into_iter().enumerate() {
                shortest[slot % 2] = shortest[slot % 2].min(time);
            }
        }
        let [single, double] = shortest.map(|time| (time - pace.overhead).max(1.0));
        ratio = double / single;
        if TWICE.contains(&ratio) {
            break;
        }
    }
    Ok(ratio)
}

/// Returns the shortest of many measured times, because other programs disturb the shortest measurement least.
fn shortest(worker: &Worker, before: u32, within: u32) -> Result<f64, Error> {
    let mut shortest = f64::INFINITY;
    for _ in 0..8 {
        shortest = delays(worker, &[before; 5], &[within; 5])?.into_iter().fold(shortest, f64::min);
    }
    Ok(shortest)
}

/// A long delay within a measurement.
struct LongDelay {
    /// The time of one iteration of the delay loop, by the lab's clock.
    turn_ns: f64,
    /// The time that the worker's clock measured, divided by the time that the lab's clock measured.
    share: f64,
    /// The step of the worker's clock in ticks, or 0 if the clock does not advance. The step is the greatest common
    /// divisor of all measured times.
    step: u64,
}

/// The minimum time of a long delay in seconds. Even on a busy machine, sending a request and receiving its answer
/// takes much less than this time.
const DELAY_S: f64 = 0.2;

/// Doubles a delay until the delay takes at least [`DELAY_S`] on the lab's clock. Returns `None` if even the longest
/// possible delay takes less time than [`DELAY_S`]. The function measures the last delay three times, because other
/// programs may delay the worker's answers. The function returns the shortest of the three times and the largest of the
/// three ratios to the lab's clock.
fn long_delay(worker: &Worker) -> Result<Option<LongDelay>, Error> {
    let (mut turns, mut step) = (1000_u32, 0);
    loop {
        let (mut shortest, mut share) = (f64::INFINITY, 0.0_f64);
        for _ in 0..3 {
            let begin = Instant::now();
            let ticks = delays(worker, &[0], &[turns])?[0];
            let elapsed = begin.elapsed().as_secs_f64();
            shortest = shortest.min(elapsed);
            step = pace::divisor(step, ticks as u64);
            share = share.max(ticks / worker.hello().hertz / elapsed);
            if shortest < DELAY_S {
                break;
            }
        }
        if shortest >= DELAY_S {
            return Ok(Some(LongDelay { turn_ns: shortest * 1e9 / f64::from(turns), share, step }));
        }
        if turns == u32::MAX {
            return Ok(None);
        }
        turns = turns.saturating_mul(2);
    }
}

/// The calls in a large request take at most this time in seconds. Slow targets get fewer calls.
const LARGE_S: f64 = 2.0;
/// The time in seconds of repeated calls in one measurement.
const REPEATED_S: f64 = 5e-3;
/// The minimum and the maximum number of repeated calls in one measurement. The minimum is 40 because the check
/// requires that the repeated calls take longer than 20 calls.
const REPEATED: std::ops::RangeInclusive<f64> = 40.0..=20_000.0;
/// If the worker really makes [`REPEATED`] calls, the calls take at least this time in seconds. The times of two
/// measurements without calls differ by less than this time.
const VISIBLE_S: f64 = 1e-6;

/// Checks that a worker makes all calls of a measurement.
fn repeated_calls(worker: &Worker, index: usize) -> Result<Finding, Error> {
    let (hello, pace, mut random) = (worker.hello(), worker.pace(), Random::new(1));
    let (target, length) = (&hello.targets[index], hello.targets[index].abi.length());
    // Returns the shortest time in the answer to a request, minus the time of an empty measurement.
    let mut shortest = |slots: usize, repeats: u32| -> Result<f64, Error> {
        let mut inputs = vec![0; slots * length];
        random.fill(&mut inputs);
        let (before, mut ticks) = (vec![0; slots], vec![0; slots]);
        let request = Request { target: index as u32, repeats, before: &before, within: &[], length, inputs: &inputs };
        worker.exchange(&request, &mut ticks)?;
        Ok(ticks.into_iter().min().unwrap_or_default() as f64 - pace.overhead)
    };
    let begin = Instant::now();
    shortest(1, 1)?;
    let affordable = (LARGE_S / begin.elapsed().as_secs_f64()) as usize;
    shortest(((1 << 20) / length).min(4096).min(affordable).max(1), 1)?;
    let visible = 4.0 * pace.step as f64;
    let count = |one: f64| (REPEATED_S * hello.hertz / one.max(1.0)).clamp(*REPEATED.start(), *REPEATED.end()) as u32;
    // During the first series of calls, a compiler in the worker can compile the function.
    let warm = count(shortest(5, 1)?);
    shortest(3, warm)?;
    let one = shortest(5, 1)?;
    // A time below `visible` is too short for the clock, so it is replaced by zero.
    let one = if one < visible { 0.0 } else { one };
    let calls = count(one);
    let many = shortest(3, calls)?;
    let ns = |ticks: f64| ticks.max(0.0) * 1e9 / hello.hertz;
    Ok(Finding {
        what: format!("{}: {calls} calls take longer than 20 calls", target.name),
        passed: many > (20.0 * one).max(visible).max(VISIBLE_S * hello.hertz),
        detail: format!("{:.0} ns for one call, {:.0} ns for {calls} calls together", ns(one), ns(many)),
    })
}
