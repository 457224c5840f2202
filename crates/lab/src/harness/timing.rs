//! The command `timing`, which gives a verdict for each target.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::args::{Delta, TimingArgs};
use super::choice::choose;
use super::foreign::Source;
use super::output::{self, Fault, Run, quoted};
use super::progress::Progress;
use super::show::{self, Screen};
use super::{Suite, foreign, progress, state};
use crate::clock::Clock;
use crate::disk;
use crate::plural::plural;
use crate::record::{Timing, Verdict};
use crate::target::Target;
use crate::timing::Settings;
use crate::watch::{Silent, Watch};
use crate::{calibrate, speed, timing};

pub(super) fn run(args: &TimingArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    let screen = Screen::new(args.output.takes_stdout());
    let mut source = Source::open(&args.foreign, suite.timing)?;
    let targets = choose(std::mem::take(&mut source.targets), args)?;
    if args.list {
        targets.iter().for_each(|target| screen.classes(target));
        return Ok(ExitCode::SUCCESS);
    }
    let clock = &*source.clock;
    args.output.check(&args.foreign.inputs())?;
    let mut settings = settings(args, &source);
    let mut run = Run::new(suite, &describe(args, settings.seed), clock);
    source.note(&mut run);
    if !source.elsewhere() {
        run.record.calibration = calibrate::load(&state::folder(), &run.record.machine.cpu);
    }
    let planned = targets.iter().map(|target| target.pairs().len()).sum::<usize>() as u64;
    let (count, mut cut) = (targets.len(), 0);
    let mut progress = Progress::new(targets.iter().map(steps).sum());
    announce(&targets, &settings, source.elsewhere(), &screen);
    screen.timing_head();
    for mut target in targets {
        if progress::interrupted() {
            break;
        }
        if target.pairs().is_empty() {
            let timing = traced_only(&mut target, args, &source, settings.seed);
            progress.advance(steps(&target));
            progress.line(|| match &timing {
                Some(timing) => screen.trace(timing, &format!("{}: traced only; ", one_class(&target))),
                None => screen.line(&format!("{:<34} {}: not timed", target.name(), one_class(&target))),
            });
            source.advise(&target, suite, [timing.as_ref().is_some_and(leaks); 2], &screen);
            run.record.timing.extend(timing);
            continue;
        }
        source.warm_up(&mut target, settings.seed)?;
        let begin = Instant::now();
        let mut timing = source.guard(&mut progress, |watch| timing::run(&mut target, &settings, clock, watch))?;
        // For a worker, the lab cannot measure the processor time.
        if !source.elsewhere() {
            settings.spare = (settings.spare + settings.time_limit).saturating_sub(begin.elapsed());
        }
        let interrupted = progress::interrupted();
        cut = u64::from(interrupted);
        if !args.no_estimates && !interrupted {
            source.guard(&mut Silent, |watch| estimate(&mut target, &mut timing, args.quick, clock, watch))?;
        }
        #[cfg(feature = "trace")]
        if !args.no_trace && !interrupted {
            let mut trace = || crate::trace::target_until(&mut target, settings.seed, &progress::interrupted);
            timing.trace = source.no_trace().or_else(|| Some(trace()));
        }
        if let Some(folder) = &args.raw {
            write_raw(folder, &mut timing)?;
        }
        progress.advance(steps(&target));
        progress.line(|| {
            screen.timing(&timing, settings.time_limit);
            source.advise(&target, suite, [leaks(&timing); 2], &screen);
        });
        run.record.timing.push(timing);
    }
    progress.finish();
    run.record.interrupted = progress::interrupted();
    // If the user names a function but no pair of classes was timed, the run is incomplete.
    let unpaired = source.foreign() && run.record.timing.iter().all(|timing| timing.pairs.is_empty());
    let code = exit_code(&run.record.timing, args.strict, progress::interrupted() || unpaired);
    screen.timing_legend(&run.record.timing);
    summary(&run.record.timing, &screen);
    if unpaired {
        screen.line(
            "INCONCLUSIVE: nothing was timed; timing needs two classes with the same result (--classes, --class-file)",
        );
    }
    if progress::interrupted() {
        let left = (count - run.record.timing.len()) as u64 + cut;
        let measured = run.record.timing.iter().map(|timing| timing.pairs.len()).sum::<usize>() as u64;
        // This number also counts the interrupted pair, which is already in the record although this pair is
        // incomplete.
        let pairs = planned - measured + cut;
        screen.line(&format!(
            "interrupted: INCONCLUSIVE, {left} of {count} {} and {pairs} of {planned} {} of classes were not measured \
             to the end",
            plural(count as u64, "target", "targets"),
            plural(planned, "pair", "pairs")
        ));
    }
    run.finish(&args.output)?;
    Ok(ExitCode::from(code))
}

