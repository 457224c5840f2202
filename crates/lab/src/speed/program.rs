//! Compares the speed of whole programs, run as a user would run them.
//!
//! Each round runs the programs in a random order and then in the reverse order. Before each run the system writes its
//! cached data to the disks. Otherwise a program would pay for the writes of the program before it, and the times of
//! programs that write would fall into two groups.
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

use std::fmt;
use std::process::ExitStatus;

use crate::distribution::mad;
use crate::random::Random;
use crate::record::{Comparison, Contestant, Interval};
use crate::speed::race::{outcome, quartiles};
use crate::speed::sign;
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

    /// Creates a program that is a line for `sh -c`. The shell's own start, about a millisecond, is part of the time.
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
            environment: Vec::new(),
            processor: None,
        }
    }

    /// Sets a line for `sh -c` that runs before each run and is not timed. Use it to remove the output of the
    /// previous run.
    #[must_use]
    pub fn prepare(mut self, line: impl Into<String>) -> Self {
        self.prepare = Some(Command::Shell(line.into()));
        self
    }

    /// Sets how many bytes of data one run processes, from which the throughput is computed.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Shows the program's standard output, which is discarded otherwise.
    #[must_use]
    pub fn with_output(mut self) -> Self {
        self.output = true;
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
    /// Number of rounds, in each of which each program runs twice. Fewer than 8 count as 8, because fewer give no 99 %
    /// interval.
    pub rounds: usize,
    /// Number of runs of each program before the first round. The first of them measures the peak memory, so zero
    /// counts as one.
    pub warm_up: usize,
    /// The programs count as equally fast if their ratio differs from one by less than this.
    pub margin: f64,
    /// Whether the system writes its cached data to the disks before each run.
    pub sync: bool,
    /// The seed of the order.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 12, warm_up: 1, margin: 0.01, sync: true, seed: 1 }
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
        /// The last lines of its standard error.
        stderr: String,
    },
    /// The files or processes that a comparison needs cannot be created.
    System {
        /// What the comparison was doing.
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

/// Compares two programs, and measures a yardstick program in the same rounds if there is one.
///
/// The margin of the result is that of the options, or twice the standard error of the first program against itself
/// (its two runs in a round), whichever is larger. The peak memory is that of a program's largest process, from the
/// first warm-up run. It is missing if this process itself holds more memory, because Linux then does not report the
/// peak of a child process. If `watch` stops the run, the comparison contains the complete rounds.
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
    let mut runner = Runner::new(options.sync)?;
    let (rounds, warm_up) = (options.rounds.max(8), options.warm_up.max(1));
    let mut peaks = Vec::new();
    for program in &programs {
        peaks.push(runner.peak(program)?);
        for _ in 1..warm_up {
            runner.run(program)?;
        }
    }

    let mut random = Random::new(options.seed);
    let mut order: Vec<usize> = (0..programs.len()).collect();
    let mut seen: Vec<Vec<[Seen; 2]>> = vec![Vec::new(); programs.len()];
    for done in 0..rounds {
        watch.progress(&a.name, done as u64, rounds as u64);
        let mut round = vec![[Seen::default(); 2]; programs.len()];
        random.shuffle(&mut order);
        for (place, &lane) in order.iter().chain(order.iter().rev()).enumerate() {
            if watch.stopped() {
                break;
            }
            round[lane][place / programs.len()] = runner.run(programs[lane])?;
        }
        if watch.stopped() {
            break;
        }
        for (seen, round) in seen.iter_mut().zip(round) {
            seen.push(round);
        }
    }
    if seen[0].is_empty() {
        return Err(Error::Stopped);
    }

    let both = |round: &[Seen; 2]| round[0].wall + round[1].wall;
    let logarithms: Vec<f64> = seen[1].iter().zip(&seen[0]).map(|(b, a)| (both(b) / both(a)).ln()).collect();
    let found = sign::interval(&logarithms, 0.01);
    let ratio = Interval { lower: found.lower.exp(), estimate: found.estimate.exp(), upper: found.upper.exp() };
    let margin = options.margin.max(2.0 * same(&seen[0]));
    // Fewer than 8 rounds have no interval at this level and do not settle the outcome.
    let settled = if logarithms.len() < 8 { Interval { estimate: 1.0, lower: 0.0, upper: f64::MAX } } else { ratio };
    let mut contestants =
        programs.iter().zip(&seen).zip(peaks).map(|((program, seen), peak)| contestant(program, seen, peak));
    Ok(Comparison {
        a: contestants.next().unwrap_or_default(),
        b: contestants.next().unwrap_or_default(),
        yardstick: contestants.next(),
        ratio,
        margin,
        rounds: logarithms.len(),
        outcome: outcome(settled, margin),
        ratios: logarithms.into_iter().map(f64::exp).collect(),
    })
}

/// Returns the standard error of the ratio of a program to itself: the median over all rounds, where each side is the
/// mean of two runs.
fn same(rounds: &[[Seen; 2]]) -> f64 {
    let mut logarithms: Vec<f64> = rounds.iter().map(|[first, second]| (first.wall / second.wall).ln()).collect();
    // The factor 1.4826 turns the deviation into a standard deviation, and 1.2533 is the standard error of a median
    // relative to that of a mean. The means of two runs vary less by the square root of two.
    1.4826 * mad(&mut logarithms) * 1.2533 / (2.0 * rounds.len() as f64).sqrt()
}

fn contestant(program: &Program, rounds: &[[Seen; 2]], peak_memory: Option<u64>) -> Contestant {
    let all = |get: fn(&Seen) -> f64| rounds.iter().flatten().map(get).collect::<Vec<f64>>();
    let wall = quartiles(&all(|seen| seen.wall));
    Contestant {
        name: program.name.clone(),
        wall,
        wall_minimum: all(|seen| seen.wall).into_iter().fold(f64::INFINITY, f64::min),
        user: cfg!(unix).then(|| quartiles(&all(|seen| seen.usage.user))),
        system: cfg!(unix).then(|| quartiles(&all(|seen| seen.usage.system))),
        peak_memory,
        bytes_per_second: program.bytes.map(|bytes| bytes as f64 / wall.estimate),
    }
}
