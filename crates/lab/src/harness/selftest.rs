//! The command `selftest`, which tests every promise of the lab on this machine.

use std::process::{ExitCode, Stdio};

use super::Suite;
use super::args::SelftestArgs;
use super::output::{Fault, Run};
use super::progress::{self, Progress};
use super::show::Screen;
use crate::clock::{self, Clock};
use crate::distribution::clopper_pearson;
use crate::invocation;
use crate::plural::plural;
use crate::record::{Check, Verdict};
use crate::selftest::{self, Options, WorkerOptions};
use crate::taint::control::ControlResult;
use crate::timing::Settings;
use crate::{emulation, taint, timing};

pub(super) fn run(args: &SelftestArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    if args.under_valgrind {
        // The lab started this process under Valgrind, and the first process of the lab reads these results.
        super::show::Screen::new(false).line(&serde_json::to_string(&checks(taint::controls()))?);
        return Ok(ExitCode::SUCCESS);
    }
    let screen = Screen::new(args.output.takes_stdout());
    args.output.check(&[])?;
    let clock = clock::best();
    let base = if args.quick { Options::quick() } else { Options::default() };
    let mut run = Run::new(suite, &describe(args), &*clock);
    let wanted = |group: &str| args.only.is_empty() || args.only.iter().any(|only| only == group);
    let timing = |group: &str, runs: u64| if wanted("timing") || wanted(group) { runs } else { 0 };
    let options = Options {
        nulls: timing("alarms", args.runs.unwrap_or(base.nulls)),
        settled: timing("alarms", base.settled),
        shifts: timing("shifts", args.runs.unwrap_or(base.shifts)),
        plain: timing("power", base.plain),
        rare: timing("power", base.rare),
        races: if wanted("speed") { base.races } else { 0 },
        targets: suite.honest,
        load: base.load && !args.idle,
        seed: base.seed,
    };
    let mut found = Vec::new();
    if wanted("trace") {
        found.push(("trace", traces()));
    }
    if wanted("taint") {
        found.push(("taint", under_valgrind()));
    }
    found.iter().flat_map(|(_, checks)| checks).for_each(|check| screen.check(check));
    let refused = emulation::times().filter(|_| options.total() > 0 || wanted("workers") || wanted("code"));
    let mut progress = Progress::new(options.total());
    let measured = match refused {
        Some(why) => vec![Check {
            what: "timing and speed: all checks".to_owned(),
            detail: format!("skipped: {why}"),
            ..Check::default()
        }],
        None => selftest::run(&options, &*clock, &mut progress, &mut |check| screen.check(check)),
    };
    progress.finish();
    // In the groups of checks for timing and speed, no check is skipped, unless the user interrupts the run.
    found.push(("timing and speed", measured));
    if wanted("workers") && refused.is_none() && !progress::interrupted() {
        found.push(("workers", workers(args, &screen)));
    }
    if wanted("code") && refused.is_none() && !progress::interrupted() {
        let check = own_code(suite, args.quick, &*clock);
        screen.check(&check);
        found.push(("code", vec![check]));
    }
    let code = conclude(&found, &screen);
    run.record.selftest = found.into_iter().flat_map(|(_, checks)| checks).collect();
    run.record.interrupted = progress::interrupted();
    run.finish(&args.output)?;
    Ok(ExitCode::from(if progress::interrupted() { 130 } else { code }))
}

