//! `seal --each --mirror`: removes results whose sources are gone.

use std::io::{IsTerminal, stderr};

use crate::command::folder::FOLDERS;
use crate::command::many::job_report::JobReport;
use crate::command::many::left_out::first_names;
use crate::key::prompt::Terminal;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::{count, shown};
use deadpan_fleet::{Act, Filter, Gone, Place as Many, StampKey};

#[derive(Clone, Debug, Default, clap::Args)]
pub struct MirrorArgs {
    /// With --each, remove the results whose files are gone, and the folders that become empty. What is only left out
    /// keeps its result. Asks before it removes anything
    #[arg(long, help_heading = FOLDERS)]
    mirror: bool,
    /// Do not ask before --mirror removes results
    #[arg(long, help_heading = FOLDERS)]
    yes: bool,
}

impl MirrorArgs {
    /// Refuses a source that is no folder, and a removal about which nobody can be asked. `is_of_folder` is true if the
    /// source is a folder.
    pub fn check(&self, is_of_folder: bool, is_share: bool, rehearse: bool) -> Result<(), Failure> {
        if !self.mirror {
            let message = "--yes allows --mirror to remove results without a question";
            let hint = "add --mirror; to replace an output that exists: --force";
            return if self.yes { Err(Failure::usage(message, hint)) } else { Ok(()) };
        }
        if !is_of_folder {
            let hint = "name a folder with --each, and a folder or a prefix with --to";
            return Err(Failure::usage("--mirror compares results with the files of a folder", hint));
        }
        if is_share {
            return Err(Failure::usage("--mirror is for a command that does all the work", "leave out --shard"));
        }
        if !self.yes && !rehearse && Terminal::find().filter(|_| stderr().is_terminal()).is_none() {
            let hint = "allow it with --yes; --dry-run shows what would be removed";
            return Err(Failure::usage("--mirror asks before it removes results, and there is no terminal", hint));
        }
        Ok(())
    }

    /// Removes the results whose sources are gone, unless something failed before.
    pub fn apply(
        &self,
        from: &Many,
        to: &Many,
        act: &dyn Act,
        filter: &Filter,
        stamps: Option<&StampKey>,
        report: &JobReport<'_>,
    ) -> Result<(), Failure> {
        let (true, Many::Folder(from)) = (self.mirror, from) else { return Ok(()) };
        let name = to.to_string();
        if report.has_failed() {
            say(&format!("note: nothing is removed from {name}, because not everything could be sealed"));
            return Ok(());
        }
        if !report.has_files() {
            let message = format!("{}: there is no file in it, so nothing is removed from {name}", shown(from.path()));
            return Err(Failure::usage(message, "check that its disk is mounted, or remove the results yourself"));
        }
        let gone = Gone::find(from, to, act, filter, stamps).map_err(|error| {
            let Failure { exit, message, hint, .. } = Failure::job(&name, error);
            let message = format!("{message}, so nothing is removed from {name}");
            Failure::new(exit.max(Exit::System), message, hint.unwrap_or_default())
        })?;
        if let Some(note) = foreign(&gone) {
            say(&note);
        }
        if !report.is_rehearsal() {
            gone.sweep();
        }
        if gone.results().len() + gone.folders().len() == 0 {
            return Ok(());
        }
        if report.is_rehearsal() {
            return gone.results().chain(gone.folders()).try_for_each(|path| report.would_remove(&path));
        }
        if !self.yes && !asks(&gone, &name)? {
            say(&format!("note: nothing was removed from {name}"));
            return Ok(());
        }
        gone.remove(|removal| report.removed(removal));
        Ok(())
    }

    pub fn is_given(&self) -> bool {
        self.mirror
    }
}

/// Returns a note about what has the name of a result without a source, but is not a result of this machine.
fn foreign(gone: &Gone) -> Option<String> {
    let files = gone.foreign();
    let (stay, them) = if files.len() == 1 { ("stays: it has", "it") } else { ("stay: they have", "them") };
    (!files.is_empty()).then(|| {
        let what = count(files.len() as u64, "file", "files");
        let names = first_names(files.iter(), files.len());
        format!("note: {what} {stay} no source, and no sign that this machine has sealed {them}: {names}")
    })
}

/// Asks on the terminal whether to remove results.
fn asks(gone: &Gone, name: &str) -> Result<bool, Failure> {
    let mut what = Vec::new();
    if gone.results().len() > 0 {
        what.push(count(gone.results().len() as u64, "result without a source", "results without a source"));
    }
    if gone.folders().len() > 0 {
        what.push(count(gone.folders().len() as u64, "empty folder", "empty folders"));
    }
    let all = gone.results().len() + gone.folders().len();
    let Some(terminal) = Terminal::find() else { return Ok(false) };
    terminal.say(&first_names(gone.results().chain(gone.folders()), all));
    let question = format!("remove {} from {name}? (yes or no)", what.join(" and "));
    // If the input ends, the answer is no.
    let typed = terminal.ask_openly(&question).map_or(Vec::new(), |typed| typed.as_bytes().trim_ascii().to_vec());
    Ok(matches!(typed.to_ascii_lowercase().as_slice(), b"yes" | b"y"))
}
