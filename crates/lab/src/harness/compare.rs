//! The command `compare`, which runs two programs in turn and compares their speed.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::Suite;
use super::args::CompareArgs;
use super::output::{Fault, Run, quoted, remark};
use super::progress::{self, Progress};
use super::show::Screen;
use crate::clock;
use crate::record::Outcome;
use crate::speed::program::{self, Options, Program};

pub(super) fn run(args: &CompareArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    let commands = [Some(&args.a), Some(&args.b), args.yardstick.as_ref()];
    if commands.into_iter().flatten().any(|command| command.trim().is_empty()) {
        return Err("a command is empty\nhint: name a program, for example: 'sleep 0.1'".into());
    }
    args.output.check(&[])?;
    let clock = clock::best();
    let mut run = Run::new(suite, &describe(args), &*clock);
    let program = |line: &str| {
        let program = Program::shell(line, line);
        let program = args.prepare.iter().fold(program, |program, prepare| program.prepare(prepare));
        let program = args.bytes.into_iter().fold(program, Program::bytes);
        if args.ignore_failure { program.may_fail() } else { program }
    };
    let limit = Duration::from_secs(args.time_limit);
    let (a, b) = (program(&args.a), program(&args.b));
    let yardstick = args.yardstick.as_deref().map(program);
    let options = Options {
        rounds: rounds(args) as usize,
        warm_up: args.warm_up as usize,
        limit,
        run_limit: (!limit.is_zero()).then_some(limit),
        ..Options::default()
    };
    remark(&plan(args, options.margin));
    let mut progress = Progress::new(rounds(args));
    let begin = Instant::now();
    let compared = program::compare(&a, &b, yardstick.as_ref(), &options, &mut progress);
    progress.finish();
    let comparison = compared.map_err(|error| explained(&error))?;
    Screen::new(args.output.takes_stdout()).comparison(&comparison, begin.elapsed());
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

/// Each command runs twice in a round.
fn rounds(args: &CompareArgs) -> u64 {
    args.runs.map_or(args.rounds, |runs| runs.div_ceil(2))
}

/// Returns the error with advice on what the user can do next.
fn explained(error: &program::Error) -> Fault {
    let hint = match error {
        program::Error::Failed { status, .. } if status.code() == Some(127) => {
            "the shell knows no such command; put a command line in quotes: 'sleep 1'"
        }
        program::Error::Failed { status, .. } if status.code() == Some(126) => {
            "the shell cannot start the command: check that the file is a program, and its permissions"
        }
        program::Error::Prepare { .. } => {
            "--prepare must succeed before each run, also with --ignore-failure; end it with || true if it may fail"
        }
        program::Error::Failed { status, .. } if status.code().is_none() => {
            "a command that a signal ended is not measured, also not with --ignore-failure"
        }
        program::Error::Failed { .. } => "--ignore-failure measures commands whose exit code is not 0",
        program::Error::Late { .. } => {
            "a command that waits for input or was stopped never ends; a slow one needs a \
            longer --time-limit, or 0 for none"
        }
        _ => return error.to_string().into(),
    };
    format!("{error}\nhint: {hint}").into()
}

/// Describes, before the comparison starts, the number of rounds and the maximum time.
fn plan(args: &CompareArgs, margin: f64) -> String {
    let rounds = rounds(args);
    let more = match args.time_limit {
        0 => String::new(),
        seconds => format!(
            ", and more until the result is settled, for at most {seconds} s (--time-limit), but at least {} rounds",
            program::FEWEST
        ),
    };
    format!("{rounds} rounds of A B B A{more}; margin {:.1} %", margin * 100.0)
}

fn describe(args: &CompareArgs) -> String {
    let option = |name: &str, value: &Option<String>| {
        value.as_ref().map_or_else(String::new, |value| format!(" --{name} {}", quoted(value)))
    };
    let bytes = args.bytes.map(|bytes| bytes.to_string());
    let (a, b) = (quoted(&args.a), quoted(&args.b));
    let options =
        [option("yardstick", &args.yardstick), option("prepare", &args.prepare), option("bytes", &bytes)].concat();
    let (rounds, limit, warm_up) = (rounds(args), args.time_limit, args.warm_up);
    let failure = if args.ignore_failure { " --ignore-failure" } else { "" };
    format!("compare {a} {b}{options} --rounds {rounds} --time-limit {limit} --warm-up {warm_up}{failure}")
}
