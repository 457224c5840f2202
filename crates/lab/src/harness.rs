//! The lab's command line: `deadpan lab …`, and `cargo bench` in anyone's crate.
//!
//! In a crate of your own, with `harness = false` for the benchmark in its manifest:
//!
//! ```no_run
//! use deadpan_lab::{Target, harness};
//!
//! fn main() -> std::process::ExitCode {
//!     harness::main(|| {
//!         vec![
//!             Target::new("compare", 64, |input| input[..32] == input[32..])
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
//! `cargo bench` then measures every target and says what it found; `cargo bench -- --help` shows what can be chosen.

// The one place of this crate that talks to a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod calibrate;
mod compare;
mod generations;
mod output;
mod progress;
#[cfg(feature = "report")]
mod report;
mod selftest;
mod show;
mod speed;
mod state;
mod timing;
#[cfg(feature = "trace")]
mod trace;

use std::process::ExitCode;

use clap::Parser;

use crate::generations::Offer;
use crate::target::Target;
#[cfg(feature = "report")]
pub use args::ReportArgs;
#[cfg(feature = "trace")]
pub use args::TraceArgs;
pub use args::{CalibrateArgs, Command, CompareArgs, SelftestArgs, SpeedArgs, TableArgs, TimingArgs};

/// What a command line offers to measure.
#[derive(Clone, Copy)]
pub struct Suite {
    /// The program's name, for records and hints.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// How the commands below are called, for records: `deadpan lab`.
    pub command: &'static str,
    /// Makes the targets for timing verdicts.
    pub timing: fn() -> Vec<Target>,
    /// Makes the targets for speeds.
    pub speed: fn() -> Vec<SizedTarget>,
    /// Whole workloads for `speed --table generations`, beside those that this crate brings.
    pub generations: fn() -> Offer,
}

/// A function at one size, for speeds. The first class of the target is its input.
#[derive(Debug)]
pub struct SizedTarget {
    /// The function. One called `memcpy` is the yardstick for the others of its size.
    pub target: Target,
    /// The size in words: `16 KiB`.
    pub size: String,
    /// The bytes that a call works on.
    pub bytes: u64,
}

/// Runs a command and gives its exit code.
#[must_use]
pub fn run(command: &Command, suite: &Suite) -> ExitCode {
    let outcome = match command {
        Command::Timing(args) => timing::run(args, suite),
        #[cfg(feature = "trace")]
        Command::Trace(args) => trace::run(args, suite),
        Command::Speed(args) => speed::run(args, suite),
        Command::Calibrate(args) => calibrate::run(args, suite),
        Command::Compare(args) => compare::run(args, suite),
        #[cfg(feature = "report")]
        Command::Report(args) => report::run(args),
        Command::Selftest(args) => selftest::run(args, suite),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

/// The whole of a benchmark's `main`: reads the command line, measures the targets, prints what it found. Targets with two classes or more
/// get timing verdicts.
#[must_use]
pub fn main(targets: fn() -> Vec<Target>) -> ExitCode {
    let args = args::BenchArgs::parse();
    let suite = Suite {
        name: "deadpan-lab",
        version: env!("CARGO_PKG_VERSION"),
        command: "cargo bench --",
        timing: targets,
        speed: Vec::new,
        generations: Offer::default,
    };
    run(&Command::Timing(args.into_timing()), &suite)
}
