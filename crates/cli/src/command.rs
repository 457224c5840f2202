//! The command line.

use crate::failure::Failure;
use crate::plan::Task;
use crate::{completions, inspect, keygen, keys, lab, list, man, open, pack, random, seal, unpack};
use clap::{Parser, Subcommand};

/// Keeps a straight face: seals files, and nothing about the secret shows, neither in the bytes nor in the time
#[derive(Parser)]
#[command(name = "deadpan", version, max_term_width = 120, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Keygen(keygen::KeygenArgs),
    Keys(keys::KeysArgs),
    Seal(seal::SealArgs),
    Open(open::OpenArgs),
    List(list::ListArgs),
    Inspect(inspect::InspectArgs),
    Pack(pack::PackCommand),
    Unpack(unpack::UnpackCommand),
    Random(random::RandomArgs),
    /// Measures: does time depend on a secret, and how fast is it?
    #[command(subcommand)]
    Lab(lab::Command),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Cli {
    /// Checks what can be checked without looking at any file.
    pub fn plan(self) -> Result<Task, Failure> {
        Ok(Task::Plan(match self.command {
            Command::Keygen(args) => Box::new(args.plan()?),
            Command::Keys(args) => Box::new(args.plan()?),
            Command::Seal(args) => Box::new(args.plan()?),
            Command::Open(args) => Box::new(args.plan()?),
            Command::List(args) => Box::new(args.plan()?),
            Command::Inspect(args) => Box::new(args.plan()?),
            Command::Pack(args) => Box::new(args.plan()?),
            Command::Unpack(args) => Box::new(args.plan()?),
            Command::Random(args) => Box::new(args.plan()?),
            Command::Completions(plan) => Box::new(plan),
            Command::Man(plan) => Box::new(plan),
            Command::Lab(command) => return Ok(Task::Lab(command)),
        }))
    }
}
