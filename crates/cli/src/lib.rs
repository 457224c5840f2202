//! The command line of Deadpan, for programs that offer it: the program `deadpan`, and `python -m deadpan`.
#![deny(unsafe_code)]

mod args;
mod command;
mod key;
mod place;
mod tell;

use std::ffi::OsString;
use std::io::Write;

use crate::key::exposed;
use crate::tell::signals;
use deadpan_lab::invocation;

/// Runs the command that the arguments of this process name, and returns the exit code. An interpreter that offers the
/// command line calls [`invocation::set`] first.
///
/// The process belongs to the command: some errors end the process, and so do signals.
#[must_use]
pub fn run() -> u8 {
    signals::survive_large_files();
    signals::attach();
    let words: Vec<OsString> = [OsString::from("deadpan")].into_iter().chain(invocation::arguments()).collect();
    let code = match exposed::refuse(words.iter().cloned()).and_then(|()| args::parse(words)) {
        Ok(line) => line.run(),
        Err(failure) => failure.end(),
    };
    // The runtime does this at the end of a Rust program, but not inside an interpreter. Commands report an output that
    // they could not write, so this result does not matter.
    let _ = std::io::stdout().flush();
    signals::give_way();
    code
}