/// Writes how many checks passed, how many failed, and which checks did not run. The exit code is 1 if a check failed.
/// If no check of a group ran, the exit code is 20, because this group has no result. If only some checks of a group
/// ran, the exit code does not change, because a machine may lack a runtime or an instruction set.
fn conclude(found: &[(&str, Vec<Check>)], screen: &Screen) -> u8 {
    let count = |is: fn(&Check) -> bool| found.iter().flat_map(|(_, checks)| checks).filter(|check| is(check)).count();
    let kept = count(|check| check.passed == Some(true));
    let missed = count(|check| check.passed == Some(false));
    let open = count(|check| check.passed.is_none() && check.runs > 0);
    let skipped = count(skipped);
    let noun = plural(kept as u64, "promise", "promises");
    screen.line(&format!("{kept} {noun} kept, {missed} missed, {open} open (too few runs), {skipped} not run"));
    for check in found.iter().flat_map(|(_, checks)| checks).filter(|check| self::skipped(check)) {
        screen.line(&format!("    not run: {}: {}", check.what, check.detail.trim_start_matches("skipped: ")));
    }
    let idle = |(_, checks): &&(&str, Vec<Check>)| !checks.is_empty() && checks.iter().all(self::skipped);
    let idle: Vec<&str> = found.iter().filter(idle).map(|(group, _)| *group).collect();
    if !idle.is_empty() {
        screen.line(&format!("nothing was tested of: {} (exit code 20)", idle.join(", ")));
    }
    match (missed, idle.is_empty()) {
        (0, true) => 0,
        (0, false) => 20,
        _ => 1,
    }
}

fn skipped(check: &Check) -> bool {
    check.passed.is_none() && check.runs == 0
}

/// Traces the control functions: the trace must report a leak for some of them, and no leak for the others.
#[cfg(feature = "trace")]
fn traces() -> Vec<Check> {
    let mut found = checks(crate::trace::controls());
    // On AArch64, traces are single-stepped.
    if cfg!(target_arch = "x86_64") {
        found.push(trace_speed());
    }
    found
}

/// Tests that a trace is at least ten times as fast as single-stepping, which needs one signal for each instruction.
#[cfg(feature = "trace")]
fn trace_speed() -> Check {
    const LEAST: f64 = 2e6;
    let trace = crate::trace::long();
    let rate = trace.recorded as f64 / trace.seconds;
    let detail = match &trace.skipped {
        Some(reason) => format!("skipped: {reason}"),
        None => format!("{:.1} million per second, for {} instructions", rate / 1e6, trace.instructions),
    };
    Check {
        what: "trace: instructions per second in a long loop".to_owned(),
        wanted: "at least 2 million".to_owned(),
        detail,
        passed: trace.skipped.is_none().then_some(trace.equal && rate >= LEAST),
        ..Check::default()
    }
}

#[cfg(not(feature = "trace"))]
fn traces() -> Vec<Check> {
    let detail = "skipped: this build has no traces (feature `trace`)".to_owned();
    vec![Check { what: "trace: all controls".to_owned(), detail, ..Check::default() }]
}

fn workers(args: &SelftestArgs, screen: &Screen) -> Vec<Check> {
    let base = if args.quick { WorkerOptions::quick() } else { WorkerOptions::default() };
    let options = WorkerOptions { load: base.load && !args.idle, nulls: args.runs.unwrap_or(base.nulls), ..base };
    let mut progress = Progress::new(options.total());
    let checks = selftest::workers(&options, &mut progress, &mut |check| screen.check(check));
    progress.finish();
    checks
}

fn checks(controls: Vec<ControlResult>) -> Vec<Check> {
    controls
        .into_iter()
        .map(|control| Check {
            what: format!("{}: {}", control.layer, control.name),
            wanted: if control.must_be_caught { "caught" } else { "not caught" }.to_owned(),
            passed: control.passed(),
            detail: match control.caught {
                Some(true) => format!("caught: {}", control.detail),
                Some(false) => "not caught".to_owned(),
                None => format!("skipped: {}", control.detail),
            },
            ..Check::default()
        })
        .collect()
}

