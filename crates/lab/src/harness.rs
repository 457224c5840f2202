//! The lab's command line: the command `deadpan lab …`, and the benchmarks of other crates, which `cargo bench` runs.
//!
//! A benchmark in your own crate needs `harness = false` in the manifest, and this `main`:
//!
//! ```no_run
//! use deadpan_lab::{Target, harness};
//!
//! fn compare(left: &[u8], right: &[u8]) -> bool {
//!     for i in 0..left.len() {
//!         if left[i] != right[i] {
//!             return false;
//!         }
//!     }
//!     true
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     harness::main(|| {
//!         vec![
//!             Target::new("compare", 64, |input| compare(&input[..32], &input[32..]))
//!                 .class("equal", |random, input| {
//!                     random.fill(&mut input[..32]);
//!                     input.copy_within(..32, 32);
//!                 })
//!                 .class("random", |random, input| random.fill(input)),
//!         ]
//!     })
//! }
//! ```
//!
//! `cargo bench` then measures every target and prints the verdicts: for this example `LEAK`, because the loop ends at
//! the first difference. The verdict for `left.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b)) ==
//! 0` is `NO_LEAK_ABOVE`. For a benchmark called `timing`, `cargo bench --bench timing --
//! --help` lists the options. Without `--bench timing`, Cargo first passes the options to the unit tests of the
//! library, and the unit tests reject the options.

// Within this crate, only this module writes to standard output and standard error.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod calibrate;
mod caller;
mod choice;
mod compare;
mod foreign;
mod output;
mod progress;
#[cfg(feature = "report")]
mod report;
mod selftest;
mod show;
mod speed;
mod state;
mod tables;
mod taint;
mod timing;
#[cfg(feature = "trace")]
mod trace;
mod worker;

use std::process::ExitCode;

use crate::emulation;
use crate::record::Verdict;
use crate::speed::workload::Offer;
use crate::target::Target;
#[cfg(feature = "report")]
pub use args::ReportArgs;
#[cfg(feature = "trace")]
pub use args::TraceArgs;
pub use args::{
    CalibrateArgs, Command, CompareArgs, ForeignArgs, SelftestArgs, SpeedArgs, TableArgs, TablesArgs, TimingArgs,
    WorkerArgs,
};
pub use caller::Caller;
pub use output::be_quiet;

/// The program that runs the lab, and the targets and workloads that the lab can measure.
#[derive(Clone, Copy)]
pub struct Suite {
    /// The program's name, for records and hints.
    pub name: &'static str,
    /// The program's version, for records.
    pub version: &'static str,
    /// The command line that a user types to run a command of the lab.
    pub caller: Caller,
    /// Returns the targets whose times the lab tests for leaks.
    pub timing: fn() -> Vec<Target>,
    /// Returns functions that are known not to leak, each with two classes. The selftest counts the false alarms for
    /// these functions.
    pub honest: fn() -> Vec<Target>,
    /// Returns the targets for speed measurements.
    pub speed: fn() -> Vec<SizedTarget>,
    /// Returns the workloads for `speed --table generations`, in addition to the workloads of this crate.
    pub generations: fn() -> Offer,
}

/// A function with inputs of one size, for speed measurements. The inputs come from the first class of the target.
#[derive(Debug)]
pub struct SizedTarget {
    /// The function. The lab compares the speed of the other targets with the target `memcpy` of the same input size.
    pub target: Target,
    /// The size in words, for example `16 KiB`.
    pub size: String,
    /// The number of bytes that one call processes.
    pub bytes: u64,
}

/// The name of a table, and the function that creates the table. The function's argument is true if the table is for a
/// quick trial run.
pub type NamedTable = (&'static str, fn(bool) -> Offer);

/// The complete `main` function of a benchmark with tables. Reads the command line and measures one table.
#[must_use]
pub fn tables(suite: &Suite, tables: &[NamedTable]) -> ExitCode {
    let args = TablesArgs::read();
    if let Some(why) = emulation::times().filter(|_| !args.list) {
        return unmeasurable(why);
    }
    ended(tables::named(&args, suite, tables))
}

/// Runs a command and returns its exit code. Errors are written to standard error.
#[must_use]
pub fn run(command: &Command, suite: &Suite) -> ExitCode {
    if let Some(why) = refused(command) {
        return unmeasurable(why);
    }
    let work = || {
        ended(match command {
            Command::Timing(args) => timing::run(args, suite),
            #[cfg(feature = "trace")]
            Command::Trace(args) => trace::run(args, suite),
            Command::Speed(args) => speed::run(args, suite),
            Command::Calibrate(args) => calibrate::run(args, suite),
            Command::Compare(args) => compare::run(args, suite),
            #[cfg(feature = "report")]
            Command::Report(args) => report::run(args),
            Command::Worker(args) => worker::run(args),
            Command::Selftest(args) => selftest::run(args, suite),
        })
    };
    match command {
        Command::Timing(args) => foreign::supervised(&args.foreign, work),
        #[cfg(feature = "trace")]
        Command::Trace(args) => foreign::supervised(&args.foreign, work),
        Command::Speed(args) => foreign::supervised(&args.foreign, work),
        _ => work(),
    }
}

/// Returns the reason why this machine cannot run a command that measures times.
fn refused(command: &Command) -> Option<&'static str> {
    let measures = match command {
        Command::Timing(args) => !args.list,
        Command::Speed(args) => !args.list,
        Command::Calibrate(_) | Command::Compare(_) => true,
        // A selftest that also has other checks runs these, and names the checks that it does not run.
        Command::Selftest(args) => {
            !args.only.is_empty() && !args.only.iter().any(|group| ["trace", "taint"].contains(&group.as_str()))
        }
        _ => false,
    };
    emulation::times().filter(|_| measures)
}

fn unmeasurable(why: &str) -> ExitCode {
    output::note(&format!("{}: {why}", Verdict::Unmeasurable));
    ExitCode::from(Verdict::Unmeasurable.exit_code(false))
}

/// Returns an exit code as a number. The standard library has no function that converts an exit code to a number.
#[must_use]
pub fn number(code: ExitCode) -> u8 {
    (0..=255).find(|&number| ExitCode::from(number) == code).unwrap_or(2)
}

/// The complete `main` function of a benchmark. Reads the command line, measures the targets and prints the timing
/// verdicts. For a target with only one class, the lab makes traces but does not measure times.
///
/// If the benchmark runs under Valgrind, [`taint::target`] checks the targets; the option `--taint` starts Valgrind.
/// Nothing is timed. The exit code is 10 if a jump or an address depends on a secret, and otherwise 0.
///
/// [`taint::target`]: crate::taint::target
#[must_use]
pub fn main(targets: fn() -> Vec<Target>) -> ExitCode {
    let args = args::BenchArgs::read();
    if args.taint || args.under_valgrind || crate::taint::running() {
        return ended(taint::run(&args, targets));
    }
    let suite = Suite {
        name: "deadpan-lab",
        version: env!("CARGO_PKG_VERSION"),
        caller: Caller::Bench,
        timing: targets,
        honest: Vec::new,
        speed: Vec::new,
        generations: Offer::default,
    };
    run(&Command::Timing(args.timing), &suite)
}

/// Returns the exit code of a command.
fn ended(outcome: Result<ExitCode, output::Fault>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        output::note(&format!("error: {error}"));
        ExitCode::from(2)
    })
}
