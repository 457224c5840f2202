//! The commands of the lab and their options.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes:
  0   no leak above the stated bound
  11  with --strict: a real difference below the threshold; without it, 0
  10  a leak: a difference beyond the threshold that was found again in fresh data, or traces that differ
  20  inconclusive or interrupted: the output names the shift that is found, and how many more calls would settle it
  30  invalid: a control failed
  31  unmeasurable: the calls are too fast for the clock, or an emulator runs this program
  2   wrong use, a file that cannot be read or written, or a library or worker that failed";

/// The commands of the lab.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Test whether the time of functions depends on secrets: verdicts with known error rates
    #[command(after_help = concat_help("Examples:
  deadpan lab timing                              everything, some minutes
  deadpan lab timing --target base64 --quick      base64 only, wider bounds
  deadpan lab timing --target ct.eq.u32 --class random --class 'equal zeros'
  deadpan lab timing --delta 0.5% --time-limit 300   half a percent of a call, at most five minutes for a target
  deadpan lab timing --html report.html --json record.json
  deadpan lab timing --so ./libx.so --symbol compare --abi 'secret:32,public:32,int:32'
  deadpan lab timing --worker 'python3 worker.py'     see deadpan lab worker"))]
    Timing(TimingArgs),
    /// Test whether the compiled code executes the same steps for every secret, without a clock
    #[cfg(feature = "trace")]
    #[command(after_help = "Examples:
  deadpan lab trace
  deadpan lab trace --target pad --json trace.json
  deadpan lab trace --so ./libx.so --symbol compare --abi 'secret:32,public:32,int:32'

The code of a worker cannot be traced: use deadpan lab timing --worker.

Exit codes:
  0    all traces are equal
  10   some differ, or divide by a secret
  20   some could not be compared
  31   this machine cannot trace
  2    wrong use, or a library or worker that failed
  130  interrupted")]
    #[command(mut_arg("worker", |arg| arg.hide(true)))]
    Trace(TraceArgs),
    /// Measure the speed of functions beside memcpy, and the machine's highest rates
    #[command(after_help = "Examples:
  deadpan lab speed
  deadpan lab speed --target base64 --quick --html speed.html
  deadpan lab speed --so ./libx.so --symbol hash --abi 'secret:64,out:32'
  deadpan lab speed --table generations --scale 0.01          whole workloads, a quick try
  deadpan lab speed --table generations --markdown docs/results/generations.md

Exit codes:
  0    measured
  2    wrong use, a file that cannot be read or written, or a library or worker that failed
  130  interrupted")]
    Speed(Box<SpeedArgs>),
    /// Measure how often the lab errs on this machine, and store the result for later reports
    #[command(after_help = "Examples:
  deadpan lab calibrate --quick       about a minute
  deadpan lab calibrate               about half an hour

Exit codes:
  0    measured and stored
  2    wrong use, or a file that cannot be written
  130  interrupted")]
    Calibrate(CalibrateArgs),
    /// Compare the speed of two programs, which run in turn
    #[command(after_help = "Examples:
  deadpan lab compare 'gzip -k -f data' 'zstd -k -f -q data'
  deadpan lab compare 'cp big a' 'dd if=big of=a bs=1M' --yardstick 'cat big' --bytes 1073741824
  deadpan lab compare ./old ./new --prepare 'rm -f out' --rounds 40
  deadpan lab compare 'grep x big' 'rg x big' --ignore-failure

Put each command line in quotes; sh runs it. Standard input is empty, and standard output is discarded.

B / A is the time of B divided by that of A in the same round, and the median of all rounds; the
printed means have another ratio. Its interval decides: the programs are the same if all of it lies
within the margin of 1 %, and they differ if all of it lies beyond.

