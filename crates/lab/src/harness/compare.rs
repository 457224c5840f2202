//! The command `compare`, which runs two programs in turn and compares their speed.

use std::process::ExitCode;
use std::time::Duration;

use super::Suite;
use super::args::CompareArgs;
use super::output::{Fault, Run, quoted};
use super::progress::{self, Progress};
use super::show::Screen;
use crate::clock;
use crate::record::Outcome;
use crate::speed::program::{self, Options, Program};

pub(super) fn run(args: &CompareArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    args.output.check()?;
    let clock = clock::best();
    let mut run = Run::new(suite, &describe(args), &*clock);
    let program = |line: &str| {
        let program = Program::shell(line, line);
        let program = args.prepare.iter().fold(program, |program, prepare| program.prepare(prepare));
        args.bytes.into_iter().fold(program, Program::bytes)
    };
    let (a, b) = (program(&args.a), program(&args.b));
    let yardstick = args.yardstick.as_deref().map(program);
    let options = Options {
        rounds: args.rounds as usize,
        warm_up: args.warm_up as usize,
        limit: Duration::from_secs(args.time_limit),
        ..Options::default()
    };
    eprintln!("{}", plan(args, options.margin));
    let mut progress = Progress::new(args.rounds + args.warm_up);
    let compared = program::compare(&a, &b, yardstick.as_ref(), &options, &mut progress);
    progress.finish();
    let comparison = compared?;
    Screen::new(args.output.takes_stdout()).comparison(&comparison);
    let outcome = comparison.outcome;
    run.record.comparisons.push(comparison);
    run.record.interrupted = progress::interrupted();
    run.finish(&args.output)?;
    Ok(ExitCode::from(match (progress::interrupted(), outcome) {
        (true, _) => 130,
        (false, Outcome::Same) => 0,
        (false, Outcome::Faster | Outcome::Slower) => 1,
        (false, Outcome::Inconclusive) => 20,
    }))
}

/// Describes beforehand how long the comparison may take.
fn plan(args: &CompareArgs, margin: f64) -> String {
    let more = match args.time_limit {
        0 => String::new(),
        seconds => format!(", and more until the result is settled, for at most {seconds} s"),
    };
    format!("{} rounds{more}; margin {:.1} %", args.rounds, margin * 100.0)
}

fn describe(args: &CompareArgs) -> String {
    let option = |name: &str, value: &Option<String>| {
        value.as_ref().map_or_else(String::new, |value| format!(" --{name} {}", quoted(value)))
    };
    let bytes = args.bytes.map(|bytes| bytes.to_string());
    let (a, b) = (quoted(&args.a), quoted(&args.b));
    let options =
        [option("yardstick", &args.yardstick), option("prepare", &args.prepare), option("bytes", &bytes)].concat();
    let (rounds, limit, warm_up) = (args.rounds, args.time_limit, args.warm_up);
    format!("compare {a} {b}{options} --rounds {rounds} --time-limit {limit} --warm-up {warm_up}")
}
