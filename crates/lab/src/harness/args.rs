//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes:
  0   no leak above the stated bound; or a real difference below the threshold (11 with --strict)
  10  a leak: found, found again on fresh data, beyond the threshold; or traces that differ
  20  inconclusive, or interrupted: the output says what would have been seen, and how much more would settle it
  30  invalid: a control failed
  31  unmeasurable: the calls are below what the clock can see
  2   wrong use, or a file that cannot be read or written";

/// What the lab does.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Does the time depend on the secret? Verdicts with known error rates
    #[command(after_help = concat_help("Examples:
  deadpan lab timing                              everything, some minutes
  deadpan lab timing --target base64 --quick      base64 only, wider bounds
  deadpan lab timing --target ct.eq.u32 --class random --class 'equal zeros'
  deadpan lab timing --html report.html --json record.json"))]
    Timing(TimingArgs),
    /// Does the compiled code do the same for every secret? Single steps, no clock: for tests that gate
    #[cfg(feature = "trace")]
    #[command(after_help = "Examples:
  deadpan lab trace
  deadpan lab trace --target pad --json trace.json

Exit codes: 0 all traces are the same; 10 some differ, or divide by a secret; 20 some could not be compared;
31 there is no stepping here; 2 wrong use; 130 interrupted")]
    Trace(TraceArgs),
    /// How fast is it? Throughput beside memcpy, and the machine's own limits
    #[command(after_help = "Examples:
  deadpan lab speed
  deadpan lab speed --target base64 --quick --html speed.html
  deadpan lab speed --table generations --scale 0.01          whole workloads, a quick try
  deadpan lab speed --table generations --markdown docs/results/generations.md

Exit codes: 0 measured; 2 wrong use, or a file that cannot be read or written; 130 interrupted")]
    Speed(Box<SpeedArgs>),
    /// How often does the lab err on this machine? Stored, and cited by verdicts
    #[command(after_help = "Examples:
  deadpan lab calibrate --quick       about a minute
  deadpan lab calibrate               about half an hour

Exit codes: 0 measured and stored; 2 wrong use, or a file that cannot be written; 130 interrupted")]
    Calibrate(CalibrateArgs),
    /// Which of two programs is faster? Alternately, in one series
    #[command(after_help = "Examples:
  deadpan lab compare 'gzip -k -f data' 'zstd -k -f -q data'
  deadpan lab compare 'cp big a' 'dd if=big of=a bs=1M' --yardstick 'cat big' --bytes 1073741824
  deadpan lab compare ./old ./new --prepare 'rm -f out' --rounds 40

Exit codes: 0 the same within the margin; 1 they differ; 2 wrong use, or a program failed; 130 interrupted")]
    Compare(CompareArgs),
    /// A page with tables and charts from the records of earlier runs
    #[cfg(feature = "report")]
    #[command(after_help = "Examples:
  deadpan lab timing --json timing.json; deadpan lab report timing.json --html report.html
  deadpan lab report timing.json speed.json --markdown results --detail brief

Exit codes: 0 written; 2 wrong use, or a file that cannot be read or written")]
    Report(ReportArgs),
    /// Does the lab keep its promises here? Each one tried, with intervals
    #[command(after_help = "Examples:
  deadpan lab selftest --quick     one to two minutes
  deadpan lab selftest             about ten minutes, on two processors

Exit codes: 0 every promise kept; 1 one was not; 2 wrong use; 130 interrupted")]
    Selftest(SelftestArgs),
}

fn concat_help(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

/// Where results go.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputArgs {
    /// Write the record as JSON (- for standard output; the table then goes to standard error)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write one self-contained HTML page
    #[cfg(feature = "report")]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a Markdown page, report.md, with pictures beside it; a name that ends in .md is that of the page
    #[cfg(feature = "report")]
    #[arg(long, value_name = "FOLDER")]
    pub markdown: Option<PathBuf>,
}

