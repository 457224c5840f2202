//! Measures the ct, base64 and pad crates beside their peers, in one run: `scripts/bench`.
//!
//! The contestants of a cell run *interleaved*: many short rounds on one core, in a new random order each round, so
//! that a busy machine disturbs all of them alike. The tables have the median and the minimum time of a call, and the
//! median over the rounds of *ours ÷ theirs*. Every contestant's result is checked before its time is taken.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[allow(unsafe_code)]
mod barrier;
mod base64;
mod bench;
mod ct;
mod ladder;
mod machine;
mod movable;
mod options;
mod pad;
mod race;
mod random;
mod report;
mod statistic;
mod targets;

use std::process::ExitCode;

use bench::Bench;
use options::Options;

fn main() -> ExitCode {
    if std::env::args().skip(1).any(|argument| argument == "--help" || argument == "-h") {
        println!("{}", options::HELP);
        return ExitCode::SUCCESS;
    }
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> std::io::Result<ExitCode> {
    let core = machine::stay();
    let mut bench = Bench::new(options, machine::describe(core));
    if let Some(level) = &options.ladder {
        return ladder::rung(bench, level);
    }
    bench.begin();
    if options.section("ct") {
        ct::run(&mut bench);
    }
    if options.section("base64") {
        base64::run(&mut bench);
        ladder::run(&mut bench);
    }
    if options.section("pad") {
        pad::run(&mut bench);
    }
    bench.finish()
}