/// Runs functions with known results through the taint layer, in a second process of this program under Valgrind.
fn under_valgrind() -> Vec<Check> {
    let skipped = |why: String| {
        vec![Check { what: "taint: all controls".to_owned(), detail: format!("skipped: {why}"), ..Check::default() }]
    };
    let failed = |why: String| {
        vec![Check { what: "taint: all controls".to_owned(), detail: why, passed: Some(false), ..Check::default() }]
    };
    let Ok(mut program) = invocation::under("valgrind", &["--quiet", "--log-fd=2", "--error-limit=no"]) else {
        return skipped("the path of this program is not known".to_owned());
    };
    let output = program
        .args(invocation::arguments().iter().take_while(|word| *word != "selftest"))
        .args(["selftest", "--under-valgrind"])
        .stderr(Stdio::null())
        .output();
    match output {
        Ok(output) => serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| failed(format!("{}; the output cannot be read: {error}", output.status))),
        Err(_) => skipped("valgrind is not installed".to_owned()),
    }
}

/// Measures this program's own targets, and counts the pairs of classes whose difference is not above the threshold.
/// The result also names the pairs with a smaller difference, because processors show small differences even if the
/// instructions are equal.
fn own_code(suite: &Suite, quick: bool, clock: &dyn Clock) -> Check {
    let settings = if quick { Settings::quick() } else { Settings::default() };
    let (mut pairs, mut good, mut above, mut others) = (0, 0, 0.0_f64, Vec::new());
    let targets = (suite.timing)();
    let mut progress = Progress::new(targets.iter().map(|target| target.pairs().len() as u64).sum());
    for mut target in targets {
        if progress::interrupted() {
            break;
        }
        let timing = timing::run(&mut target, &settings, clock, &mut progress);
        progress.advance(timing.pairs.len() as u64);
        for pair in &timing.pairs {
            pairs += 1;
            if matches!(pair.verdict, Verdict::NoLeakAbove | Verdict::BelowThreshold) {
                good += 1;
                above = above.max(pair.bound_ns);
            }
            if pair.verdict != Verdict::NoLeakAbove {
                others.push(format!("{} {} / {}: {}", timing.target, pair.a, pair.b, pair.verdict));
            }
        }
    }
    progress.finish();
    let mut detail = if pairs > 0 {
        format!("the widest bound is {}", super::show::time(above))
    } else {
        "skipped: this program has no targets with two classes".to_owned()
    };
    if !others.is_empty() {
        detail = format!("{detail}; not NO_LEAK_ABOVE: {}", others.join("; "));
    }
    Check {
        what: "pairs of classes of this program's own functions without a difference above the threshold".to_owned(),
        runs: pairs,
        found: good,
        rate: clopper_pearson(good, pairs, 0.95),
        wanted: "all".to_owned(),
        detail,
        passed: (pairs > 0).then_some(good == pairs),
    }
}

fn describe(args: &SelftestArgs) -> String {
    let only: String = args.only.iter().map(|group| format!(" --only {group}")).collect();
    let runs = args.runs.map_or_else(String::new, |runs| format!(" --runs {runs}"));
    let flag = |set: bool, name: &'static str| if set { name } else { "" };
    format!("selftest{}{runs}{}{only}", flag(args.quick, " --quick"), flag(args.idle, " --idle"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(passed: Option<bool>, runs: u64) -> Check {
        Check { what: "a".to_owned(), passed, runs, ..Check::default() }
    }

    #[test]
    fn a_group_of_which_nothing_ran_is_no_success() {
        let screen = Screen::new(true);
        let code = |groups: &[&[Check]]| {
            conclude(&groups.iter().map(|checks| ("group", checks.to_vec())).collect::<Vec<_>>(), &screen)
        };
        let [kept, missed, open, skipped] =
            [check(Some(true), 0), check(Some(false), 5), check(None, 5), check(None, 0)];
        let only = std::slice::from_ref::<Check>;
        assert_eq!(code(&[only(&kept), &[]]), 0);
        assert_eq!(code(&[&[kept.clone(), skipped.clone()], only(&open)]), 0, "a part of a group may be missing");
        assert_eq!(code(&[only(&kept), only(&skipped)]), 20);
        assert_eq!(code(&[only(&skipped), only(&missed)]), 1);
    }
}
