//! `trace`: the deterministic layer alone.

use std::process::ExitCode;

use super::Suite;
use super::args::{TimingArgs, TraceArgs};
use super::output::{Fault, Run};
use super::progress::{self, Progress};
use super::show::Screen;
use super::timing::choose;
use crate::record::{Design, Timing, Verdict};
use crate::watch::Watch;
use crate::{clock, random, trace};

pub(super) fn run(args: &TraceArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    let screen = Screen::new(args.output.takes_stdout());
    let targets = choose((suite.timing)(), &TimingArgs { target: args.target.clone(), ..TimingArgs::default() })?;
    let clock = clock::best();
    let mut run = Run::new(suite, "trace", &*clock);
    let seed = args.seed.unwrap_or_else(random::fresh_seed);
    let mut progress = Progress::new(targets.len() as u64);
    let (mut leaks, mut skipped) = (0, 0);
    for mut target in targets {
        if progress::interrupted() {
            break;
        }
        progress.progress(target.name(), 0, 1);
        let trace = trace::target(&mut target, seed);
        let leak = trace::leaks(&trace).is_some();
        leaks += u64::from(leak && trace.skipped.is_none());
        skipped += u64::from(trace.skipped.is_some());
        // In a record a trace belongs to a target; nothing was timed.
        let timing = Timing {
            target: target.name().to_owned(),
            length: target.length(),
            repeats: 0,
            design: Design { seed, ..Design::default() },
            classes: Vec::new(),
            pairs: Vec::new(),
            verdict: if leak { Verdict::Leak } else { Verdict::NoLeakAbove },
            trace: Some(trace),
        };
        progress.advance(1);
        progress.line(|| screen.trace(&timing));
        run.record.timing.push(timing);
    }
    progress.finish();
    screen.line(&format!("{} targets traced, {leaks} differ, {skipped} could not be compared", run.record.timing.len()));
    run.finish(&args.output)?;
    Ok(ExitCode::from(match (progress::interrupted(), leaks, skipped) {
        (true, ..) => 130,
        (_, 0, 0) => 0,
        (_, 0, _) => Verdict::Inconclusive.exit_code(false),
        _ => Verdict::Leak.exit_code(false),
    }))
}
