//! Validated commands: the program has checked the command line of such a command as far as possible without reading
//! any file.

use crate::command::{lab, process};
use crate::place::report::Whole;
use crate::tell::failure::{Exit, Failure};
use crate::tell::streams;

/// A validated command.
pub trait Plan {
    /// Runs the command. Returns an error if the whole command fails. Failures of single files are reported when they
    /// occur. For failures of single files, the function returns only an exit code.
    fn run(&self) -> Result<Exit, Failure>;
}

impl<F: Fn() -> Result<Exit, Failure>> Plan for F {
    fn run(&self) -> Result<Exit, Failure> {
        self()
    }
}

pub enum Task {
    Plan(Box<dyn Plan>),
    /// The lab has no secrets to protect, has to trace its own child processes, and has its own exit codes.
    Lab(Box<lab::Command>),
}

impl Task {
    /// `whole` reports the failure if the whole command fails.
    pub fn run(self, whole: &Whole) -> u8 {
        match self {
            Self::Lab(command) => match streams::check_stdout() {
                Ok(()) => lab::run(&command),
                // Each command of the lab exits with this code if it cannot write a file.
                Err(failure) => {
                    failure.end();
                    2
                }
            },
            Self::Plan(plan) => {
                process::close();
                plan.run().map_or_else(|failure| whole.end(&failure), |exit| exit as u8)
            }
        }
    }
}
