//! `deadpan completions`: what the Tab key knows.

use crate::command::Cli;
use crate::failure::{Exit, Failure};
use crate::plan::Plan;
use crate::report::print;
use clap::CommandFactory;
use clap_complete::Shell;

/// Prints completions for a shell
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  deadpan completions bash > ~/.local/share/bash-completion/completions/deadpan\n  deadpan completions fish > ~/.config/fish/completions/deadpan.fish"
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Plan for Completions {
    fn run(&self) -> Result<Exit, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "deadpan", &mut text);
        print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Done)
    }
}
