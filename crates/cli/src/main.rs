//! `deadpan`: seals with a straight face, and shows on your machine that nothing about the secret does.
#![forbid(unsafe_code)]

mod lab;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Keeps a straight face: nothing about a secret shows, neither in the bytes nor in the time they take
#[derive(Parser)]
#[command(version, max_term_width = 120, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures: does time depend on a secret, and how fast is it?
    #[command(subcommand)]
    Lab(lab::Command),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Lab(command) => lab::run(&command),
    }
}