Exit codes:
  0    the same within the margin
  1    they differ
  20   inconclusive: the output says about how many more rounds would settle it
  2    wrong use, or a program failed
  130  interrupted")]
    Compare(CompareArgs),
    /// Make a page with tables and charts from the records of earlier runs
    #[cfg(feature = "report")]
    #[command(after_help = "Examples:
  deadpan lab timing --json timing.json; deadpan lab report timing.json --html report.html
  deadpan lab report timing.json speed.json --markdown results --detail brief

Exit codes:
  0    written
  2    wrong use, or a file that cannot be read or written")]
    Report(ReportArgs),
    /// Print or check a worker, with which the lab measures another language
    #[command(after_help = "Examples:
  deadpan lab worker --print python > worker.py       then change TARGETS in worker.py
  deadpan lab worker --check 'python3 worker.py'
  deadpan lab timing --worker 'python3 worker.py'

Exit codes:
  0    printed, or every rule was kept
  1    a rule was broken
  2    wrong use, or the worker ended, did not answer in time, or answered in another form")]
    Worker(WorkerArgs),
    /// Test every promise of the lab on this machine
    #[command(after_help = "Examples:
  deadpan lab selftest --quick     two to three minutes
  deadpan lab selftest             about an hour, on two processors
  deadpan lab selftest --only workers

Exit codes:
  0    every promise was kept
  1    a promise was not kept
  2    wrong use
  20   no promise was missed, but nothing of a group could run
  130  interrupted")]
    Selftest(SelftestArgs),
}

fn concat_help(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

/// Options for the files to which results are written.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputArgs {
    /// Write the record as JSON (- for standard output; the table then goes to standard error)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write one self-contained HTML page
    #[cfg(feature = "report")]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a Markdown page, report.md, and its pictures to this folder; a name that ends in .md names the page
    #[cfg(feature = "report")]
    #[arg(long, value_name = "FOLDER")]
    pub markdown: Option<PathBuf>,
}

const FOREIGN: &str = "Code in other languages";

/// Options that select code in other languages.
#[derive(Args, Clone, Debug)]
pub struct ForeignArgs {
    /// Measure a function of this shared library
    #[arg(help_heading = FOREIGN, long, value_name = "FILE", requires_all = ["symbol", "abi"], group = "code")]
    pub so: Option<PathBuf>,
    /// The function's name
    #[arg(help_heading = FOREIGN, long, value_name = "NAME", requires = "so")]
    pub symbol: Option<String>,
    /// The function's arguments in order, at most six, such as secret:32,public:32,out:32,int:32. N bytes behind a
    /// pointer: secret:N differ between the classes, public:N are random, inout:N are secret and changed, out:N and
    /// scratch:N are written. By value: secret-int:N has N bytes, int:VALUE is constant. The lab calls the function
    /// with these arguments: a wrong description ends the run
    #[arg(help_heading = FOREIGN, long, value_name = "ARGUMENTS", requires = "so")]
    pub abi: Option<String>,
    /// Measure the functions that this program offers; sh runs the command (see deadpan lab worker)
    #[arg(help_heading = FOREIGN, long, value_name = "COMMAND", group = "code")]
    pub worker: Option<String>,
    /// The classes of inputs: zeros, ones, random, bit (one bit set), and for two parts of the same length: equal,
    /// first, last, differs:N (all bytes are equal but the first, the last, byte N). A public result follows an @, as
    /// in equal@valid,first@invalid,last@invalid. Only classes with the same result are compared
    #[arg(help_heading = FOREIGN, long, value_name = "LIST", requires = "code")]
    pub classes: Option<String>,
    /// A class whose inputs are random records of FILE; each record contains the secret bytes of one input. May be
    /// repeated; a single class is compared with random bytes. NAME@RESULT states a public result, as in --classes
    #[arg(help_heading = FOREIGN, long, value_name = "NAME=FILE", value_parser = named_file, requires = "code")]
    pub class_file: Vec<(String, PathBuf)>,
    /// The time limit for each answer of a worker, and for calls of a library's function
    #[arg(help_heading = FOREIGN, long, value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = seconds)]
    pub timeout: f64,
}

