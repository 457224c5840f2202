//! The lower levels of the CPU: the 16 KiB cells again, with our back end limited to AVX2, SSSE3 and portable code.
//!
//! A process detects its level once, and only a build with `--cfg deadpan_test` can lower it. So the cells run in a
//! child process of a second binary, which scripts/bench builds with that cfg. The other tables come from the ordinary
//! binary. The peers detect the CPU themselves and are not limited.

use std::io;
use std::process::{Command, ExitCode, Stdio};

use crate::bench::Bench;
use crate::race::Outcome;

const LEVELS: [&str; 3] = ["avx2", "ssse3", "portable"];

/// Runs a child process for each level.
pub fn run(bench: &mut Bench<'_>) {
    if !bench.wants("encode 16 KiB, avx2") && !bench.wants("decode 16 KiB, avx2") {
        return;
    }
    let Some(binary) = std::env::var_os("DEADPAN_BENCH_LADDER") else {
        bench.report.line("levels below the best: skipped (scripts/bench builds the binary for them)");
        return;
    };
    bench.report.line(
        "Limited to a lower level (by a binary built with --cfg deadpan_test, which also marks declassified values \
               for Valgrind):",
    );
    for level in LEVELS {
        let mut child = Command::new(&binary);
        child.args(["--ladder", level]).args(bench.options.quick.then_some("--quick")).env("DEADPAN_CPU", level);
        match outcomes(child.stderr(Stdio::inherit())) {
            Ok(outcomes) => outcomes.into_iter().for_each(|outcome| bench.keep(outcome)),
            Err(error) => bench.report.line(&format!("level {level}: skipped ({error})")),
        }
    }
}

fn outcomes(child: &mut Command) -> io::Result<Vec<Outcome>> {
    let output = child.output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("the child ended with {}", output.status)));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The child process: measures, and prints JSON for its parent.
pub fn rung(mut bench: Bench<'_>, level: &str) -> io::Result<ExitCode> {
    let found = deadpan_ct::cpu::level().name();
    if found != level {
        return Err(io::Error::other(format!("asked for level {level}, but this CPU or build gives {found}")));
    }
    crate::base64::middle(&mut bench);
    let mut outcomes = bench.outcomes();
    for outcome in &mut outcomes {
        outcome.cell = format!("{}, {level}", outcome.cell);
    }
    serde_json::to_writer(io::stdout(), &outcomes)?;
    Ok(ExitCode::SUCCESS)
}
