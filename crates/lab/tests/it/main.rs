//! The tests of the crate through its public interface, as one program.

use std::fmt::Display;
use std::io::Write;

mod coarse_clocks;
mod emulation;
mod foreign;
mod prepared;
mod report;
mod speed;
mod taint;
mod timing;
mod trace;
mod trace_aarch64;
mod trace_doubt;
mod trace_instructions;
mod traced;

/// Prints that a test, or a part of a test, does not run here. Rust's test framework hides the output of `eprintln!` if
/// a test passes.
#[allow(dead_code, reason = "without the crate's features, no test uses the function")]
fn skipped(reason: impl Display) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}