/// The time that a worker has for each answer, in seconds.
const TIMEOUT: f64 = 60.0;

impl ForeignArgs {
    /// Returns the files that a run reads.
    pub(super) fn inputs(&self) -> Vec<&Path> {
        let files = self.class_file.iter().map(|(_, file)| file);
        self.so.iter().chain(files).map(PathBuf::as_path).collect()
    }
}

impl Default for ForeignArgs {
    fn default() -> Self {
        Self {
            so: None,
            symbol: None,
            abi: None,
            worker: None,
            classes: None,
            class_file: Vec::new(),
            timeout: TIMEOUT,
        }
    }
}

/// Options of `worker`.
#[derive(Args, Clone, Debug)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("action").required(true).args(["print", "check"]))]
pub struct WorkerArgs {
    /// Print the worker for a language, to start from
    #[arg(long, value_name = "LANGUAGE")]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(["python", "go", "java", "javascript", "js"]))]
    pub print: Option<String>,
    /// Start a worker and check that it follows the protocol; sh runs the command
    #[arg(long, value_name = "COMMAND")]
    pub check: Option<String>,
    /// The time that the worker has for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = seconds)]
    pub timeout: f64,
}

/// The largest threshold in nanoseconds: a millisecond. As a control, a run delays each call by twice the threshold.
const LARGEST_DELTA: f64 = 1e6;

/// The threshold for the difference between two classes: a larger difference is a leak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delta {
    /// Nanoseconds per call.
    Nanoseconds(f64),
    /// A share of the time of a call.
    Share(f64),
}

impl fmt::Display for Delta {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nanoseconds(ns) => write!(out, "{ns}"),
            Self::Share(share) => write!(out, "{}%", share * 100.0),
        }
    }
}

