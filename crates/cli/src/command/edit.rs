//! `deadpan edit`: opens a sealed file into memory for an editor, and seals the changed data again to the same
//! recipients.

mod draft;
mod editor;
mod original;
mod recipients;
mod reseal;

use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::command::plan::Plan;
use crate::command::repair::sidecar;
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::max_cost::MaxCostArgs;
use crate::key::passphrase::{PassphraseArgs, Passphrases, stdin_or_path};
use crate::key::recipient::NamedRecipients;
use crate::place::input::Source;
use crate::place::report::{Done, Report};
use crate::place::{held, remote};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::shown::shown;
use crate::tell::signals;
use crate::tell::streams::STDIN;
use draft::Draft;
use editor::{Editor, EditorCommand, Ended};
use original::{Keys, Original};

/// An editor that ends sooner has probably passed the file to a window that is still open.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Opens a sealed file in your editor, and seals it again to the same recipients if you have changed it
///
/// The text lies in memory while you edit it, and is wiped afterwards.
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan edit notes.txt.dpn                       with $VISUAL, $EDITOR, or the system's editor",
    "deadpan edit --editor 'code --wait' notes.txt.dpn  an editor with a window of its own has to wait",
    "deadpan edit -r carol.pub minutes.txt.dpn        one recipient is not among your contacts: name the key",
))]
pub struct EditArgs {
    /// Open with this private key: a file, or the name of one of your own keys. May be repeated [default: all your own
    /// keys]
    #[arg(short, long = "identity", value_name = "KEY")]
    identities: Vec<PathBuf>,
    /// Recognize this recipient of the file: a public key file, a name from `deadpan keys`, or an age recipient
    /// (age1…). Your own keys and your contacts are recognized without it. May be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT")]
    recipients: Vec<String>,
    /// Recognize all public keys in this file
    #[arg(short = 'R', long, value_name = "FILE", value_parser = stdin_or_path())]
    recipients_file: Vec<PathBuf>,
    /// Edit with this command. No shell runs it [default: $VISUAL, $EDITOR, or the first of editor, vi and nano]
    #[arg(long, value_name = "COMMAND")]
    editor: Option<EditorCommand>,
    /// Do not sign the changed file, even if the file was signed
    #[arg(long)]
    no_sign: bool,
    #[command(flatten)]
    source: PassphraseArgs,
    #[command(flatten)]
    max_cost: MaxCostArgs,
    /// Go on if other hard links would keep the old text, if the new file would lose its owner or an attribute, or if
    /// another user's link leads to the file
    #[arg(short, long)]
    force: bool,
    /// The sealed file to edit
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// A validated `deadpan edit` command.
pub struct Edit {
    args: EditArgs,
}

impl EditArgs {
    pub fn plan(self) -> Result<Edit, Failure> {
        if self.file == Path::new("-") || self.file == Path::new(STDIN) {
            return Err(Failure::usage("edit changes a file in place, and standard input is none", "name the FILE"));
        }
        if remote::is_address(&self.file) {
            let message = format!("{} is an object in a store, and edit changes files", shown(&self.file));
            return Err(Failure::usage(message, "open it, edit it, and seal it to the store again with --force"));
        }
        let file = remote::local(self.file);
        Ok(Edit { args: Self { file, ..self } })
    }
}

impl Plan for Edit {
    fn run(&self) -> Result<Exit, Failure> {
        let path = &self.args.file;
        held::hold_inputs([path.as_path()]);
        let source = Source::File(path.clone());
        let mut report = Report::new("edit", false, 1);
        let (start, mut signal) = (Instant::now(), None);
        let result = self.edit(&mut signal).map_err(|failure| sidecar::advised(&source, failure));
        report.add(&source, start, &result);
        if let Some(signal) = signal {
            signals::end(signal);
        }
        Ok(report.exit())
    }
}

impl Edit {
    /// Edits the file. If a signal asked the program to end meanwhile, sets `signal`: the caller ends the program.
    fn edit(&self, signal: &mut Option<i32>) -> Result<Done, Failure> {
        let args = &self.args;
        let home = Home::find()?;
        let editor = Editor::find(args.editor.as_ref())?;
        let passphrases = Passphrases::new(&args.source);
        let named = NamedRecipients::named(&args.recipients, &args.recipients_file, &home)?;
        let named = named.recipients(&passphrases)?;
        let identities = Identities::collect(&args.identities, &home, passphrases)?.within(args.max_cost.get());
        let mut keys = Keys { home, named, identities, no_sign: args.no_sign };
        let (original, draft) = Original::open(&args.file, args.force, &mut keys)?;
        let begin = Instant::now();
        let ended = editor.run(&draft)?;
        let result = self.finish(&original, draft, &ended, &keys.identities, begin.elapsed());
        *signal = ended.signal();
        result
    }

    /// Seals the draft if the user has changed it.
    fn finish(
        &self,
        original: &Original,
        mut draft: Draft,
        ended: &Ended,
        identities: &Identities,
        elapsed: Duration,
    ) -> Result<Done, Failure> {
        let is_changed = match &ended.failure {
            // The user, or the editor itself, has rejected the text.
            Some(failure) if !ended.by_signal => return Err(failure.clone()),
            Some(failure) => draft.read_changed().map_err(|_| failure.clone())?,
            None => draft.read_changed()?,
        };
        let failure = match (&ended.failure, is_changed) {
            (None, false) => return Ok(unchanged(elapsed)),
            (None, true) => match original.replace(&draft, identities, self.args.force) {
                Ok(notes) => {
                    let notes = notes.into_iter().chain(sidecar::outdated(&self.args.file)).collect();
                    return Ok(Done { remark: Some("changed".into()), notes, ..Done::default() });
                }
                Err(failure) => failure,
            },
            (Some(failure), false) => return Err(failure.clone()),
            (Some(failure), true) => failure.clone(),
        };
        Err(original.rescue(draft, failure))
    }
}

fn unchanged(elapsed: Duration) -> Done {
    let mut notes = Vec::new();
    if elapsed < AT_ONCE && stderr().is_terminal() {
        notes
            .push("the editor ended at once; if its window is still open, make it wait: --editor 'code --wait'".into());
    }
    Done { remark: Some("unchanged".into()), notes, ..Done::default() }
}