/// Traces a target that has no pair of classes, unless the user disabled traces.
fn traced_only(target: &mut Target, args: &TimingArgs, source: &Source, seed: u64) -> Option<Timing> {
    #[cfg(feature = "trace")]
    return (!args.no_trace).then(|| super::trace::timing(target, seed, source.no_trace()));
    #[cfg(not(feature = "trace"))]
    {
        let _ = (target, args, source, seed);
        None
    }
}

/// Returns the reason why a target is not timed.
fn one_class(target: &Target) -> &'static str {
    match target.classes().len() {
        0 => "no classes",
        1 => "one class",
        _ => "no pairs of classes",
    }
}

/// Prints the number of targets and pairs to measure, and how long the measurement may take. If `elsewhere` is true,
/// the targets run in another process, so a target cannot use the time that earlier targets left over.
fn announce(targets: &[Target], settings: &Settings, elsewhere: bool, screen: &Screen) {
    let timed: Vec<u64> = targets.iter().map(|target| target.pairs().len() as u64).filter(|&pairs| pairs > 0).collect();
    let (count, pairs) = (timed.len() as u64, timed.iter().sum());
    let limit = settings.time_limit.as_secs_f64();
    let time = if elsewhere || count < 2 {
        format!("{limit} s for a target")
    } else {
        format!("{limit} s of processor time for a target and {} s in all", limit * count as f64)
    };
    screen.line(&format!(
        "{count} {} to time, {pairs} {} of classes; at most {time} (--time-limit)",
        plural(count, "target", "targets"),
        plural(pairs, "pair", "pairs"),
    ));
}

fn steps(target: &Target) -> u64 {
    target.pairs().len().max(1) as u64
}

fn settings(args: &TimingArgs, source: &Source) -> Settings {
    let base = if args.quick { Settings::quick() } else { Settings::default() };
    Settings {
        alpha: args.alpha,
        delta_ns: match args.delta {
            Some(Delta::Nanoseconds(ns)) => Some(ns),
            _ => None,
        },
        delta_least_ns: source.delta_ns().unwrap_or(0.0),
        delta_share: match args.delta {
            Some(Delta::Share(share)) => Some(share),
            _ => None,
        },
        time_limit: args.time_limit.map_or(base.time_limit, Duration::from_secs_f64),
        seed: args.seed.unwrap_or(base.seed),
        keep_times: args.raw.is_some(),
        ..base
    }
}

/// The maximum time, in nanoseconds, that the lab spends on the estimates for one class. A class with slow calls gets
/// fewer samples or no estimates.
const ESTIMATE_NS: f64 = 1e9;
/// Minimum number of samples of an estimate, including the samples of the warm-up.
const FEWEST_SAMPLES: f64 = 12.0;

/// Measures the time of each class alone.
fn estimate(target: &mut Target, timing: &mut Timing, quick: bool, clock: &dyn Clock, watch: &mut dyn Watch) {
    let options =
        if quick { speed::Options::brief() } else { speed::Options { samples: 50, ..speed::Options::brief() } };
    for (index, class) in timing.classes.iter_mut().enumerate() {
        let call_ns = class.quantiles.iter().find(|quantile| quantile.at == 0.5).map_or(0.0, |median| median.ns);
        if FEWEST_SAMPLES * call_ns > ESTIMATE_NS {
            continue;
        }
        let samples = options.samples.min((ESTIMATE_NS / call_ns.max(1.0)) as usize);
        let options = speed::Options { samples, ..options };
        class.estimates = Some(speed::estimate(target, index, clock, &options, watch));
    }
}

/// Writes all single times to files, one file for each pair.
fn write_raw(folder: &Path, timing: &mut Timing) -> Result<(), Fault> {
    disk::make_folder(folder).map_err(|error| format!("cannot create the folder {}: {error}", folder.display()))?;
    let plain = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
    for pair in &mut timing.pairs {
        let name = format!("security.{}.{}.{}.ticks", plain(&timing.target), plain(&pair.a), plain(&pair.b));
        let [a, b] = std::mem::take(&mut pair.times);
        let bytes: Vec<u8> = a.iter().zip(&b).flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()]).flatten().collect();
        output::write(&folder.join(&name), &bytes)?;
        pair.raw = Some(name);
    }
    Ok(())
}

