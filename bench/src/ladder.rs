//! The lower instruction set levels of the CPU: measures the cells of 16 KiB again, with `deadpan-base64` limited to
//! AVX2, to SSSE3 and to portable code; on AArch64, only to portable code.
//!
//! A process detects its level once, and the level can be lowered only in a build with `--cfg deadpan_test`. Therefore
//! a child process measures these rows. It runs a second binary, which scripts/bench builds with `--cfg deadpan_test`.
//! The other tables are measured with the ordinary binary. The other libraries detect the CPU themselves, so this limit
//! does not affect them.

use std::process::{Command, Stdio};

use crate::cells::Cells;
use deadpan_lab::record::{GenerationRow, Record};
use deadpan_lab::speed::workload::Trouble;

const LEVELS: &[&str] = if cfg!(target_arch = "x86_64") { &["avx2", "ssse3", "portable"] } else { &["portable"] };

pub fn run(bench: &mut Cells<'_>) {
    if !bench.wants("base64", "portable only, encode 16 KiB") {
        return;
    }
    let Some(binary) = std::env::var_os("DEADPAN_BENCH_LADDER") else {
        // A child process measures only one level, so it writes no note about lower levels.
        if std::env::var_os("DEADPAN_CPU").is_none() {
            bench.notes.push("levels below the best: skipped (scripts/bench builds the binary for them)".to_owned());
        }
        return;
    };
    for &level in LEVELS {
        let mut child = Command::new(&binary);
        child.args(["floor", "--rounds", "100", "--json", "-"]).env_remove("DEADPAN_BENCH_LADDER");
        child.args(["--target", "base64, encode 16 KiB", "--target", "base64, decode 16 KiB"]);
        match rows(child.env("DEADPAN_CPU", level).stderr(Stdio::null()), level) {
            Ok(rows) => bench.keep(rows),
            Err(error) => bench.notes.push(format!("level {level}: skipped ({error})")),
        }
    }
}

fn rows(child: &mut Command, level: &str) -> Result<Vec<GenerationRow>, Trouble> {
    let output = child.output()?;
    if !output.status.success() {
        return Err(format!("the child ended with {}; this CPU or build may lack the level", output.status).into());
    }
    let record: Record = serde_json::from_slice(&output.stdout)?;
    let mut rows = record.generations.ok_or("the child measured nothing")?.rows;
    rows.iter_mut().for_each(|row| row.operation = format!("{level} only, {}", row.operation));
    Ok(rows)
}
