//! Runs a benchmark under Valgrind. Checks each target for jumps and addresses that depend on a secret, and measures no
//! times.

use std::process::ExitCode;

use super::args::BenchArgs;
use super::choice::choose;
use super::output::Fault;
use super::show::Screen;
use crate::plural::plural;
use crate::record::Verdict;
use crate::target::Target;
use crate::{invocation, random, taint};

const CHILD: &str = "--under-valgrind";

pub(super) fn run(args: &BenchArgs, targets: fn() -> Vec<Target>) -> Result<ExitCode, Fault> {
    if !taint::running() {
        return if args.under_valgrind {
            Err("Valgrind does not answer in this process: the marks of secrets need x86-64 Linux or AArch64 Linux"
                .into())
        } else {
            start()
        };
    }
    let screen = Screen::new(false);
    let targets = choose(targets(), &args.timing)?;
    if args.timing.list {
        targets.iter().for_each(|target| screen.classes(target));
        return Ok(ExitCode::SUCCESS);
    }
    let seed = args.timing.seed.unwrap_or_else(random::fresh_seed);
    let (count, mut found) = (targets.len() as u64, 0);
    for mut target in targets {
        let outcome = taint::target(&mut target, seed);
        let errors = outcome.errors;
        found += u64::from(errors > 0);
        let text = match (&outcome.skipped, errors) {
            (Some(why), _) => format!("taint: not checked: {why}"),
            (None, 0) => "taint: no jump and no address depends on the secret".to_owned(),
            (None, errors) => {
                let depend = plural(errors, "jump or address depends", "jumps or addresses depend");
                format!("taint: {errors} {depend} on the secret, see Valgrind's messages")
            }
        };
        screen.line(&format!("{:<34} {text}", target.name()));
    }
    let leak = plural(found, "leaks", "leak");
    screen.line(&format!("{count} {} checked, {found} {leak}", plural(count, "target", "targets")));
    let hidden = taint::hidden();
    if !hidden.is_empty() {
        screen.line(&format!("not checked: code for {}, which this process does not see", hidden.join(", ")));
    }
    Ok(ExitCode::from(if found > 0 { Verdict::Leak.exit_code(false) } else { 0 }))
}

fn start() -> Result<ExitCode, Fault> {
    let status = invocation::under("valgrind", &["--quiet", "--error-limit=no"])
        .map_err(|error| format!("the path of this program is not known: {error}"))?
        .args(invocation::arguments())
        .arg(CHILD)
        .status()
        .map_err(|error| format!("cannot start valgrind: {error}\nhint: install Valgrind, for example with apt"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map(ExitCode::from).ok_or_else(|| format!("valgrind ended early: {status}").into())
}
