//! `deadpan rewrap`: changes the recipients who can open sealed files, without sealing the data of the files again.

mod change;
mod file;
pub mod known;
pub mod moved;
mod object;
pub use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use crate::command::plan::Plan;
use crate::command::repair::sidecar;
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::max_cost::MaxCostArgs;
use crate::key::mode::ModeArg;
use crate::key::passphrase::{PassphraseArgs, Passphrases, stdin_or_path};
use crate::place::held;
use crate::place::input::{FileTree, FileTreeEntry, Source, is_called_sealed};
use crate::place::remote;
use crate::place::report::{Done, Report};
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::streams::STDIN;
use crate::tell::streams::print_json;
use change::Change;
use deadpan_disk::Spot;
use deadpan_remote::Address;
use file::Outcome;

/// Changes the recipients of sealed files in place: the data stay as they are, however long they are
///
/// A former recipient may have kept the file's key or a copy of the file. To lock somebody out, open the data and seal
/// them anew.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan rewrap -r bob report.pdf.dpn              Bob can open it, too",
    "deadpan rewrap --remove bob report.pdf.dpn        Bob is not among the recipients any more",
    "deadpan rewrap --remove passphrase -p notes.dpn   another passphrase",
    "deadpan rewrap --to alice --to hybrid photos.dpn  these recipients, and nobody else",
    "deadpan rewrap --recursive -r bob archive         all sealed files in a folder",
    "deadpan rewrap -r bob s3://backup/report.pdf.dpn  an object in a store: its data stay there",
    "deadpan rewrap --dry-run *.dpn                    who can open them, as far as you can know",
))]
pub struct RewrapArgs {
    /// Open with this private key: a file, or the name of one of your own keys. May be repeated [default: all your own
    /// keys]
    #[arg(short, long = "identity", value_name = "KEY")]
    identities: Vec<PathBuf>,
    /// Add this recipient: a public key file, a name from `deadpan keys`, or an age recipient (age1…), also one of a
    /// plugin (age1NAME1…); in age files also an SSH key (ssh-…). May be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT", conflicts_with = "to")]
    recipients: Vec<String>,
    /// Add all public keys in this file
    #[arg(short = 'R', long, value_name = "FILE", value_parser = stdin_or_path(), conflicts_with = "to")]
    recipients_file: Vec<PathBuf>,
    /// Add a passphrase; a file can have only one
    #[arg(short, long)]
    passphrase: bool,
    /// Take the passphrase for -p from the first line of this file, instead of the terminal
    #[arg(long, value_name = "FILE", requires = "passphrase")]
    new_passphrase_file: Option<PathBuf>,
    /// Remove this recipient: a name, a public key file, an age recipient, or the word `passphrase`. May be repeated
    #[arg(long, value_name = "WHO", conflicts_with = "to")]
    remove: Vec<String>,
    /// Replace all recipients by this one, or by the public keys in this file. May be repeated; -p adds a passphrase
    #[arg(long, value_name = "WHO")]
    to: Vec<String>,
    /// `ecc` allows classical recipients beside others; `pqc` and `hybrid` refuse added recipients of another kind
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeArg>,
    #[command(flatten)]
    source: PassphraseArgs,
    #[command(flatten)]
    max_cost: MaxCostArgs,
    /// Change all sealed files in folders and below prefixes, and leave other files alone
    #[arg(long)]
    recursive: bool,
    /// Change nothing, and show the recipients and what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Go on if none of your keys would open a file afterwards, if other hard links would keep the old recipients, if a
    /// new file would lose its owner or an attribute, or if another user's link leads to the file
    #[arg(short, long)]
    force: bool,
    /// Print the results as JSON, one object per line
    #[arg(long)]
    json: bool,
    /// The sealed files to change, or objects in stores (s3://BUCKET/KEY)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub struct Rewrap {
    args: RewrapArgs,
}

impl RewrapArgs {
    pub fn plan(self) -> Result<Rewrap, Failure> {
        if self.files.iter().any(|file| file == Path::new("-") || file == Path::new(STDIN)) {
            let hint = "name the FILE; to change a stream, open it and seal it again";
            return Err(Failure::usage("rewrap changes files in place, and standard input is none", hint));
        }
        let changes = [&self.recipients, &self.remove, &self.to].iter().any(|list| !list.is_empty()) || self.passphrase;
        if !changes && self.recipients_file.is_empty() && !self.dry_run {
            let hint = "add recipients with -r, -R or -p, remove some with --remove, or replace all with --to";
            return Err(Failure::usage("there is nothing to change", hint));
        }
        let files = self.files.into_iter().map(remote::local).collect();
        Ok(Rewrap { args: Self { files, ..self } })
    }
}

#[derive(Default)]
struct RewrapTally {
    changed: u64,
    unchanged: u64,
    failed: u64,
    passed_over: u64,
}