/// Options of `timing`.
#[derive(Args, Clone, Debug, Default)]
pub struct TimingArgs {
    /// Measure only targets whose name contains NAME. May be repeated
    #[arg(long, short, value_name = "NAME")]
    pub target: Vec<String>,
    /// Measure only classes of inputs whose name contains NAME. May be repeated
    #[arg(long, short, value_name = "NAME")]
    pub class: Vec<String>,
    /// Take a quarter of the measurements; the bounds are about twice as wide
    #[arg(long)]
    pub quick: bool,
    /// Exit with code 11 if there is a real difference below the threshold
    #[arg(long)]
    pub strict: bool,
    /// The threshold for a leak: nanoseconds per call, or a share of the call such as 0.5%; 0 for any difference
    /// [default: 1 or 0.1%, whichever is larger; a tenth of a call of less than 10 ns]
    #[arg(long, value_name = "NS", value_parser = delta)]
    pub delta: Option<Delta>,
    /// The time for a target, in seconds. Within this time, the lab collects more data for pairs of classes whose
    /// intervals are too wide. If other programs use the processor, a target may also use time that earlier targets
    /// left over [default: 60, with --quick 20]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<f64>,
    /// The chance of a false alarm for each target
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    pub alpha: f64,
    /// Repeat the inputs and the order of an earlier run
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Leave out the traces
    #[arg(long)]
    pub no_trace: bool,
    /// Leave out the tables of single classes (slope, mean, median, deviation)
    #[arg(long)]
    pub no_estimates: bool,
    /// Write all single times to files in this folder
    #[arg(long, value_name = "FOLDER")]
    pub raw: Option<PathBuf>,
    /// List the targets and their classes without measuring
    #[arg(long)]
    pub list: bool,
    /// Options that select code in other languages
    #[command(flatten)]
    pub foreign: ForeignArgs,
    /// Options for the files to which results are written
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `trace`.
#[cfg(feature = "trace")]
#[derive(Args, Clone, Debug, Default)]
pub struct TraceArgs {
    /// Measure only targets whose name contains NAME. May be repeated
    #[arg(long, short, value_name = "NAME")]
    pub target: Vec<String>,
    /// Repeat the inputs of an earlier run
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Options that select code in other languages
    #[command(flatten)]
    pub foreign: ForeignArgs,
    /// List the targets and their classes without tracing
    #[arg(long)]
    pub list: bool,
    /// Options for the files to which results are written
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `speed`.
#[derive(Args, Clone, Debug, Default)]
pub struct SpeedArgs {
    /// Measure only targets whose name contains NAME. May be repeated
    #[arg(long, short, value_name = "NAME")]
    pub target: Vec<String>,
    /// Take fewer measurements
    #[arg(long)]
    pub quick: bool,
    /// Leave out the machine's highest rates (memory, file, arithmetic)
    #[arg(long)]
    pub no_baselines: bool,
    /// Compare with the stored figures, but do not replace them
    #[arg(long)]
    pub keep: bool,
    /// List the targets without measuring
    #[arg(long)]
    pub list: bool,
    /// Measure whole workloads instead of functions
    #[command(flatten)]
    pub table: TableArgs,
    /// Run one kernel. The job is JSON. The lab starts its own program with this option
    #[arg(long, value_name = "JOB", hide = true)]
    pub kernel: Option<String>,
    /// Options that select code in other languages
    #[command(flatten)]
    pub foreign: ForeignArgs,
    /// Options for the files to which results are written
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The heading of the options of `speed --table`. Each option states this heading itself, because a heading for the
/// whole structure would also apply to later options.
const TABLES: &str = "Tables of whole workloads";

/// Options of `speed --table`.
#[derive(Args, Clone, Debug, Default)]
pub struct TableArgs {
    /// Make a table of whole workloads: files, folders and bytes in memory, on one core and on all cores, beside other
    /// programs. --target and --list then apply to workloads, and --quick means one round
    #[arg(help_heading = TABLES, long = "table", value_name = "NAME", value_parser = ["generations"])]
    pub name: Option<String>,
    /// Measure only these sets: A is a file of 300 MiB, B of 1 GiB, C of 3 GiB, D of 10 GiB, E a folder of 10 GiB
    #[arg(help_heading = TABLES, long, requires = "name", value_name = "LETTERS")]
    #[arg(value_delimiter = ',', value_parser = set)]
    pub sets: Vec<String>,
    /// Multiply all sizes by FACTOR, for example 0.01 for a quick try
    #[arg(help_heading = TABLES, long, requires = "name", value_name = "FACTOR", value_parser = scale)]
    pub scale: Option<f64>,
    /// Measure only files with these contents
    #[arg(help_heading = TABLES, long, requires = "name", value_name = "KINDS")]
    #[arg(value_delimiter = ',', value_parser = ["zero", "random"])]
    pub contents: Vec<String>,
    /// The number of rounds; all variants run once in each round [default: 7 for sets up to 512 MiB, 5 for sets up to
    /// 2 GiB, 3 for larger sets]
    #[arg(help_heading = TABLES, long, requires = "name", value_name = "NUMBER")]
    #[arg(value_parser = at_least::<1>)]
    pub rounds: Option<u64>,
    /// Compare only with these programs, in addition to the limits (cp, plain write, memcpy); --peers= for none
    #[arg(help_heading = TABLES, long, requires = "name", value_name = "NAMES", value_delimiter = ',')]
    pub peers: Option<Vec<String>>,
    /// The folder for the lab's temporary folder [default: target if it exists, otherwise the current folder]
    #[arg(help_heading = TABLES, long, requires = "name", value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

/// Options of `calibrate`.
#[derive(Args, Clone, Debug, Default)]
pub struct CalibrateArgs {
    /// Make about a tenth of the runs
    #[arg(long)]
    pub quick: bool,
    /// The number of runs without a leak, for each duration of a call
    #[arg(long, value_name = "NUMBER", value_parser = at_least::<1>)]
    pub runs: Option<u64>,
    /// The intended chance of a false alarm
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    pub alpha: f64,
    /// Options for the files to which results are written
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `compare`.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// The first command line, which `sh` runs
    pub a: String,
    /// The second command line, which `sh` runs
    pub b: String,
    /// A third command line that runs in the same rounds, for comparison, such as cp
    #[arg(long, value_name = "COMMAND")]
    pub yardstick: Option<String>,
    /// Run this before each command, without timing it
    #[arg(long, short, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// The number of bytes that each command processes, to show a throughput
    #[arg(long, value_name = "BYTES", value_parser = at_least::<1>)]
    pub bytes: Option<u64>,
    /// The number of rounds before the first look at the result; each round runs A B B A, so each command runs twice
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = at_least::<8>)]
    pub rounds: u64,
    /// Number of runs of each command, instead of --rounds: --runs 40 equals --rounds 20
    #[arg(long, short, value_name = "NUMBER", conflicts_with = "rounds")]
    #[arg(value_parser = at_least::<16>)]
    pub runs: Option<u64>,
    /// Run more rounds until the result is settled, up to this total time. After the first 8 rounds, no round starts
    /// that would exceed this time. On Linux, a single run that exceeds this time is killed. 0 means exactly --rounds
    /// rounds, and runs of any length
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub time_limit: u64,
    /// The number of first runs of each command that are not measured
    #[arg(long, short, visible_alias = "warmup", value_name = "NUMBER", default_value_t = 1)]
    pub warm_up: u64,
    /// Measure commands even if their exit code is not 0; the output then shows how many runs failed. Exit codes 126
    /// and 127 (the shell cannot start a command) are still errors
    #[arg(long, short)]
    pub ignore_failure: bool,
    /// Options for the files to which results are written
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `report`.
#[cfg(feature = "report")]
#[derive(Args, Clone, Debug)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("page").required(true).multiple(true).args(["html", "markdown"]))]
pub struct ReportArgs {
    /// Records that --json wrote (- for standard input). The page shows the results of all records, and describes the
    /// machine of the first record
    #[arg(required = true)]
    pub records: Vec<PathBuf>,
    /// Earlier records, oldest first, for the history of the machine's rates and of speeds
    #[arg(long, value_name = "FILE")]
    pub history: Vec<PathBuf>,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a Markdown page, report.md, and its pictures to this folder; a name that ends in .md names the page
    #[arg(long, value_name = "FOLDER")]
    pub markdown: Option<PathBuf>,
    /// The contents of the Markdown page: full has all tables and pictures, main has all tables and the pictures of
    /// targets with findings, brief has one row for each target
    #[arg(long, value_name = "LEVEL", default_value = "full", value_parser = ["full", "main", "brief"])]
    pub detail: String,
}

/// Options of `selftest`.
#[derive(Args, Clone, Debug, Default)]
pub struct SelftestArgs {
    /// Run a short version of two to three minutes, with wide intervals
    #[arg(long)]
    pub quick: bool,
    /// The number of runs for each function without a leak, for each shift, and for each worker
    #[arg(long, value_name = "NUMBER", value_parser = at_least::<1>)]
    pub runs: Option<u64>,
    /// Do not run a compiler beside the measurement
    #[arg(long)]
    pub idle: bool,
    /// Run only the checks of this group: alarms, shifts, power (together: timing), speed, trace, taint, workers or
    /// code. May be repeated
    #[arg(long, value_name = "GROUP")]
    #[arg(value_parser = ["timing", "alarms", "shifts", "power", "speed", "trace", "taint", "workers", "code"])]
    pub only: Vec<String>,
    /// Run the part that needs Valgrind. The lab starts its own program under Valgrind with this option
    #[arg(long, hide = true)]
    pub under_valgrind: bool,
    /// Options for the files to which results are written
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The command line of a benchmark in another crate.
#[derive(Debug, Parser)]
#[command(name = "cargo bench --", after_help = EXIT_CODES, about = "Timing verdicts for the functions of this \
    benchmark")]
pub(super) struct BenchArgs {
    /// Measure only targets whose name contains FILTER
    filter: Vec<String>,
    #[command(flatten)]
    pub(super) timing: TimingArgs,
    /// Check each target for jumps and addresses that depend on a secret, under Valgrind, instead of timing the target
    #[arg(long)]
    pub(super) taint: bool,
    /// The benchmark starts itself under Valgrind with this option
    #[arg(long, hide = true)]
    pub(super) under_valgrind: bool,
    /// Accepted because Cargo passes this option to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

impl BenchArgs {
    /// Reads the command line. A filter is a choice of targets.
    pub(super) fn read() -> Self {
        let mut args = Self::parse();
        args.timing.target.append(&mut args.filter);
        args
    }
}

/// The command line of a benchmark with tables.
#[derive(Clone, Debug, Parser)]
#[command(name = "scripts/bench", about = "Measures a table: programs or functions beside their peers")]
pub struct TablesArgs {
    /// The table; a name that does not exist lists all names
    pub table: String,
    /// Measure only workloads and functions whose name contains NAME
    #[arg(long, short, value_name = "NAME")]
    pub target: Vec<String>,
    /// Use small inputs and one round: tests the table, but gives no real speeds
    #[arg(long)]
    pub quick: bool,
    /// List the workloads without measuring
    #[arg(long)]
    pub list: bool,
    /// Measure only these sets
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub sets: Vec<String>,
    /// The number of rounds
    #[arg(long, value_name = "NUMBER", value_parser = at_least::<1>)]
    pub rounds: Option<u64>,
    /// Compare only with these programs, in addition to the limits; --peers= for none
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub peers: Option<Vec<String>>,
    /// The folder for the benchmark's temporary folder [default: target]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// The program to measure
    #[arg(long, value_name = "PATH", default_value = "target/dist/deadpan")]
    pub program: PathBuf,
    /// Options for the files to which results are written
    #[command(flatten)]
    pub output: OutputArgs,
}

impl TablesArgs {
    /// Reads the command line.
    pub(super) fn read() -> Self {
        Self::parse()
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if 1e-6 < share && share < 0.5 => Ok(share),
        _ => Err("not a share between 0.000001 and 0.5; 0.01 means 1 %".to_owned()),
    }
}

fn at_least<const LEAST: u64>(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|number| *number >= LEAST).ok_or_else(|| format!("not a number of at least {LEAST}"))
}

fn set(text: &str) -> Result<String, String> {
    let known = crate::generations::SETS.iter().any(|set| set.name.eq_ignore_ascii_case(text));
    if known { Ok(text.to_uppercase()) } else { Err("sets are A, B, C, D and E".to_owned()) }
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (1e-6..=100.0).contains(&factor) => Ok(factor),
        _ => Err("not a factor between 0.000001 and 100, such as 0.01".to_owned()),
    }
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("not a name and a file, such as weak=keys.bin".to_owned()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=86400.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds between 0.01 and 86400".to_owned()),
    }
}

fn delta(text: &str) -> Result<Delta, String> {
    let (number, share) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
    let number = if share { number } else { number.strip_suffix("ns").unwrap_or(number) };
    match number.trim().parse::<f64>() {
        Ok(number) if share && (0.0..=100.0).contains(&number) => Ok(Delta::Share(number / 100.0)),
        Ok(number) if !share && (0.0..=LARGEST_DELTA).contains(&number) => Ok(Delta::Nanoseconds(number)),
        _ => Err(format!(
            "not a number of nanoseconds from 0 to {LARGEST_DELTA}, such as 0.5, or a share of the call from 0% to 100%"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(words: &[&str]) -> Result<SpeedArgs, clap::Error> {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            speed: SpeedArgs,
        }
        Line::try_parse_from(["speed"].iter().chain(words)).map(|line| line.speed)
    }

    #[test]
    fn a_table_takes_sets_contents_and_peers_as_lists() {
        let words = [
            "--table",
            "generations",
            "--sets",
            "a,E",
            "--contents",
            "random",
            "--peers",
            "tar,age",
            "--scale",
            "0.02",
        ];
        let args = speed(&words).unwrap().table;
        assert_eq!(
            (args.sets, args.contents, args.scale),
            (vec!["A".to_owned(), "E".to_owned()], vec!["random".to_owned()], Some(0.02))
        );
        assert_eq!(args.peers, Some(vec!["tar".to_owned(), "age".to_owned()]));
        let none = speed(&["--table", "generations", "--peers="]).unwrap().table;
        assert!(none.peers.is_some() && none.rounds.is_none() && none.dir.is_none());
    }

    #[test]
    fn a_threshold_is_a_time_or_a_share_of_the_call() {
        for (text, found) in
            [("0", Delta::Nanoseconds(0.0)), ("1.5", Delta::Nanoseconds(1.5)), ("0.5%", Delta::Share(0.005))]
        {
            assert_eq!(delta(text), Ok(found));
            assert_eq!(found.to_string(), text);
        }
        assert_eq!((delta("0.5ns"), delta("2 ns")), (Ok(Delta::Nanoseconds(0.5)), Ok(Delta::Nanoseconds(2.0))));
        assert!(
            ["-1", "1e999", "1e308", "1000001", "NaN", "101%", "-1%", "%", "ns", "1ns%"]
                .iter()
                .all(|text| delta(text).is_err())
        );
    }

    #[test]
    fn wrong_options_of_tables_are_refused() {
        for words in [
            &["--table", "generation"][..],
            &["--sets", "A"],
            &["--table", "generations", "--sets", "F"],
            &["--table", "generations", "--contents", "ones"],
            &["--table", "generations", "--scale", "0"],
            &["--table", "generations", "--scale", "NaN"],
            &["--table", "generations", "--rounds", "0"],
        ] {
            assert!(speed(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn a_worker_is_printed_or_checked() {
        #[derive(Debug, Parser)]
        struct Line {
            #[command(flatten)]
            worker: WorkerArgs,
        }
        let parse = |words: &[&str]| Line::try_parse_from(["worker"].iter().chain(words)).map(|line| line.worker);
        assert_eq!(parse(&["--print", "go"]).unwrap().print.as_deref(), Some("go"));
        assert_eq!(parse(&["--check", "./w", "--timeout", "2"]).unwrap().timeout, 2.0);
        for words in [&[][..], &["--timeout", "2"], &["--print", "cobol"], &["--print", "go", "--check", "./w"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn code_in_another_language_is_named_completely_and_once() {
        let library = ["--so", "x.so", "--symbol", "f", "--abi", "secret:8"];
        let foreign = speed(&library).unwrap().foreign;
        assert_eq!((foreign.symbol.as_deref(), foreign.timeout), (Some("f"), 60.0));
        let worker = ["--worker", "./w", "--classes", "equal,first", "--class-file", "weak=keys.bin", "--timeout", "5"];
        let foreign = speed(&worker).unwrap().foreign;
        assert_eq!(foreign.class_file, [("weak".to_owned(), PathBuf::from("keys.bin"))]);
        for words in [
            &["--so", "x.so", "--symbol", "f"][..],
            &["--so", "x.so", "--abi", "secret:8"],
            &["--symbol", "f"],
            &["--classes", "equal"],
            &["--class-file", "weak=keys.bin"],
            &["--worker", "./w", "--class-file", "keys.bin"],
            &["--worker", "./w", "--timeout", "0"],
        ] {
            assert!(speed(words).is_err(), "{words:?}");
        }
        assert!(speed(&[&library[..], &["--worker", "./w"]].concat()).is_err());
    }
}
