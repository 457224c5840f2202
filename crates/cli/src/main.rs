//! `deadpan`: seals files with a straight face, and shows on your machine that nothing about the secret shows.
#![forbid(unsafe_code)]

mod armor;
mod command;
mod completions;
mod failure;
mod folder;
mod home;
mod identity;
mod input;
mod inspect;
mod keygen;
mod keys;
mod lab;
mod list;
mod man;
mod open;
mod output;
mod pack;
mod partial;
mod passphrase;
mod plan;
mod process;
mod progress;
mod prompt;
mod random;
mod recipient;
mod report;
mod seal;
mod sealed;
mod shown;
mod signals;
mod unpack;
mod window;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command::Cli::parse().plan() {
        Ok(task) => task.run(),
        Err(failure) => failure.end(),
    }
}
