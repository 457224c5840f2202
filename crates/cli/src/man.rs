//! `deadpan man`: the manual.

use crate::command::Cli;
use crate::failure::{Exit, Failure};
use crate::plan::Plan;
use crate::report::print;
use clap::{Command, CommandFactory};
use std::path::PathBuf;

/// Prints the manual page, or writes all of them
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  deadpan man | man -l -\n  deadpan man seal | man -l -\n  deadpan man -o /usr/local/share/man/man1")]
pub struct Man {
    /// Write the pages of all commands into this folder
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "command")]
    output: Option<PathBuf>,
    /// The command whose page to print
    command: Option<String>,
}

impl Plan for Man {
    fn run(&self) -> Result<Exit, Failure> {
        let mut cli = Cli::command().disable_help_subcommand(true);
        cli.build();
        if let Some(folder) = &self.output {
            clap_mangen::generate_to(cli, folder).map_err(|error| Failure::path("write the manual into", folder, &error))?;
            return Ok(Exit::Done);
        }
        let page = match &self.command {
            None => render(cli),
            Some(name) => {
                let found = cli.find_subcommand(name).cloned();
                let unknown =
                    || Failure::usage(format!("there is no command {}", crate::shown::bytes(name.as_bytes())), "see: deadpan --help");
                render(found.ok_or_else(unknown)?)
            }
        };
        print(&page?)?;
        Ok(Exit::Done)
    }
}

fn render(command: Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let failed = |error| Failure::io("write", "the manual", &error);
    clap_mangen::Man::new(command).render(&mut page).map_err(failed)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
