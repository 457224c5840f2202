//! The command line of Deadpan, for two programs: the program `deadpan`, and `python -m deadpan`.
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
use deadpan_ct::with_data_independent_timing;
use deadpan_lab::invocation;

/// Runs the command that is given by the arguments of this process, and returns the exit code. An interpreter that
/// offers the command line calls [`invocation::set`] first.
///
/// The command controls the whole process: some errors end the process, and signals also end the process.
#[must_use]
pub fn run() -> u8 {
    signals::survive_large_files();
    signals::attach();
    #[cfg(panic = "abort")]
    signals::clean_up_after_panic();
    let words: Vec<OsString> = [OsString::from("deadpan")].into_iter().chain(invocation::arguments()).collect();
    // The threads that a command starts inherit the mode on Linux. Other systems start threads without it.
    let code = with_data_independent_timing(|| {
        match exposed::refuse(words.iter().cloned()).and_then(|()| args::parse(words)) {
            Ok(line) => line.run(),
            Err(failure) => failure.end(),
        }
    });
    // The runtime flushes standard output at the end of a Rust program, but not inside an interpreter. Commands already
    // report an output that they could not write, so the result of this call is ignored.
    let _ = std::io::stdout().flush();
    signals::give_way();
    code
}
