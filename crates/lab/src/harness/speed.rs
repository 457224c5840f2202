//! The command `speed`, which measures throughput in comparison with `memcpy`, and the machine's highest rates.

use std::process::ExitCode;

use super::args::SpeedArgs;
use super::choice::unknown;
use super::foreign::{self, Source};
use super::output::{Fault, Run, note, quoted};
use super::progress::{self, Progress};
use super::show::{Screen, rate};
use super::{SizedTarget, Suite, state, tables};
use crate::record::{Interval, Speed, Yardstick};
use crate::speed::{self, Options, RaceOptions};
use crate::target::Target;

/// The name of the target whose speed is the reference for the other targets.
const YARDSTICK: &str = "memcpy";
/// The lab reports a relative change of a speed only if the change is larger than this margin.
const MARGIN: f64 = 0.02;

pub(super) fn run(args: &SpeedArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    if let Some(job) = &args.kernel {
        return tables::kernel(job, suite);
    }
    if args.table.name.is_some() {
        return tables::generations(args, suite);
    }
    let screen = Screen::new(args.output.takes_stdout());
    let mut source = Source::open(&args.foreign, Vec::new)?;
    let foreign = source.foreign();
    let all = if foreign { sized(std::mem::take(&mut source.targets)) } else { (suite.speed)() };
    let names: Vec<String> = all.iter().map(|sized| sized.target.name().to_owned()).collect();
    let wanted = |name: &str| {
        args.target.is_empty() || name == YARDSTICK || args.target.iter().any(|pattern| name.contains(pattern.as_str()))
    };
    let mut chosen: Vec<SizedTarget> = all.into_iter().filter(|sized| wanted(sized.target.name())).collect();
    if chosen.iter().all(|sized| sized.target.name() == YARDSTICK)
        && !args.target.is_empty()
        && !args.target.iter().any(|name| YARDSTICK.contains(name.as_str()))
    {
        return Err(unknown(&names, &args.target));
    }
    if args.list {
        chosen.iter().for_each(|sized| screen.line(&format!("{}: {}", sized.target.name(), sized.size)));
        return Ok(ExitCode::SUCCESS);
    }
    args.output.check(&args.foreign.inputs())?;
    let clock = &*source.clock;
    let mut run = Run::new(suite, &describe(args), clock);
    source.note(&mut run);
    let mut progress = Progress::new(chosen.len() as u64);
    if !args.no_baselines && !foreign {
        run.record.baselines = speed::baselines(clock, &std::env::temp_dir())?;
        for baseline in &run.record.baselines {
            let unit = if baseline.unit == "bytes" { "B" } else { "op" };
            screen.line(&format!("{:<34} {:>14}", baseline.name, rate(baseline.rate.estimate, unit)));
        }
    }
    screen.line(&format!(
        "{:<34} {:>8} {:>10} {:>10} {:>10}  {:>14}  {:<16} {}",
        "target", "size", "at least", "median", "at most", "throughput", "beside memcpy", "since last run"
    ));
    let mut yardsticks = if foreign { Vec::new() } else { yardsticks((suite.speed)()) };
    for sized in &mut chosen {
        if progress::interrupted() {
            break;
        }
        source.warm_up(&mut sized.target, 1)?;
        let measured = measure(sized, &mut yardsticks, args, &source, &mut progress)?;
        let Some(measured) = measured else { break };
        progress.advance(1);
        progress.line(|| screen.speed(&measured));
        run.record.speed.push(measured);
    }
    progress.finish();
    run.record.interrupted = progress::interrupted();
    run.finish(&args.output)?;
    Ok(ExitCode::from(if progress::interrupted() { 130 } else { 0 }))
}

/// Returns the given targets in other languages together with the sizes of their inputs.
fn sized(targets: Vec<Target>) -> Vec<SizedTarget> {
    let sized = |target: Target| {
        let length = target.length();
        SizedTarget { target, size: format!("{length} B"), bytes: length as u64 }
    };
    targets.into_iter().map(sized).collect()
}

fn yardsticks(all: Vec<SizedTarget>) -> Vec<(String, Target)> {
    all.into_iter().filter(|sized| sized.target.name() == YARDSTICK).map(|sized| (sized.size, sized.target)).collect()
}

fn measure(
    sized: &mut SizedTarget,
    yardsticks: &mut [(String, Target)],
    args: &SpeedArgs,
    source: &Source,
    progress: &mut Progress,
) -> Result<Option<Speed>, Fault> {
    let options = if args.quick { Options { samples: 30, ..Options::brief() } } else { Options::quick() };
    let clock = &*source.clock;
    let estimates = source.guard(progress, |watch| speed::estimate(&mut sized.target, 0, clock, &options, watch))?;
    if progress::interrupted() {
        return Ok(None);
    }
    let folder = state::folder().join("baselines");
    let name = sized.target.name().to_owned();
    // The speed of a function in another language is not compared with the last run, because the same name may now mean
    // other code.
    let known = !source.foreign();
    let stored = if known { speed::baseline::load(&folder, &name, &sized.size)? } else { None };
    let change = stored.map(|stored| speed::baseline::change(&stored, &estimates, MARGIN));
    if !args.keep && known {
        // If a baseline cannot be stored, the run continues, because its figures are still useful.
        if let Err(error) = speed::baseline::store(&folder, &name, &sized.size, &estimates) {
            progress.line(|| note(&format!("warning: the figures are not stored for the next run: {error}")));
        }
    }
    let own = yardsticks.iter_mut().find(|(size, _)| *size == sized.size && name != YARDSTICK);
    let yardstick = own.map(|(_, yardstick)| {
        let race = RaceOptions {
            limit: std::time::Duration::from_millis(if args.quick { 30 } else { 200 }),
            ..RaceOptions::default()
        };
        let comparison = speed::race_targets((yardstick, 0), (&mut sized.target, 0), clock, &race, progress);
        Yardstick { name: YARDSTICK.to_owned(), ratio: comparison.ratio }
    });
    let per_second = |ns: f64| if ns > 0.0 { sized.bytes as f64 / ns * 1e9 } else { 0.0 };
    let median = estimates.median;
    Ok(Some(Speed {
        target: name,
        size: sized.size.clone(),
        bytes: sized.bytes,
        bytes_per_second: Interval {
            lower: per_second(median.upper),
            estimate: per_second(median.estimate),
            upper: per_second(median.lower),
        },
        estimates,
        change,
        yardstick,
    }))
}

fn describe(args: &SpeedArgs) -> String {
    let options = foreign::describe(&args.foreign).into_iter();
    let targets = args.target.iter().map(|name| format!("--target {}", quoted(name)));
    let targets: String = options.chain(targets).map(|word| format!(" {word}")).collect();
    let switch = |set: bool, name: &'static str| if set { name } else { "" };
    let (quick, plain) = (switch(args.quick, " --quick"), switch(args.no_baselines, " --no-baselines"));
    format!("speed{targets}{quick}{plain}")
}
