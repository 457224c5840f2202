//! Whole programs against each other, as a user would run them.
//!
//! Each round runs them in a random order and then in the reverse of it. Before each run the system writes out what it holds back for the
//! disks: otherwise one program pays for what the one before it wrote, and times of writers fall into two heaps.
//!
//! ```
//! use deadpan_lab::Silent;
//! use deadpan_lab::speed::program::{Options, Program, compare};
//!
//! let short = Program::new("short", ["sleep", "0.01"]);
//! let long = Program::shell("long", "sleep 0.01; sleep 0.01");
//! let comparison = compare(&short, &long, None, &Options { rounds: 8, ..Options::default() }, &mut Silent)?;
//! assert!(comparison.ratio.estimate > 1.0);
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

/// A program and how it is run.
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
    /// A program with its arguments, without a shell.
    pub fn new<S: Into<String>>(name: impl Into<String>, arguments: impl IntoIterator<Item = S>) -> Self {
        Self::with(name, Command::Arguments(arguments.into_iter().map(Into::into).collect()))
    }

    /// A line for `sh -c`. The shell's own start, about a millisecond, is timed with it.
    pub fn shell(name: impl Into<String>, line: impl Into<String>) -> Self {
        Self::with(name, Command::Shell(line.into()))
    }

    fn with(name: impl Into<String>, command: Command) -> Self {
        Self { name: name.into(), command, prepare: None, bytes: None, output: false, environment: Vec::new(), processor: None }
    }

    /// A line for `sh -c` that runs before each run, off the clock: to remove what the run before left behind.
    #[must_use]
    pub fn prepare(mut self, line: impl Into<String>) -> Self {
        self.prepare = Some(Command::Shell(line.into()));
        self
    }

    /// How much data one run works on.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Shows what it writes to its standard output; otherwise that goes nowhere.
    #[must_use]
    pub fn with_output(mut self) -> Self {
        self.output = true;
        self
    }

    /// Gives it this variable of the environment, beside those of this process.
    #[must_use]
    pub fn environment(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Holds it, and whatever it starts, on this processor. Only Linux can.
    #[must_use]
    pub fn on(mut self, processor: usize) -> Self {
        self.processor = Some(processor);
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// How to compare programs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Rounds, in each of which each program runs twice; at least 8, as fewer have no 99 % interval.
    pub rounds: usize,
    /// Runs of each program before the first round; at least one, which shows the peak memory.
    pub warm_up: usize,
    /// Ratios that differ from one by less than this count as the same.
    pub margin: f64,
    /// Have the system write out what it holds back, before each run.
    pub sync: bool,
    /// The seed of the order.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 12, warm_up: 1, margin: 0.01, sync: true, seed: 1 }
    }
}

/// Why programs could not be compared.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A program cannot be started.
    Start {
        /// The command.
        command: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A program failed.
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// The files or processes that a comparison needs cannot be had.
    System {
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The run was told to stop before the first round was over.
    Stopped,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { command, source } => {
                write!(out, "cannot start `{command}`: {source}\nhint: is the program installed, and on the search path?")
            }
            Self::Failed { command, status, stderr } if stderr.is_empty() => {
                write!(out, "`{command}` failed ({status}) and wrote nothing to its standard error")
            }
            Self::Failed { command, status, stderr } => write!(out, "`{command}` failed ({status}); it wrote last:\n{stderr}"),
            Self::System { doing, source } => write!(out, "{doing}: {source}"),
            Self::Stopped => out.write_str("stopped before the first round was over"),
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

/// Runs two programs against each other, and a yardstick in the same series.
///
/// The margin is that of the options, or twice the standard error of the first program against itself (the two runs of a round), whichever
/// is larger. The peak memory is that of the largest process, from the first warm-up run; it is missing where this very process holds more,
/// as Linux then does not tell. If `watch` stops the run, the comparison is that of the rounds that are over.
///
/// # Errors
/// [`Error`]: a program cannot be started or fails, or the run was stopped before the first round was over.
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
    // Fewer rounds have no interval at this level: nothing is settled.
    let settled = if logarithms.len() < 8 { Interval { estimate: 1.0, lower: 0.0, upper: f64::MAX } } else { ratio };
    let mut contestants = programs.iter().zip(&seen).zip(peaks).map(|((program, seen), peak)| contestant(program, seen, peak));
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

/// The standard error of a program against itself, as the median over all rounds of the ratio of the means of two runs each.
fn same(rounds: &[[Seen; 2]]) -> f64 {
    let mut logarithms: Vec<f64> = rounds.iter().map(|[first, second]| (first.wall / second.wall).ln()).collect();
    // 1.4826 makes it a standard deviation, 1.2533 is what the median loses to the mean, and means of two vary less by the root of two.
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
