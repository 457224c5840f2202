//! `deadpan man`: prints manual pages.

mod roff;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Command;

use crate::command::synonym;
use crate::place::held;
use crate::place::partial::{self, Attributes, Partial};
use crate::tell::failure::{Exit, Failure};
use crate::tell::streams::print;
use crate::tell::suggest::closest;
use deadpan_disk::Replace;

/// Prints a manual page, or writes all pages into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  deadpan man | man -l -\n  deadpan man seal | man -l -\n  \
        deadpan man keys add | man -l -\n  deadpan man -o /usr/local/share/man/man1")]
pub struct Man {
    /// Write the pages of all commands into this folder, which is made if it does not exist
    #[arg(short, long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, conflicts_with = "command")]
    output: Option<PathBuf>,
    /// The command whose page to print, such as seal, keys add or keys-add
    command: Vec<String>,
}

impl Man {
    /// Prints manual pages of the command line `cli`, or writes all pages into a folder.
    pub fn print(&self, cli: Command) -> Result<Exit, Failure> {
        let pages = pages(cli);
        if let Some(folder) = &self.output {
            let failed = |verb: &str, path: &Path, error| Failure::path(verb, path, &error);
            let opened = held::own_or_make(folder, 0o777).map_err(|error| partial::failure(folder, error))?;
            for page in &pages {
                let path = folder.join(format!("{}.1", page.name));
                let partial = Partial::create_in(&opened, &path)?;
                let written = partial.file().write_all(page.roff().as_bytes());
                written.map_err(|error| failed("write", &path, error))?;
                partial.land(Attributes::usual(), Replace::Any, false)?;
            }
            return Ok(Exit::Done);
        }
        let asked = self.command.join("-");
        let wanted = short(&asked);
        let page = pages.iter().find(|page| short(&page.name) == wanted).ok_or_else(|| {
            let synonym =
                synonym::meant_by(None, wanted).and_then(|meant| meant.split(',').next()?.strip_prefix("deadpan "));
            let named = |name: String| pages.iter().any(|page| short(&page.name) == name).then_some(name);
            let alike = || closest(wanted, pages.iter().map(|page| short(&page.name).to_owned()));
            let hint = match synonym.map(|meant| meant.replace(' ', "-")).and_then(named).or_else(alike) {
                Some(name) => format!("did you mean: deadpan man {name}"),
                None => "the commands are listed by: deadpan --help".into(),
            };
            Failure::usage(format!("there is no page for {}", crate::tell::shown::bytes(asked.as_bytes())), hint)
        })?;
        print(&page.roff())?;
        Ok(Exit::Done)
    }
}

/// A manual page.
pub struct Page {
    pub name: String,
    /// The name of the parent command's page.
    parent: Option<String>,
    command: Command,
}

impl Page {
    fn roff(&self) -> String {
        roff::page(&self.command, self.parent.as_deref())
    }
}

/// The command `help` has no page.
pub fn pages(cli: Command) -> Vec<Page> {
    let mut cli = cli.disable_help_subcommand(true);
    cli.build();
    with_all_below(&cli, None)
}

fn with_all_below(command: &Command, parent: Option<&str>) -> Vec<Page> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    let below: Vec<_> = visible.flat_map(|command| with_all_below(command, Some(&name))).collect();
    let page = Page { name, parent: parent.map(str::to_owned), command: command.clone() };
    std::iter::once(page).chain(below).collect()
}

/// Returns the name of a page without the program's name: `keys-add` for `deadpan-keys-add`.
pub fn short(page: &str) -> &str {
    page.strip_prefix("deadpan").map_or(page, |rest| rest.trim_start_matches('-'))
}
