//! `deadpan lab`: Deadpan under its own instrument.

mod generations;
pub mod targets;

use deadpan_lab::harness::{self, Suite};
use std::process::ExitCode;

pub use deadpan_lab::harness::Command;

/// Runs one of the lab's commands on Deadpan's own functions.
pub fn run(command: &Command) -> ExitCode {
    harness::run(
        command,
        &Suite {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            command: "deadpan lab",
            timing: targets::timing,
            speed: targets::speed,
            generations: generations::offer,
        },
    )
}
