//! The program `deadpan`: seals files and folders, and measures whether run time depends on secrets.
#![deny(unsafe_code)]

mod advice;
mod armor;
mod claims;
mod command;
mod completions;
mod console;
mod exposed;
mod failure;
mod folder;
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
mod max_cost;
mod mode;
mod names;
mod open;
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

use std::process::ExitCode;

fn main() -> ExitCode {
    signals::survive_large_files();
    match exposed::refuse(std::env::args_os()).and_then(|()| command::parse()?.plan()) {
        Ok(task) => task.run(),
        Err(failure) => failure.end(),
    }
}
