//! The command `trace`, which compares single-stepped traces and times nothing.

use std::process::ExitCode;

use super::Suite;
use super::args::TraceArgs;
use super::foreign::{self, Source};
use super::output::{Fault, Run, quoted};
use super::progress::{self, Progress};
use super::show::Screen;
use super::timing::named;
use crate::plural::plural;
use crate::record::{Design, Timing, Verdict};
use crate::watch::Watch;
use crate::{random, trace};

pub(super) fn run(args: &TraceArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    let screen = Screen::new(args.output.takes_stdout());
    let mut source = Source::open(&args.foreign, suite.timing)?;
    let targets = named(std::mem::take(&mut source.targets), &args.target)?;
    args.output.check()?;
    let seed = args.seed.unwrap_or_else(random::fresh_seed);
    let mut run = Run::new(suite, &describe(args, seed), &*source.clock);
    let mut progress = Progress::new(targets.len() as u64);
    let (mut leaks, mut skipped, mut stepped) = (0, 0, false);
    for mut target in targets {
        if progress::interrupted() {
            break;
        }
        progress.progress(target.name(), 0, 1);
        let trace = source.no_trace().unwrap_or_else(|| trace::target(&mut target, seed));
        let leak = trace::leaks(&trace).is_some();
        leaks += u64::from(leak);
        skipped += u64::from(trace.skipped.is_some());
        stepped |= trace.instructions > 0;
        // A record keeps a trace in the timing of its target, although nothing was timed.
        let timing = Timing {
            target: target.name().to_owned(),
            length: target.length(),
            repeats: 0,
            design: Design { seed, ..Design::default() },
            classes: Vec::new(),
            pairs: Vec::new(),
            verdict: if leak { Verdict::Leak } else { Verdict::Inconclusive },
            trace: Some(trace),
        };
        progress.advance(1);
        progress.line(|| screen.trace(&timing));
        run.record.timing.push(timing);
    }
    progress.finish();
    run.record.interrupted = progress::interrupted();
    let traced = run.record.timing.len() as u64;
    let (noun, verb) = (plural(traced, "target", "targets"), plural(leaks, "differs", "differ"));
    screen.line(&format!("{traced} {noun} traced, {leaks} {verb}, {skipped} could not be compared"));
    run.finish(&args.output)?;
    Ok(ExitCode::from(match (progress::interrupted(), leaks, skipped) {
        (true, ..) => 130,
        (_, 0, 0) => 0,
        (_, 0, _) if !stepped => Verdict::Unmeasurable.exit_code(false),
        (_, 0, _) => Verdict::Inconclusive.exit_code(false),
        _ => Verdict::Leak.exit_code(false),
    }))
}

fn describe(args: &TraceArgs, seed: u64) -> String {
    let options = foreign::describe(&args.foreign).into_iter();
    let targets = args.target.iter().map(|name| format!("--target {}", quoted(name)));
    let targets: String = options.chain(targets).map(|word| format!(" {word}")).collect();
    format!("trace{targets} --seed {seed}")
}
