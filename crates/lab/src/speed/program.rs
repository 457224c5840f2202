//! Compares the speed of whole programs. Each program runs as if a user had started it.
//!
//! Each round runs the programs in a random order and then in the reverse order. Before each run the system writes its
//! cached data to the disks. If the system did not write the cached data before each run, the time of a program would
//! include the time to write the data of the previous program. Without this write to the disks, the times of programs
//! that write files would form two groups.
//!
//! ```
//! use deadpan_lab::Silent;
//! use deadpan_lab::speed::program::{Options, Program, compare};
//!
//! let short = Program::new("short", ["sleep", "0.01"]);
//! let long = Program::shell("long", "sleep 0.01; sleep 0.01");
//! let comparison = compare(&short, &long, None, &Options { rounds: 8, ..Options::default() }, &mut Silent)?;
//! println!("{:?}: {} × the time", comparison.outcome, comparison.ratio.estimate);
//! # Ok::<(), deadpan_lab::speed::program::Error>(())
//! ```

pub(crate) mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::distribution::mad;
use crate::random::Random;
use crate::record::{Comparison, Contestant, Failures, Interval, Outcome};
use crate::speed::race::quartiles;
use crate::speed::sign;
use crate::speed::verdict::Evidence;
use crate::watch::Watch;
use run::{Runner, Seen};

/// A program and how to run it.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    command: Command,
    prepare: Option<Command>,
    bytes: Option<u64>,
    output: bool,
    may_fail: bool,
    environment: Vec<(String, String)>,
    processor: Option<usize>,
}

#[derive(Clone, Debug)]
enum Command {
    Arguments(Vec<String>),
    Shell(String),
}

impl Program {
    /// Creates a program that is run with these arguments, without a shell. The first argument is the command.
    pub fn new<S: Into<String>>(name: impl Into<String>, arguments: impl IntoIterator<Item = S>) -> Self {
        Self::with(name, Command::Arguments(arguments.into_iter().map(Into::into).collect()))
    }

    /// Creates a program from a command line for `sh -c`. The measured time includes the start of the shell, which
    /// takes about a millisecond.
    pub fn shell(name: impl Into<String>, line: impl Into<String>) -> Self {
        Self::with(name, Command::Shell(line.into()))
    }

    fn with(name: impl Into<String>, command: Command) -> Self {
        Self {
            name: name.into(),
            command,
            prepare: None,
            bytes: None,
            output: false,
            may_fail: false,
            environment: Vec::new(),
            processor: None,
        }
    }

    /// Sets a command line for `sh -c` that runs before each run, outside of the measured time. For example, this line
    /// can remove the output of the previous run.
    #[must_use]
    pub fn prepare(mut self, line: impl Into<String>) -> Self {
        self.prepare = Some(Command::Shell(line.into()));
        self
    }

    /// Sets the number of bytes that one run processes. The comparison computes the throughput from this number.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Shows the program's standard output. Without this setting, the output is discarded.
    #[must_use]
    pub fn with_output(mut self) -> Self {
        self.output = true;
        self
    }

    /// Accepts runs whose exit code is not zero. A signal that ends the program is still an error. A shell that ends
    /// with exit code 126 or 127 is also an error, because the shell could not start a command.
    #[must_use]
    pub fn may_fail(mut self) -> Self {
        self.may_fail = true;
        self
    }

    /// Sets a variable in the program's environment, in addition to the variables of this process.
    #[must_use]
    pub fn environment(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Runs the program and its child processes on this processor only. Requires Linux.
    #[must_use]
    pub fn on(mut self, processor: usize) -> Self {
        self.processor = Some(processor);
        self
    }

    /// The program's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Settings for a comparison of programs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of rounds before the first check of the outcome. Each program runs twice in a round. A number below 8 is
    /// replaced by 8, because fewer rounds give no 99 % interval.
    pub rounds: usize,
    /// The time limit, counted from the start of the comparison. While the outcome is inconclusive, more rounds follow
    /// within this time. The comparison starts no round that would probably exceed this time, but runs at least 8
    /// rounds. If the limit is zero, the comparison runs exactly `rounds` rounds. The comparison also ends if a
    /// conclusive outcome would need much more time than the limit.
    pub limit: Duration,
    /// The time limit for a single run of a program. A program that runs longer is killed. Requires Linux.
    pub run_limit: Option<Duration>,
    /// Number of runs of each program before the first round. The first of these runs measures the peak memory, so zero
    /// is replaced by one.
    pub warm_up: usize,
    /// If the whole interval of the ratio differs from one by at most this margin, the programs are reported as equally
    /// fast.
    pub margin: f64,
    /// Whether the system writes its cached data to the disks before each run.
    pub sync: bool,
    /// The seed of the order.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 12, limit: Duration::ZERO, run_limit: None, warm_up: 1, margin: 0.01, sync: true, seed: 1 }
    }
}

