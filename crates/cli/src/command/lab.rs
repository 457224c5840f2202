//! The command `deadpan lab`, which measures Deadpan's own functions.

mod generations;
pub mod targets;

use deadpan_lab::harness::{self, Caller, Suite};

pub use deadpan_lab::harness::Command;

pub fn run(command: &Command) -> u8 {
    let code = harness::run(
        command,
        &Suite {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            caller: Caller::Program("lab"),
            timing: targets::timing,
            honest: targets::honest,
            speed: targets::speed,
            generations: generations::offer,
        },
    );
    harness::number(code)
}
