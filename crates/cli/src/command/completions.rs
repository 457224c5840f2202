//! `deadpan completions`: prints a completion script for a shell.
//!
//! For bash, zsh and fish, the script calls the hidden command `deadpan complete`, which prints the words that may
//! stand at the cursor. The shell itself completes file names, since the shell understands its own quotes and `~`. For
//! all other shells, the script is a fixed list of words that clap generates.

mod expected;
mod line;

use std::collections::BTreeSet;

use clap::Command;
use clap_complete::Shell;

use crate::command::lab::targets;
use crate::command::man;
use crate::key::home::{self, Home, Own};
use crate::tell::failure::{Exit, Failure};
use crate::tell::streams::print;
use deadpan_seal::key::Found;
use expected::{Expected, OfferedNames};

/// Prints the completion script for a shell
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(
    after_help = concat!(
        "Examples:\n",
        "  deadpan completions bash > ~/.local/share/bash-completion/completions/deadpan\n",
        "  deadpan completions zsh > ~/.zfunc/_deadpan         (with fpath+=~/.zfunc before compinit)\n",
        "  deadpan completions fish > ~/.config/fish/completions/deadpan.fish"
    )
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn print(&self, mut cli: Command) -> Result<Exit, Failure> {
        let script = match self.shell {
            Shell::Bash => include_str!("completions/deadpan.bash").into(),
            Shell::Zsh => include_str!("completions/deadpan.zsh").into(),
            Shell::Fish => include_str!("completions/deadpan.fish").into(),
            shell => {
                let mut text = Vec::new();
                clap_complete::generate(shell, &mut cli, "deadpan", &mut text);
                String::from_utf8_lossy(&text).into_owned()
            }
        };
        print(&script)?;
        Ok(Exit::Done)
    }
}

/// Prints the words that may stand at the cursor, for the completion scripts
///
/// The first line says which files the shell should offer (`files`, `sealed`, `folders` or `nothing`). On the same
/// line, a tab follows, and then the part of the current word up to the value (such as `--output=`). Each further line
/// contains a word, a tab, and a description.
#[derive(Clone, Debug, clap::Args)]
#[command(hide = true)]
pub struct Complete {
    /// The command line up to the cursor, split into words as bash splits it
    #[arg(long, value_name = "LINE", allow_hyphen_values = true, conflicts_with = "words")]
    line: Option<String>,
    /// The last part of the line, which bash replaces by a completion
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    replaced: String,
    /// The words after the program's name; the last one is at the cursor
    #[arg(last = true)]
    words: Vec<String>,
}

impl Complete {
    pub fn print(&self, cli: &Command) -> Result<Exit, Failure> {
        let Self { line, replaced, words } = self;
        let mut words = line.as_deref().map_or_else(|| words.clone(), line::words);
        let current = words.pop().unwrap_or_default();
        let mut built = cli.clone();
        built.build();
        let expected = Expected::at(&built, &words, &current);
        let mut text = format!("{}\t{}\n", expected.files.name(), expected.prefix);
        for (word, meaning) in expected.offers(&current, |names| known(names, cli)) {
            // If the word contains one of bash's separators, bash replaces only the part after the separator.
            let whole = format!("{}{word}", expected.prefix);
            let kept = current.strip_suffix(replaced).filter(|_| line.is_some());
            let word = kept.map_or(word.as_str(), |kept| whole.strip_prefix(kept).unwrap_or(&word));
            text.push_str(&format!("{word}\t{meaning}\n"));
        }
        print(&text)?;
        Ok(Exit::Done)
    }
}

/// Returns the existing names of the kind `names`. If a folder cannot be read, returns no names instead of an error.
fn known(names: OfferedNames, cli: &Command) -> Vec<(String, &'static str)> {
    let own = |home: &Home| home.own_names().into_iter().map(|name| (name, "own key"));
    let contacts = |home: &Home| home.contact_names().into_iter().map(|name| (name, "contact"));
    let named = |own: Result<Vec<Own>, _>| own.unwrap_or_default().into_iter().map(|own| (own.name, "own key"));
    let with = |home: &Home, is: fn(&Found) -> bool| {
        let mut all = home.contacts().unwrap_or_default();
        all.retain(|contact| home::read(&contact.path).is_ok_and(|found| found.iter().any(is)));
        all.into_iter().map(|contact| (contact.name, "contact"))
    };
    let functions = |names: Vec<String>| {
        let names: BTreeSet<_> = names.into_iter().collect();
        names.into_iter().map(|name| (name, "function")).collect()
    };
    match (names, Home::find()) {
        (OfferedNames::None, _) => Vec::new(),
        (OfferedNames::Pages, _) => {
            let pages =
                man::pages(cli.clone()).into_iter().map(|page| (man::short(&page.name).to_owned(), "manual page"));
            pages.filter(|(name, _)| !name.is_empty()).collect()
        }
        (OfferedNames::Timed, _) => {
            functions(targets::timing().iter().map(|target| target.name().to_owned()).collect())
        }
        (OfferedNames::Fast, _) => functions(targets::speed().iter().map(|it| it.target.name().to_owned()).collect()),
        (_, Err(_)) => Vec::new(),
        (OfferedNames::Own, Ok(home)) => own(&home).collect(),
        (OfferedNames::Opening, Ok(home)) => named(home.own()).collect(),
        (OfferedNames::Signing, Ok(home)) => named(home.own_signing()).collect(),
        (OfferedNames::Recipients, Ok(home)) => {
            named(home.own()).chain(with(&home, |found| !matches!(found, Found::Verifying(_)))).collect()
        }
        (OfferedNames::Signers, Ok(home)) => {
            named(home.own_signing()).chain(with(&home, |found| matches!(found, Found::Verifying(_)))).collect()
        }
        (OfferedNames::Contacts, Ok(home)) => contacts(&home).collect(),
        (OfferedNames::Keys, Ok(home)) => own(&home).chain(contacts(&home)).collect(),
    }
}