/// An error that ends a comparison of programs.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A program cannot be started.
    Start {
        /// The command.
        command: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A program failed.
    Failed {
        /// The command.
        command: String,
        /// The exit status or signal.
        status: ExitStatus,
        /// The last lines of the program's standard error.
        stderr: String,
    },
    /// A preparation failed.
    Prepare {
        /// The command.
        command: String,
        /// The exit status or signal.
        status: ExitStatus,
        /// The last lines of the preparation's standard error.
        stderr: String,
    },
    /// A run of a program took longer than [`Options::run_limit`], and was killed.
    Late {
        /// The command.
        command: String,
        /// The time limit.
        seconds: f64,
    },
    /// The comparison cannot create a file or process that it needs.
    System {
        /// The action that failed.
        doing: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The run was stopped before the first round was complete.
    Stopped,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { command, source } => {
                write!(out, "cannot start `{command}`: {source}")
            }
            Self::Failed { command, status, stderr } if stderr.is_empty() => {
                write!(out, "`{command}` failed ({status}) and wrote nothing to its standard error")
            }
            Self::Failed { command, status, stderr } => {
                write!(out, "`{command}` failed ({status}); its standard error ends with:\n{stderr}")
            }
            Self::Prepare { command, status, stderr } => {
                write!(out, "the preparation `{command}` failed ({status})")?;
                let shown = if stderr.is_empty() { "" } else { "; its standard error ends with:\n" };
                write!(out, "{shown}{stderr}")
            }
            Self::Late { command, seconds } => {
                write!(out, "`{command}` did not end within {seconds} s, the time limit for a run, and was killed")
            }
            Self::System { doing, source } => write!(out, "{doing}: {source}"),
            Self::Stopped => out.write_str("stopped before the first round was complete"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start { source, .. } | Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Compares two programs. If there is a yardstick (a third program for comparison), measures it in the same rounds.
///
/// The interval of the ratio decides the outcome. The outcome is `Same` if the whole interval is inside the margin. The
/// outcome is `Faster` or `Slower` if the interval is beyond the margin and also beyond twice the noise. The noise is
/// the standard error of a comparison of the first program with itself. Otherwise the outcome is `Inconclusive`. The
/// function checks the interval after the minimum number of rounds, and again each time the number of rounds has
/// doubled. The probability of an error is 1 % for all these checks together.
///
/// The peak memory is the memory of the program's largest process in the first warm-up run. The peak memory is missing
/// if the measuring process itself uses more memory than the program, because Linux then does not report the peak of a
/// child process. If `watch` stops the run, the result contains only the complete rounds.
///
/// # Errors
/// Returns [`Error`] if a program cannot be started or fails, or if the run is stopped before the first round is
/// complete.
pub fn compare(
    a: &Program,
    b: &Program,
    yardstick: Option<&Program>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Comparison, Error> {
    let programs: Vec<&Program> = [a, b].into_iter().chain(yardstick).collect();
    let begin = Instant::now();
    let mut runner = Runner::new(options.sync, options.run_limit)?;
    let (fewest, warm_up) = (options.rounds.max(FEWEST), options.warm_up.max(1));
    let mut peaks = Vec::new();
    for program in &programs {
        peaks.push(runner.peak(program, watch)?);
        for _ in 1..warm_up {
            runner.run(program, watch)?;
        }
    }

    let mut trial =
        ProgramTrial { random: Random::new(options.seed), seen: vec![Vec::new(); programs.len()], programs };
    let (started, mut look) = (Instant::now(), 0);
    let over = |rounds: usize| {
        let each = started.elapsed().checked_div(rounds as u32).unwrap_or_default();
        begin.elapsed() + each >= options.limit
    };
    let evidence = loop {
        let until = fewest.saturating_mul(1 << look.min(32));
        let least = if options.limit.is_zero() { fewest } else { FEWEST };
        while trial.rounds() < until && (trial.rounds() < least || !over(trial.rounds())) {
            watch.progress(&a.name, trial.rounds() as u64, until as u64);
            if !trial.round(&mut runner, watch)? {
                break;
            }
        }
        if trial.rounds() == 0 {
            return Err(Error::Stopped);
        }
        let evidence = trial.evidence(alpha(look, options.limit), options.margin);
        let each = started.elapsed().as_secs_f64() / trial.rounds() as f64;
        let left = options.limit.saturating_sub(begin.elapsed()).as_secs_f64();
        if watch.stopped() || over(trial.rounds()) || !worthwhile(evidence.further(trial.rounds()), each, left) {
            break evidence;
        }
        look += 1;
    };
    Ok(trial.report(&evidence, peaks))
}

/// Minimum number of rounds. Fewer rounds give no 99 % interval.
pub(crate) const FEWEST: usize = 8;

/// The probability that the interval does not contain the true ratio, over all checks of the interval.
const ALPHA: f64 = 0.01;

/// Returns the share of [`ALPHA`] for one check of the interval. Without a time limit, the comparison checks the
/// interval only once, and this check gets the whole of [`ALPHA`]. With a time limit, the first check gets four fifths
/// of [`ALPHA`], which is enough for an interval of [`FEWEST`] rounds. The second check gets a tenth of [`ALPHA`], the
/// third check gets a thirtieth, the fourth check gets a sixtieth, and so on. The sum of all these shares is at most
/// one.
fn alpha(look: u32, limit: Duration) -> f64 {
    match f64::from(look) {
        _ if limit.is_zero() => ALPHA,
        0.0 => 0.8 * ALPHA,
        look => 0.2 * ALPHA / (look * (look + 1.0)),
    }
}

/// Returns whether more rounds may decide the outcome within the remaining `left` seconds, if each round takes `each`
/// seconds. The needed number of rounds is a rough estimate, so the function also returns true if the rounds would take
/// up to twice the remaining time.
fn worthwhile(further: Option<u64>, each: f64, left: f64) -> bool {
    further.is_some_and(|rounds| rounds as f64 * each <= 2.0 * left)
}

/// A comparison in progress.
struct ProgramTrial<'p> {
    programs: Vec<&'p Program>,
    random: Random,
    /// For each program, the first and the second run in each complete round.
    seen: Vec<Vec<[Seen; 2]>>,
}

impl ProgramTrial<'_> {
    fn rounds(&self) -> usize {
        self.seen[0].len()
    }

    /// If `watch` stops the round, the function discards the round and returns false.
    fn round(&mut self, runner: &mut Runner, watch: &dyn Watch) -> Result<bool, Error> {
        let mut order: Vec<usize> = (0..self.programs.len()).collect();
        self.random.shuffle(&mut order);
        let mut round = vec![[Seen::default(); 2]; order.len()];
        for (place, &lane) in order.iter().chain(order.iter().rev()).enumerate() {
            if watch.stopped() {
                return Ok(false);
            }
            round[lane][place / order.len()] = match runner.run(self.programs[lane], watch) {
                Err(Error::Stopped) => return Ok(false),
                seen => seen?,
            };
        }
        for (seen, round) in self.seen.iter_mut().zip(round) {
            seen.push(round);
        }
        Ok(true)
    }

    /// For each round, returns the logarithm of the ratio of the second program's time to the first program's time.
    fn logarithms(&self) -> Vec<f64> {
        let both = |round: &[Seen; 2]| round[0].wall + round[1].wall;
        self.seen[1].iter().zip(&self.seen[0]).map(|(b, a)| (both(b) / both(a)).ln()).collect()
    }

    fn evidence(&self, alpha: f64, margin: f64) -> Evidence {
        let found = sign::interval(&self.logarithms(), alpha);
        let ratio = Interval { lower: found.lower.exp(), estimate: found.estimate.exp(), upper: found.upper.exp() };
        Evidence { ratio, noise: same(&self.seen[0]), margin }
    }

    fn report(self, evidence: &Evidence, peaks: Vec<Option<u64>>) -> Comparison {
        let rounds = self.rounds();
        // With fewer than [`FEWEST`] rounds, there is no interval at this level, so the outcome is not decided.
        let (outcome, further_rounds) = if rounds < FEWEST {
            (Outcome::Inconclusive, evidence.further(rounds).max(Some((FEWEST - rounds) as u64)))
        } else {
            (evidence.outcome(), evidence.further(rounds))
        };
        let mut contestants = self
            .programs
            .iter()
            .zip(&self.seen)
            .zip(peaks)
            .map(|((program, seen), peak)| contestant(program, seen, peak));
        Comparison {
            a: contestants.next().unwrap_or_default(),
            b: contestants.next().unwrap_or_default(),
            yardstick: contestants.next(),
            ratio: evidence.ratio,
            margin: evidence.margin,
            noise: evidence.noise,
            rounds,
            outcome,
            further_rounds,
            ratios: self.logarithms().into_iter().map(f64::exp).collect(),
        }
    }
}

/// Returns the standard error of the ratio that results when a program is compared with itself. This ratio is the
/// median over all rounds, and both times in each round are means of two runs.
fn same(rounds: &[[Seen; 2]]) -> f64 {
    let mut logarithms: Vec<f64> = rounds.iter().map(|[first, second]| (first.wall / second.wall).ln()).collect();
    // The factor 1.4826 converts the median absolute deviation to a standard deviation. The factor 1.2533 is the
    // standard error of a median divided by the standard error of a mean. The standard deviation of the mean of two
    // runs is smaller than that of a single run, by the factor √2.
    1.4826 * mad(&mut logarithms) * 1.2533 / (2.0 * rounds.len() as f64).sqrt()
}

fn contestant(program: &Program, rounds: &[[Seen; 2]], peak_memory: Option<u64>) -> Contestant {
    let all = |get: fn(&Seen) -> f64| rounds.iter().flatten().map(get).collect::<Vec<f64>>();
    let times = all(|seen| seen.wall);
    let wall = quartiles(&times);
    Contestant {
        name: program.name.clone(),
        wall,
        wall_minimum: times.iter().copied().fold(f64::INFINITY, f64::min),
        wall_maximum: Some(times.iter().copied().fold(0.0, f64::max)),
        wall_mean: Some(mean_and_deviation(&times)),
        user: cfg!(unix).then(|| quartiles(&all(|seen| seen.usage.user))),
        system: cfg!(unix).then(|| quartiles(&all(|seen| seen.usage.system))),
        peak_memory,
        bytes_per_second: program.bytes.map(|bytes| bytes as f64 / wall.estimate),
        failures: failures(rounds),
    }
}

fn failures(rounds: &[[Seen; 2]]) -> Vec<Failures> {
    let mut counts = BTreeMap::new();
    for seen in rounds.iter().flatten().filter(|seen| seen.code != 0) {
        *counts.entry(seen.code).or_insert(0) += 1;
    }
    counts.into_iter().map(|(code, runs)| Failures { code, runs }).collect()
}

/// Returns the mean and the standard deviation of at least two times.
fn mean_and_deviation(times: &[f64]) -> [f64; 2] {
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    [mean, (squares / (count - 1.0)).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a comparison of two programs with one wall-clock time for each program and round.
    fn trial<'p>(programs: [&'p Program; 2], rounds: usize, ratio: impl Fn(usize) -> f64) -> ProgramTrial<'p> {
        let seen = |wall: f64| Seen { wall, ..Seen::default() };
        let round = |factor: &dyn Fn(usize) -> f64| (0..rounds).map(|at| [seen(factor(at)); 2]).collect::<Vec<_>>();
        let seen = vec![round(&|_| 1.0), round(&ratio)];
        ProgramTrial { programs: programs.into(), random: Random::new(1), seen }
    }

    fn found(rounds: usize, ratio: impl Fn(usize) -> f64) -> Comparison {
        let program = Program::new("p", ["p"]);
        let trial = trial([&program, &program], rounds, ratio);
        let evidence = trial.evidence(ALPHA, 0.01);
        trial.report(&evidence, vec![None, None])
    }

    #[test]
    fn fewer_rounds_than_an_interval_needs_are_inconclusive() {
        let few = found(7, |_| 2.0);
        assert_eq!((few.outcome, few.further_rounds), (Outcome::Inconclusive, Some(1)));
        let enough = found(8, |_| 2.0);
        assert_eq!((enough.outcome, enough.further_rounds), (Outcome::Slower, None));
    }

    #[test]
    fn rounds_that_scatter_beyond_the_margin_are_not_the_same() {
        let scattered = found(20, |at| 1.0 + 0.3 * (at as f64 / 19.0 - 0.5));
        assert_eq!((scattered.outcome, scattered.margin), (Outcome::Inconclusive, 0.01));
        assert!(scattered.further_rounds.is_some_and(|rounds| rounds > 1000), "{scattered:?}");
        assert_eq!(found(20, |at| 1.0 + 0.005 * (at as f64 / 19.0 - 0.5)).outcome, Outcome::Same);
    }

    #[test]
    fn all_looks_together_have_the_level_of_one() {
        let limit = Duration::from_secs(1);
        let sum: f64 = (0..40).map(|look| alpha(look, limit)).sum();
        assert!(sum > 0.99 * ALPHA && sum <= ALPHA, "{sum}");
        assert_eq!(alpha(0, Duration::ZERO), ALPHA);
        // The right side is the probability that all eight values lie on the same side of their median.
        assert!(alpha(0, limit) > 2.0 / 256.0);
    }

    #[test]
    fn times_have_a_mean_and_a_deviation() {
        assert_eq!(mean_and_deviation(&[1.0, 2.0, 3.0, 4.0, 5.0]), [3.0, 2.5_f64.sqrt()]);
    }

    #[test]
    fn rounds_that_cannot_settle_the_outcome_in_time_are_not_run() {
        assert!(worthwhile(Some(10), 1.0, 5.0));
        assert!(!worthwhile(Some(10), 1.0, 4.0));
        assert!(!worthwhile(None, 1.0, 1000.0));
    }
}
