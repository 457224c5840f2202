//! What a command line asks for, checked as far as that goes without looking at any file.

use crate::failure::{Exit, Failure};
use crate::{lab, process};
use std::process::ExitCode;

/// A validated command.
pub trait Plan {
    /// Does it. An error is one of the whole command; those of single files are reported where they happen and only count in the exit code.
    fn run(&self) -> Result<Exit, Failure>;
}

/// What the program is to do.
pub enum Task {
    Plan(Box<dyn Plan>),
    /// The lab holds no secrets, steps through processes of its own, and has exit codes of its own.
    Lab(lab::Command),
}

impl Task {
    pub fn run(self) -> ExitCode {
        match self {
            Self::Lab(command) => lab::run(&command),
            Self::Plan(plan) => {
                process::close();
                plan.run().map_or_else(|failure| failure.end(), ExitCode::from)
            }
        }
    }
}
