//! The program `deadpan`: seals files and folders, and measures whether run time depends on secrets.

use std::process::ExitCode;

fn main() -> ExitCode {
    deadpan_command::run().into()
}
