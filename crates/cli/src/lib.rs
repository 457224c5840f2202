//! The command line of Deadpan, for programs that offer it: the program `deadpan`, and `python -m deadpan`.
#![deny(unsafe_code)]

mod advice;
mod armor;
mod brief;
mod claims;
mod cluster;
mod command;
mod completions;
mod console;
mod data;
mod exposed;
mod failure;
mod folder;
mod held;
mod home;
mod identity;
mod imp;
mod input;
mod inspect;
mod keygen;
mod keys;
mod lab;
mod list;
mod man;
mod many;
mod max_cost;
mod mode;
mod names;
mod open;
mod option;
mod output;
mod pack;
mod partial;
mod passphrase;
mod patience;
mod picture;
mod plan;
mod plugin;
mod process;
mod progress;
mod prompt;
mod random;
mod recipient;
mod remote;
mod report;
mod rewrap;
mod seal;
mod sealed;
mod share;
mod shown;
mod sign;
mod signals;
mod signed;
mod signers;
mod streams;
mod suggest;
mod synonym;
mod unpack;
mod verify;
mod window;

use std::ffi::OsString;
use std::io::Write;

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
    let code = match exposed::refuse(words.iter().cloned()).and_then(|()| command::parse(words)) {
        Ok(line) => line.run(),
        Err(failure) => failure.end(),
    };
    // The runtime does this at the end of a Rust program, but not inside an interpreter. Commands report an output that
    // they could not write, so this result does not matter.
    let _ = std::io::stdout().flush();
    signals::give_way();
    code
}
