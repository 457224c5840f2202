//! Checks that a worker follows the protocol, with requests that an ordinary run rarely makes.

use std::time::{Duration, Instant};

use super::Error;
use super::worker::{NO_CALL, Request, Worker};
use crate::plural::plural;
use crate::random::Random;

/// The result of one check of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub what: String,
    /// Whether the worker keeps the rule.
    pub passed: bool,
    /// What was measured.
    pub detail: String,
}

/// Iterations of a delay that is long beside every overhead.
const LONG: u32 = 200_000;

/// The longest step of a clock with which short calls can be measured.
const COARSE_NS: f64 = 2000.0;

/// The number of measurements in a request of 1 MiB. Without calls, each of them takes eight bytes.
const MANY: usize = (1 << 20) / 8;

/// The time in seconds of a short delay.
const SHORT: f64 = 200e-6;

/// Starts a worker and checks each rule of the protocol. Each answer must come within `limit`. Each finding is also
/// passed to `show` as soon as it is known.
///
/// # Errors
/// Fails if the worker does not start, ends, does not answer in time, or answers in another form.
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
    let loops = delay_loop(&worker)?;
    keep(
        "the delay loop takes time",
        loops.turn_ns.is_some(),
        loops.turn_ns.map_or_else(
            || format!("{} turns end at once; has the compiler removed the loop?", u32::MAX),
            |turn| format!("{turn:.2} ns for each turn"),
        ),
    );
    if let Some(share) = loops.share {
        keep(
            "the clock counts as many seconds as the lab's clock",
            (0.7..=1.1).contains(&share),
            format!("{share:.2} of the time that a long delay takes within a measurement"),
        );
    }
    keep(
        "the clock is fine enough for short calls",
        ns(pace.step as f64) <= COARSE_NS,
        format!(
            "its steps are {:.0} ns long, and a measurement without a call takes {:.0} ns",
            ns(pace.step as f64),
            ns(pace.overhead)
        ),
    );
    let ratio = ratio(&worker)?;
    keep("twice the delay takes twice as long", TWICE.contains(&ratio), format!("{ratio:.2} times"));
    let before = shortest(&worker, LONG, 0)?;
    keep(
        "the delay before a measurement is not measured",
        before < pace.overhead + pace.turn_ticks * f64::from(LONG) / 4.0,
        format!("{:.0} ns with a delay of {:.0} ns before", ns(before), ns(pace.turn_ticks * f64::from(LONG))),
    );
    let mut random = Random::new(1);
    for (index, entry) in hello.targets.iter().enumerate() {
        let length = entry.abi.length();
        let mut call = |slots: usize, repeats: u32| -> Result<f64, Error> {
            let mut inputs = vec![0; slots * length];
            random.fill(&mut inputs);
            let (before, mut ticks) = (vec![0; slots], vec![0; slots]);
            let request =
                Request { target: index as u32, repeats, before: &before, within: &[], length, inputs: &inputs };
            worker.exchange(&request, &mut ticks)?;
            Ok(ticks.into_iter().min().unwrap_or_default() as f64)
        };
        // As many inputs as fit in a request of 1 MiB, unless the calls take too long.
        let begin = Instant::now();
        call(1, 1)?;
        let fast = (LONGEST_S / begin.elapsed().as_secs_f64()) as usize;
        call(((1 << 20) / length).min(4096).min(fast).max(1), 1)?;
        let one = call(5, 1)? - pace.overhead;
        // A call that the clock's step hides may take no time at all.
        let one = if one < 4.0 * pace.step as f64 { 0.0 } else { one };
        let calls = (MANY_S * hello.hertz / one.max(1.0)).clamp(40.0, f64::from(MOST_CALLS)) as u32;
        let many = call(3, calls)? - pace.overhead;
        keep(
            &format!("{}: {calls} calls take longer than 20 calls", entry.name),
            many > (20.0 * one).max(4.0 * pace.step as f64).max(VISIBLE_S * hello.hertz),
            format!("{:.0} ns for one call, {:.0} ns for {calls} calls together", ns(one), ns(many.max(0.0))),
        );
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

/// The ratios that count as twice the time.
const TWICE: std::ops::RangeInclusive<f64> = 1.6..=2.4;

/// Returns the ratio of a delay to one of half the length, without the time of an empty measurement. Both delays take
/// turns and are short, so that other programs interrupt few of them. Makes up to five attempts, because all
/// measurements of one delay may be disturbed on a busy machine.
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

/// Returns the shortest of many measurements, which other programs have disturbed the least.
fn shortest(worker: &Worker, before: u32, within: u32) -> Result<f64, Error> {
    let mut shortest = f64::INFINITY;
    for _ in 0..8 {
        shortest = delays(worker, &[before; 5], &[within; 5])?.into_iter().fold(shortest, f64::min);
    }
    Ok(shortest)
}

/// The time in seconds of a delay beside which starting a request does not count.
const DELAY_S: f64 = 50e-3;
/// The time in seconds of the calls in a request, if the target is not slow.
const LONGEST_S: f64 = 2.0;
/// The time in seconds of many calls in one measurement, if the target is not slow.
const MANY_S: f64 = 5e-3;
/// The most calls in one measurement. They take longer than [`VISIBLE_S`], however short a call is.
const MOST_CALLS: u32 = 20_000;
/// A time in seconds that no measurement without a call differs by.
const VISIBLE_S: f64 = 1e-6;

/// What a long delay tells by the lab's clock.
struct DelayLoop {
    /// The time of a turn, or `None` if the loop takes no time.
    turn_ns: Option<f64>,
    /// The share of this time that the worker's clock counts.
    share: Option<f64>,
}

/// Lengthens a delay until it takes long by the lab's clock, and compares the worker's clock with it. The largest of
/// five shares and the shortest of five times count, since other programs may delay the answer.
fn delay_loop(worker: &Worker) -> Result<DelayLoop, Error> {
    let mut turns = 1000_u32;
    let timed = |turns: u32| -> Result<(f64, f64), Error> {
        let begin = Instant::now();
        let ticks = delays(worker, &[0], &[turns])?[0];
        Ok((begin.elapsed().as_secs_f64(), ticks / worker.hello().hertz))
    };
    while timed(turns)?.0 < DELAY_S {
        if turns == u32::MAX {
            return Ok(DelayLoop { turn_ns: None, share: None });
        }
        turns = turns.saturating_mul(2);
    }
    let (mut shortest, mut most) = (f64::INFINITY, 0.0_f64);
    for _ in 0..5 {
        let (elapsed, counted) = timed(turns)?;
        shortest = shortest.min(elapsed);
        most = most.max(counted / elapsed);
    }
    Ok(DelayLoop { turn_ns: Some(shortest * 1e9 / f64::from(turns)), share: Some(most) })
}
