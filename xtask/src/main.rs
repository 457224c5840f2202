//! Checks of the workspace: dependencies between crates, places of `unsafe`, width of lines, groups of imports, pins of
//! packages that scripts install, and machine code of branch-free functions. Also compresses the page of the program.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod asm;
mod door;
mod form;
mod layers;
mod modules;
mod page;
mod safety;
mod shape;
mod wings;
mod workspace;

use std::process::ExitCode;

/// The result of a check that was able to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Clean,
    Found,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((name, [])) if name == "layers" => layers::run(),
        Some((name, [])) if name == "unsafe" => safety::run(),
        Some((name, [])) if name == "form" => form::run(),
        Some((name, [])) if name == "shape" => shape::run(),
        Some((name, rest)) if name == "asm" => asm::run(rest),
        Some((name, rest)) if name == "page" => page::run(rest),
        _ => {
            let usage = "usage: cargo xtask layers | unsafe | form | shape | asm [--target TRIPLE] [--level LEVEL] \
                         [--show FUNCTION] | page FILE.html";
            Err(usage.to_owned())
        }
    };
    match outcome {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