/// Returns the lab command that repeats this run, with its seed and without the options for outputs.
fn describe(args: &TimingArgs, seed: u64) -> String {
    let mut words = vec!["timing".to_owned()];
    words.extend(foreign::describe(&args.foreign));
    words.extend(args.target.iter().map(|name| format!("--target {}", quoted(name))));
    words.extend(args.class.iter().map(|name| format!("--class {}", quoted(name))));
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.extend(args.delta.map(|delta| format!("--delta {delta}")));
    words.extend(args.time_limit.map(|limit| format!("--time-limit {limit}")));
    if args.alpha != 0.01 {
        words.push(format!("--alpha {}", args.alpha));
    }
    words.extend(args.no_estimates.then(|| "--no-estimates".to_owned()));
    #[cfg(feature = "trace")]
    words.extend(args.no_trace.then(|| "--no-trace".to_owned()));
    words.push(format!("--seed {seed}"));
    words.join(" ")
}

fn leaks(timing: &Timing) -> bool {
    show::finding(timing).is_some() || timing.verdict == Verdict::Leak
}

/// Returns the exit code of the most severe verdict. If the traces of a target differ, the exit code reports a leak,
/// even if the times show no leak.
fn exit_code(timing: &[Timing], strict: bool, incomplete: bool) -> u8 {
    if timing.iter().any(leaks) {
        return Verdict::Leak.exit_code(strict);
    }
    let least = if incomplete || timing.is_empty() { Verdict::Inconclusive } else { Verdict::NoLeakAbove };
    let verdict = |timing: &Timing| match &timing.trace {
        // If a target has a trace but no measured times, the verdict about its time is ignored.
        Some(trace) if timing.repeats == 0 && trace.skipped.is_none() => Verdict::NoLeakAbove,
        _ => timing.verdict,
    };
    timing.iter().map(verdict).fold(least, Verdict::max).exit_code(strict)
}

/// Returns a text with the names of the targets whose traces differ, for the end of the summary.
fn differing(timing: &[Timing]) -> String {
    let differs = |timing: &&Timing| show::finding(timing).is_some();
    let names: Vec<&str> = timing.iter().filter(differs).map(|timing| timing.target.as_str()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("; TRACES DIFFER, which counts as a leak: {}", names.join(", "))
}

fn summary(timing: &[Timing], screen: &Screen) {
    let pairs: Vec<Verdict> = timing.iter().flat_map(|timing| &timing.pairs).map(|pair| pair.verdict).collect();
    let counts: Vec<String> = Verdict::ALL
        .iter()
        .map(|verdict| (verdict, pairs.iter().filter(|&other| other == verdict).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    let targets = plural(timing.len() as u64, "target", "targets");
    let noun = plural(pairs.len() as u64, "pair", "pairs");
    let traces = differing(timing);
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    screen.line(&format!("{} {targets}, {} {noun} of classes{counts}{traces}", timing.len(), pairs.len()));
    screen.unoptimized(timing);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Design, Trace};

    fn timing(target: &str, trace: Trace) -> Timing {
        Timing {
            target: target.to_owned(),
            length: 1,
            repeats: 1,
            design: Design::default(),
            classes: Vec::new(),
            pairs: Vec::new(),
            trace: Some(trace),
            verdict: Verdict::NoLeakAbove,
        }
    }

    #[test]
    fn the_summary_names_traces_that_differ_beside_a_verdict_of_no_leak() {
        let traced = |target: &str, divergence: Option<&str>| {
            let (equal, divergence) = (divergence.is_none(), divergence.map(str::to_owned));
            timing(target, Trace { divergence, equal, ..Trace::default() })
        };
        let all = [traced("a", None), traced("b", Some("x.rs:1")), traced("c", Some("y.rs:2"))];
        assert_eq!(differing(&all), "; TRACES DIFFER, which counts as a leak: b, c");
        assert_eq!((differing(&all[..1]), exit_code(&all, false, false)), (String::new(), 10));
    }

    #[test]
    fn a_target_that_is_only_traced_passes_if_its_trace_was_compared() {
        let only_traced = |skipped: Option<&str>| {
            let trace = Trace { equal: skipped.is_none(), skipped: skipped.map(str::to_owned), ..Trace::default() };
            Timing { repeats: 0, verdict: Verdict::Inconclusive, ..timing("a", trace) }
        };
        assert_eq!(exit_code(&[only_traced(None)], false, false), 0);
        assert_eq!(exit_code(&[only_traced(Some("a thread"))], false, false), 20);
    }
}