/// Options of `timing`.
#[derive(Args, Clone, Debug, Default)]
pub struct TimingArgs {
    /// Only targets whose name contains this; may be repeated
    #[arg(long, short, value_name = "NAME")]
    pub target: Vec<String>,
    /// Only classes of inputs whose name contains this; may be repeated
    #[arg(long, short, value_name = "NAME")]
    pub class: Vec<String>,
    /// A quarter of the measurements: bounds are about twice as wide
    #[arg(long)]
    pub quick: bool,
    /// Exit with 11 on a real difference below the threshold
    #[arg(long)]
    pub strict: bool,
    /// The difference that counts as a leak, in nanoseconds per call; 0: any [default: 1, or a tenth of a shorter call]
    #[arg(long, value_name = "NS", value_parser = not_negative)]
    pub delta: Option<f64>,
    /// The chance of a false alarm for each target
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    pub alpha: f64,
    /// Repeat the inputs and the order of an earlier run
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Leave out the single-stepped traces
    #[arg(long)]
    pub no_trace: bool,
    /// Leave out the tables of each class by itself (slope, mean, median, deviation)
    #[arg(long)]
    pub no_estimates: bool,
    /// Write every single time into files in this folder
    #[arg(long, value_name = "FOLDER")]
    pub raw: Option<PathBuf>,
    /// List the targets and their classes, measure nothing
    #[arg(long)]
    pub list: bool,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `trace`.
#[cfg(feature = "trace")]
#[derive(Args, Clone, Debug, Default)]
pub struct TraceArgs {
    /// Only targets whose name contains this; may be repeated
    #[arg(long, short, value_name = "NAME")]
    pub target: Vec<String>,
    /// Repeat the inputs of an earlier run
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `speed`.
#[derive(Args, Clone, Debug, Default)]
pub struct SpeedArgs {
    /// Only targets whose name contains this; may be repeated
    #[arg(long, short, value_name = "NAME")]
    pub target: Vec<String>,
    /// Fewer measurements
    #[arg(long)]
    pub quick: bool,
    /// Leave out the machine's own limits (memory, file, arithmetic)
    #[arg(long)]
    pub no_baselines: bool,
    /// Compare with the stored figures, but do not replace them
    #[arg(long)]
    pub keep: bool,
    /// List the targets, measure nothing
    #[arg(long)]
    pub list: bool,
    /// Whole workloads instead of functions
    #[command(flatten)]
    pub table: TableArgs,
    /// Run one kernel; its job is JSON
    #[arg(long, value_name = "JOB", hide = true)]
    pub kernel: Option<String>,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `speed --table`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tables of whole workloads")]
pub struct TableArgs {
    /// One table of whole workloads (--target and --list then mean these, --quick is one round): files, folders, bytes in memory, on one core
    /// (the process is held there) and on all, beside what a user would run instead
    #[arg(long = "table", value_name = "NAME", value_parser = ["generations"])]
    pub name: Option<String>,
    /// Only these sets: A a file of 300 MiB, B 1 GiB, C 3 GiB, D 10 GiB, E a folder of 10 GiB
    #[arg(long, requires = "name", value_name = "LETTERS", value_delimiter = ',', value_parser = set)]
    pub sets: Vec<String>,
    /// Multiply all sizes by this: 0.01 for a quick try
    #[arg(long, requires = "name", value_name = "FACTOR", value_parser = scale)]
    pub scale: Option<f64>,
    /// Only files of these contents
    #[arg(long, requires = "name", value_name = "KINDS", value_delimiter = ',', value_parser = ["zero", "random"])]
    pub contents: Vec<String>,
    /// Rounds, in each of which all variants run once [default: 3 for sets of more than 2 GiB, 5, and 7 for those of up to 512 MiB]
    #[arg(long, requires = "name", value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    /// Only these programs beside ours, cp and plain writing; --peers= for none
    #[arg(long, requires = "name", value_name = "NAMES", value_delimiter = ',')]
    pub peers: Option<Vec<String>>,
    /// The folder to work in; a new one is made there, and removed [default: target if there is one, or the current folder]
    #[arg(long, requires = "name", value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

/// Options of `calibrate`.
#[derive(Args, Clone, Debug, Default)]
pub struct CalibrateArgs {
    /// A tenth of the runs
    #[arg(long)]
    pub quick: bool,
    /// Runs in which nothing leaks, for each cost
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// The chance of a false alarm that is asked for
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    pub alpha: f64,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `compare`.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// The first command line; run by `sh`
    pub a: String,
    /// The second
    pub b: String,
    /// A third, timed in the same series, that both are held against: cp, say
    #[arg(long, value_name = "COMMAND")]
    pub yardstick: Option<String>,
    /// Run before each of them, not timed
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// The bytes that each works on, for a throughput
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub bytes: Option<u64>,
    /// Rounds of A B B A
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u64).range(8..))]
    pub rounds: u64,
    /// Rounds that are run first and not counted
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub warm_up: u64,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Options of `report`.
#[cfg(feature = "report")]
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Records, as --json writes them; the first names the machine, figures of all come together
    #[arg(required = true)]
    pub records: Vec<PathBuf>,
    /// Earlier records, oldest first, for the history of baselines
    #[arg(long, value_name = "FILE")]
    pub history: Vec<PathBuf>,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE", required_unless_present = "markdown")]
    pub html: Option<PathBuf>,
    /// Write a Markdown page, report.md, with pictures beside it
    #[arg(long, value_name = "FOLDER")]
    pub markdown: Option<PathBuf>,
    /// How much goes into the Markdown page: everything; all tables, but pictures only where something was found; a row for each target
    #[arg(long, value_name = "MUCH", default_value = "full", value_parser = ["full", "main", "brief"])]
    pub detail: String,
}

/// Options of `selftest`.
#[derive(Args, Clone, Debug, Default)]
pub struct SelftestArgs {
    /// A short version: one to two minutes, wide intervals
    #[arg(long)]
    pub quick: bool,
    /// Runs in which nothing leaks, for each of two functions
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Measure on an otherwise idle machine, without a compiler beside it
    #[arg(long)]
    pub idle: bool,
    /// Only checks whose group has this name: timing, speed, trace, taint, code; may be repeated
    #[arg(long, value_name = "GROUP", value_parser = ["timing", "speed", "trace", "taint", "code"])]
    pub only: Vec<String>,
    /// The part that runs under Valgrind
    #[arg(long, hide = true)]
    pub under_valgrind: bool,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The command line of a benchmark in someone else's crate.
#[derive(Debug, Parser)]
#[command(name = "cargo bench --", after_help = EXIT_CODES, about = "Timing verdicts for the functions of this benchmark")]
pub(super) struct BenchArgs {
    /// Only targets whose name contains this
    filter: Vec<String>,
    #[command(flatten)]
    timing: TimingArgs,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

impl BenchArgs {
    pub(super) fn into_timing(self) -> TimingArgs {
        let mut timing = self.timing;
        timing.target.extend(self.filter);
        timing
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if 1e-6 < share && share < 0.5 => Ok(share),
        _ => Err("not a share between 0.000001 and 0.5: 0.01 stands for 1 %".to_owned()),
    }
}

fn set(text: &str) -> Result<String, String> {
    let known = crate::generations::SETS.iter().any(|set| set.name.to_string().eq_ignore_ascii_case(text));
    if known { Ok(text.to_uppercase()) } else { Err("sets are A, B, C, D and E".to_owned()) }
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (1e-6..=100.0).contains(&factor) => Ok(factor),
        _ => Err("not a factor between 0.000001 and 100: 0.01, say".to_owned()),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
        _ => Err("not a number of nanoseconds: 0.5, say".to_owned()),
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
        let words = ["--table", "generations", "--sets", "a,E", "--contents", "random", "--peers", "tar,age", "--scale", "0.02"];
        let args = speed(&words).unwrap().table;
        assert_eq!((args.sets, args.contents, args.scale), (vec!["A".to_owned(), "E".to_owned()], vec!["random".to_owned()], Some(0.02)));
        assert_eq!(args.peers, Some(vec!["tar".to_owned(), "age".to_owned()]));
        let none = speed(&["--table", "generations", "--peers="]).unwrap().table;
        assert!(none.peers.is_some() && none.rounds.is_none() && none.dir.is_none());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
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
}
