//! `deadpan share inspect`: shows the shares that a sealed file needs, or the purpose of a file with a share.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::command::plan::Plan;
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::key::shares;
use crate::place::input::{Input, Source};
use crate::place::report;
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::names::joined;
use crate::tell::streams::{print, print_json};
use deadpan_seal::{Share, Stanza};

/// Shows which shares a sealed file needs, or which file a share is for
///
/// What a sealed file needs is public. Only the person to whom a share is sealed sees for which file it is. A share
/// belongs to a file if both show the same group.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan share inspect minutes.txt.dpn         any 2 of 3 shares open it",
    "deadpan share inspect bob.share carol.share   which shares these are"
))]
pub struct ShareInspectArgs {
    /// Open shares with this private key: a file, or the name of one of your own keys. May be repeated [default: all
    /// your own keys]
    #[arg(short, long = "identity", value_name = "KEY")]
    identities: Vec<PathBuf>,
    #[command(flatten)]
    source: PassphraseArgs,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
    /// Sealed files, and files with shares; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub struct ShareInspect {
    args: ShareInspectArgs,
    sources: Vec<Source>,
}

impl ShareInspectArgs {
    pub fn plan(self) -> Result<ShareInspect, Failure> {
        let sources = Source::all(self.files.clone())?;
        self.source.leave_stdin_to(&sources)?;
        Ok(ShareInspect { args: self, sources })
    }
}

impl Plan for ShareInspect {
    fn run(&self) -> Result<Exit, Failure> {
        let mut worst = Exit::Done;
        let mut identities = None;
        for source in &self.sources {
            match self.view(source, &mut identities) {
                Ok(view) if self.args.json => print_json(&view.json(source))?,
                Ok(view) => print(&view.text(&source.shown()))?,
                Err(failure) => {
                    worst = worst.max(failure.exit);
                    if self.args.json {
                        print_json(&report::failed("share inspect", source, &failure))?
                    } else {
                        failure.say()
                    }
                }
            }
        }
        Ok(worst)
    }
}

impl ShareInspect {
    fn view(&self, source: &Source, identities: &mut Option<Identities>) -> Result<ShareView, Failure> {
        let input = Input::open(source)?.file_only("name a sealed file, or a file with a share")?;
        input.announce();
        let sealed = Sealed::read(&input)?;
        if let Some(group) = sealed.header.group() {
            let numbers = sealed.stanzas.iter().find_map(|stanza| match stanza {
                Stanza::Share { needed, of, .. } => Some((*needed, *of)),
                _ => None,
            });
            let (needed, of) = numbers.unwrap_or_default();
            return Ok(ShareView { group, needed, of, shares: None });
        }
        if identities.is_none() {
            let passphrases = Passphrases::new(&self.args.source);
            *identities = Some(Identities::collect(&self.args.identities, &Home::find()?, passphrases)?);
        }
        let Some(identities) = identities else { return Err(Failure::usage("no key", "name one with -i")) };
        let shares = shares::parse(&input.shown(), sealed, identities)?;
        let Some(first) = shares.first() else { return Err(Failure::usage("no share", "name another file")) };
        let numbers = shares.iter().map(Share::index).collect();
        Ok(ShareView { group: first.group(), needed: first.needed(), of: first.of(), shares: Some(numbers) })
    }
}

/// The facts that are known about a sealed file or about a file with shares.
struct ShareView {
    group: String,
    needed: u8,
    of: u8,
    /// The numbers of the shares in a file with shares; `None` for a sealed file.
    shares: Option<Vec<u8>>,
}

impl ShareView {
    fn text(&self, name: &str) -> String {
        let Self { group, needed, of, shares } = self;
        let mut text = match shares {
            None => format!("{name}: any {needed} of {of} keys open it together\n"),
            Some(numbers) => {
                let list = numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(" and ");
                format!("{name}: share {list} of {of}; any {needed} open the file\n")
            }
        };
        let _ = writeln!(text, "  group        {group}");
        text
    }

    fn json(&self, source: &Source) -> Value {
        let fields = json!({
            "schema": 1,
            "command": "share inspect",
            "type": if self.shares.is_some() { "share" } else { "sealed" },
            "group": self.group,
            "needed": self.needed,
            "of": self.of,
            "shares": self.shares,
            "exit": 0,
        });
        joined(source.fields(), fields)
    }
}
