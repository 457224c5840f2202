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
    keep(
        "the delay loop takes time in the measurement",
        pace.turn_ticks * f64::from(LONG) > 4.0 * pace.step as f64,
        format!("{:.2} ns for each iteration, {:.0} ns without", ns(pace.turn_ticks), ns(pace.overhead)),
    );
    let ratio = ratio(&worker)?;
    keep("twice the delay takes twice as long", TWICE.contains(&ratio), format!("{ratio:.2} times"));
    let before = shortest(&worker, LONG, 0)?;
    keep(
        "the delay before a measurement is not measured",
        before < pace.overhead + pace.turn_ticks * f64::from(LONG) / 4.0,
        format!("{:.0} ns with a delay of {:.0} ns before", ns(before), ns(pace.turn_ticks * f64::from(LONG))),
    );
    let share = clock_share(&worker)?;
    keep(
        "the clock counts as many seconds as the lab's clock",
        (0.7..=1.1).contains(&share),
        format!("{share:.2} of the elapsed time"),
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
        call(1, 1)?;
        call(((1 << 20) / length).clamp(1, 4096), 1)?;
        call(31, 200)?;
        let (one, many) = (call(31, 1)? - pace.overhead, call(31, 200)? - pace.overhead);
        keep(
            &format!("{}: 200 calls take longer than 20 calls", entry.name),
            many > 20.0 * one.max(0.1) || one < 4.0 * pace.step as f64 && many > one,
            format!("{:.0} ns for one call, {:.0} ns for 200 calls together", ns(one.max(0.0)), ns(many)),
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

/// Returns the share of the elapsed time that the worker's clock counts during a long delay. The largest of five shares
/// counts, since other programs may delay the answer.
fn clock_share(worker: &Worker) -> Result<f64, Error> {
    let turns = (50e-3 * worker.hello().hertz / worker.pace().turn_ticks).clamp(1.0, 4e9) as u32;
    let mut most = 0.0_f64;
    for _ in 0..5 {
        let begin = Instant::now();
        let ticks = delays(worker, &[0], &[turns])?[0];
        most = most.max(ticks / worker.hello().hertz / begin.elapsed().as_secs_f64());
    }
    Ok(most)
}
