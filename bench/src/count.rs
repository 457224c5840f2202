//! Runs functions for a counter of instructions: `deadpan-bench count NAME …`, started by scripts/bench.d/figures.
//!
//! Each function runs n times and then 2n times, between calls of [`mark`]. An emulator that logs the executed blocks
//! sees these calls. The difference between the two runs is exactly n calls, without the loop's preparations. A line of
//! standard output for each function names what the marks enclose.

use std::process::ExitCode;

use crate::cells::Cells;
use crate::{floor, parts};
use deadpan_lab::Silent;
use deadpan_lab::record::GenerationRow;
use deadpan_lab::speed::workload::Plan;

/// Runs the functions of the cells whose names contain one of these texts.
#[allow(clippy::print_stderr, reason = "what went wrong")]
pub fn run(only: Vec<String>) -> ExitCode {
    let (sets, contents, kernel) = (Vec::new(), Vec::new(), Vec::new());
    let plan = Plan { sets, scale: 1.0, contents, rounds: None, peers: None, only, kernel, quick: true };
    let (mut watch, mut show) = (Silent, |_: &[GenerationRow]| ());
    let mut cells = Cells::new(&plan, &mut watch, &mut show).counting();
    floor::functions(&mut cells);
    if cells.wants("templates", "") {
        parts::templates(&mut cells, 256, 64).expect("templates");
    }
    match cells.finish() {
        Ok(_) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("{trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Runs `turn` once to warm up, then for `calls` calls and for twice as many.
#[allow(clippy::print_stdout, reason = "the output of this mode")]
pub fn between_marks(row: &GenerationRow, calls: usize, mut turn: impl FnMut(usize)) {
    turn(1);
    for times in [1, 2] {
        mark();
        turn(times);
    }
    mark();
    println!("{}", serde_json::json!({ "row": row, "calls": calls }));
}

/// The emulator sees this function by its name.
#[inline(never)]
fn mark() {
    std::hint::black_box(());
}