impl Plan for Rewrap {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        held::hold_inputs(args.files.iter().map(PathBuf::as_path));
        let home = Home::find()?;
        let passphrases = Passphrases::new(&args.source);
        let change = Change::from_args(args, &home, &passphrases)?;
        let identities = Identities::collect(&args.identities, &home, passphrases)?
            .within(args.max_cost.get())
            .advise_on_shares("only the keys of enough members can change the recipients: give them all with -i");
        let mut run = Run { args, change, identities, home: &home, tally: RewrapTally::default(), warned: false };
        let mut report = Report::new("rewrap", args.json, args.files.len());
        if args.recursive || args.dry_run {
            report = report.talking();
        }
        for path in &args.files {
            run.all_in(path, &mut report);
        }
        run.summarize()?;
        Ok(report.exit())
    }
}

struct Run<'a> {
    args: &'a RewrapArgs,
    change: Change,
    identities: Identities,
    home: &'a Home,
    tally: RewrapTally,
    /// Whether the note about the limits of removing a recipient was already printed.
    warned: bool,
}

impl Run<'_> {
    /// Changes one file. With `--recursive`, changes all sealed files in a folder.
    fn all_in(&mut self, path: &Path, report: &mut Report) {
        let prefix = remote::address(path).ok().flatten().filter(Address::is_prefix);
        if let Some(prefix) = prefix.filter(|_| self.args.recursive) {
            return match remote::below(&prefix) {
                Ok(all) => all.iter().for_each(|path| self.one(path, None, report)),
                Err(failure) => self.failed(path.to_owned(), failure, report),
            };
        }
        if !(self.args.recursive && path.is_dir()) {
            return self.one(path, None, report);
        }
        let tree = match FileTree::open(path, self.args.force) {
            Ok(tree) => tree,
            Err(failure) => return self.failed(path.to_owned(), failure, report),
        };
        for entry in tree {
            match entry {
                FileTreeEntry::Sealed(spot) => self.one(&spot.path(), Some(spot), report),
                // The file has the name of a sealed file, so it probably had a header earlier.
                FileTreeEntry::Other(spot) if is_called_sealed(&spot) => self.one(&spot.path(), Some(spot), report),
                FileTreeEntry::Other(_) => self.tally.passed_over += 1,
                FileTreeEntry::Failed(path, failure) => self.failed(path, failure, report),
            }
        }
    }

    fn failed(&mut self, path: PathBuf, failure: Failure, report: &mut Report) {
        self.tally.failed += 1;
        report.add(&Source::File(path), Instant::now(), &Err(failure));
    }

    /// Changes one file or object: the file at `spot` if `spot` is given, or else the file or object at `path`.
    fn one(&mut self, path: &Path, spot: Option<Spot>, report: &mut Report) {
        let start = Instant::now();
        let (change, identities) = (&mut self.change, &mut self.identities);
        let result = if spot.is_none() && remote::is_address(path) {
            object::rewrap(path, self.args, change, identities, self.home)
        } else {
            file::rewrap(path, spot, self.args, change, identities, self.home)
        };
        match &result {
            Ok(Outcome { changed: true, .. }) => self.tally.changed += 1,
            Ok(_) => self.tally.unchanged += 1,
            Err(_) => self.tally.failed += 1,
        }
        // With `--recursive`, unchanged files appear only as a number in the summary. A rehearsal (`--dry-run`) reports
        // each file, because its purpose is to show the recipients.
        let is_told = match &result {
            Ok(outcome) => outcome.changed || self.args.json || self.args.dry_run || !self.args.recursive,
            Err(_) => true,
        };
        let source = Source::File(path.to_owned());
        let done = result.map(|outcome| self.done(outcome)).map_err(|failure| sidecar::advised(&source, failure));
        if is_told {
            report.add(&source, start, &done);
        }
    }

    fn done(&mut self, outcome: Outcome) -> Done {
        let mut notes = outcome.notes;
        if outcome.removed > 0 && !self.args.dry_run && !std::mem::replace(&mut self.warned, true) {
            notes.push(
                "who could open it before may have kept its key or a copy; to lock somebody out, seal the data anew"
                    .into(),
            );
        }
        Done { remark: Some(outcome.remark), notes, more: outcome.more, ..Done::default() }
    }

    /// If the command can have several files, prints the number of files for each outcome.
    fn summarize(&self) -> Result<(), Failure> {
        let RewrapTally { changed, unchanged, failed, passed_over } = self.tally;
        if !self.args.recursive && self.args.files.len() == 1 {
            return Ok(());
        }
        if self.args.json {
            let summary = json!({
                "schema": 1,
                "command": "rewrap",
                "summary": {
                    "changed": changed,
                    "unchanged": unchanged,
                    "failed": failed,
                    "passed_over": passed_over,
                    "dry_run": self.args.dry_run,
                },
            });
            return print_json(&summary);
        }
        let verb = if self.args.dry_run { "to change" } else { "changed" };
        let others = match passed_over {
            0 => String::new(),
            number => format!("; {number} passed over (no sealed files)"),
        };
        say(&format!("rewrap: {changed} {verb}, {unchanged} unchanged, {failed} failed{others}"));
        Ok(())
    }
}
