//! The command `trace`, which compares traces and gives no verdict on times.

use std::process::ExitCode;

use super::Suite;
use super::args::TraceArgs;
use super::choice::named;
use super::foreign::{self, Source};
use super::output::{Fault, Run, quoted};
use super::progress::{self, Progress};
use super::show::Screen;
use crate::plural::plural;
use crate::record::{Design, Timing, Trace, Verdict};
use crate::target::Target;
use crate::watch::Watch;
use crate::{random, trace};

pub(super) fn run(args: &TraceArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    let screen = Screen::new(args.output.takes_stdout());
    let mut source = Source::open(&args.foreign, suite.timing)?;
    let targets = named(std::mem::take(&mut source.targets), &args.target)?;
    if args.list {
        targets.iter().for_each(|target| screen.classes(target));
        return Ok(ExitCode::SUCCESS);
    }
    args.output.check(&args.foreign.inputs())?;
    let seed = args.seed.unwrap_or_else(random::fresh_seed);
    let mut run = Run::new(suite, &describe(args, seed), &*source.clock);
    let mut progress = Progress::new(targets.len() as u64);
    let (mut leaks, mut skipped, mut unsupported) = (0, 0, 0);
    let (mut instructions, mut seconds) = (0, 0.0);
    for mut target in targets {
        if progress::interrupted() {
            break;
        }
        progress.progress(target.name(), 0, 1);
        let timing = timing(&mut target, seed, source.no_trace());
        if progress::interrupted() {
            break;
        }
        leaks += u64::from(timing.verdict == Verdict::Leak);
        if let Some(trace) = &timing.trace {
            skipped += u64::from(trace.skipped.is_some());
            unsupported += u64::from(trace::unsupported(trace));
            instructions += trace.recorded;
            seconds += trace.seconds;
        }
        progress.advance(1);
        progress.line(|| {
            screen.trace(&timing, "");
            let branches = timing.trace.as_ref().is_some_and(trace::branches);
            source.advise(&target, suite, [timing.verdict == Verdict::Leak, branches], &screen);
        });
        run.record.timing.push(timing);
    }
    progress.finish();
    run.record.interrupted = progress::interrupted();
    let traced = run.record.timing.len() as u64;
    let (noun, verb) = (plural(traced, "target", "targets"), plural(leaks, "differs", "differ"));
    screen.line(&format!("{traced} {noun} traced, {leaks} {verb}, {skipped} could not be compared"));
    screen.unoptimized(&run.record.timing);
    if let Some(line) = recorded(instructions, seconds) {
        screen.line(&line);
    }
    run.finish(&args.output)?;
    Ok(ExitCode::from(match (progress::interrupted(), leaks, skipped) {
        (true, ..) => 130,
        (_, 0, 0) => 0,
        (_, 0, _) if unsupported == traced => Verdict::Unmeasurable.exit_code(false),
        (_, 0, _) => Verdict::Inconclusive.exit_code(false),
        _ => Verdict::Leak.exit_code(false),
    }))
}

/// Returns a text with the number of recorded instructions. For a short recording, the text contains no rate, because
/// starting the recording takes most of the time.
fn recorded(instructions: u64, seconds: f64) -> Option<String> {
    let (millions, rate) = (instructions as f64 / 1e6, instructions as f64 / seconds / 1e6);
    match instructions {
        0 => None,
        1_000_000.. => Some(format!("{millions:.1} million instructions recorded, {rate:.1} million per second")),
        few => Some(format!("{few} {} recorded", plural(few, "instruction", "instructions"))),
    }
}

/// Traces a target, except if `no_trace` contains a reason why the target cannot be traced. Returns a [`Timing`]
/// without times, because a record stores the trace of a target inside the target's [`Timing`].
pub(super) fn timing(target: &mut Target, seed: u64, no_trace: Option<Trace>) -> Timing {
    let trace = no_trace.unwrap_or_else(|| trace::target_until(target, seed, &progress::interrupted));
    Timing {
        target: target.name().to_owned(),
        length: target.recorded_length(),
        repeats: 0,
        design: Design { seed, ..Design::default() },
        classes: Vec::new(),
        pairs: Vec::new(),
        verdict: if trace::leaks(&trace).is_some() { Verdict::Leak } else { Verdict::Inconclusive },
        trace: Some(trace),
    }
}

fn describe(args: &TraceArgs, seed: u64) -> String {
    let options = foreign::describe(&args.foreign).into_iter();
    let targets = args.target.iter().map(|name| format!("--target {}", quoted(name)));
    let targets: String = options.chain(targets).map(|word| format!(" {word}")).collect();
    format!("trace{targets} --seed {seed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_recording_has_no_rate() {
        assert_eq!(recorded(0, 1.0), None);
        assert_eq!(recorded(1, 0.1).as_deref(), Some("1 instruction recorded"));
        assert_eq!(recorded(999_999, 0.1).as_deref(), Some("999999 instructions recorded"));
        assert_eq!(
            recorded(3_000_000, 2.0).as_deref(),
            Some("3.0 million instructions recorded, 1.5 million per second")
        );
    }
}
