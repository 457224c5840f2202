//! Failures. Each failure has a message that names the file, a hint, and an exit code.

mod job;
mod picture;
mod repair;
mod store;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::tell::advice;
use crate::tell::console::complain;
use crate::tell::shown::{planted_by, shown};
use crate::tell::signals;
use crate::tell::text::NotText;
use deadpan_compress::Flaw;
use deadpan_disk::{self as disk, About, Errno, Exchanged};
use deadpan_pack::LongList;
use deadpan_remote::Address;
use deadpan_seal::{Error, Fault, key::KeyError};

/// The exit code of the program. A command for several files returns the highest exit code of these files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    #[default]
    Done = 0,
    Data = 1,
    Usage = 2,
    Key = 3,
    System = 4,
    /// The user required a signature. The file has no signature, or its signer is unknown, or the signature is for
    /// other recipients or for another file name.
    Signer = 5,
}

/// Returns the end of a command's `--help`: examples, then the exit codes.
macro_rules! help {
    ($($example:literal),* $(,)?) => {
        concat!(
            "Examples:\n",
            $("  ", $example, "\n",)*
            "\nExit codes:\n  0  done\n",
            "  1  wrong data: a file is changed, cut short or not sealed; a key is invalid\n",
            "  2  usage: the arguments are wrong, or the command cannot do what they ask for\n",
            "  3  no key fits, or the passphrase is wrong or missing\n",
            "  4  the system failed: a full disk, missing permissions\n",
            "  5  a required signature is missing, by somebody unknown, for others, or under another name\n",
            "With several files, the highest exit code counts."
        )
    };
}
pub(crate) use help;

/// The failure of a command, or of its work on one file.
#[derive(Clone, Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
    /// Notes with more facts, such as which entries are complete.
    pub notes: Vec<String>,
    /// The path of what was kept all the same.
    pub kept: Option<PathBuf>,
    /// Whether the input is damaged, or is not what it should be.
    pub damaged: bool,
    /// Whether the failure is not printed, because the output has no reader any more.
    pub quiet: bool,
    /// Whether the last JSON object on standard output already reports the failure.
    pub told: bool,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: Some(hint.into()),
            notes: Vec::new(),
            kept: None,
            damaged: false,
            quiet: false,
            told: false,
        }
    }

    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message, hint)
    }

    /// Returns the failure for an error of the library about `name`. If the library returns a [`Failure`] of a reader
    /// (see [`Failure::into_io`]) as its error, returns that failure.
    pub fn seal(name: &str, error: Error) -> Self {
        match error {
            Error::Read(error) => match error.downcast::<Self>() {
                Ok(failure) => failure.about(name),
                // A reader that is part of the library returns errors of the library's own type.
                Err(error) => match error.downcast::<Error>() {
                    Ok(error) => Self::seal(name, error),
                    Err(error) => match error.downcast::<Flaw>() {
                        Ok(flaw) => Self::seal(name, Error::Compressed(flaw)),
                        Err(error) => Self::io("read", name, &error),
                    },
                },
            },
            Error::Write(error) => Self::io("write", name, &error),
            error => {
                let exit = Exit::from(error.fault());
                let failure = Self::advised(exit, name, &error, advice::seal::advise(&error));
                Self { damaged: exit == Exit::Data, ..failure }
            }
        }
    }

    /// Returns the failure for an error of the library: about `output` if writing the output failed, otherwise about
    /// `input`.
    pub fn blame(error: Error, input: &str, output: &str) -> Self {
        Self::seal(if matches!(error, Error::Write(_)) { output } else { input }, error)
    }

    pub fn key(name: &str, error: &KeyError) -> Self {
        Self::advised(Exit::from(error.fault()), name, error, advice::key::advise(error).map(Cow::Borrowed))
    }

    fn advised(exit: Exit, name: &str, error: &dyn std::error::Error, hint: Option<Cow<'static, str>>) -> Self {
        let failure = Self { hint: hint.map(Cow::into_owned), ..Self::new(exit, error.to_string(), "") };
        failure.about(name)
    }

    /// Puts the name of the failed file or object before the message.
    pub fn about(self, name: &str) -> Self {
        let message = if name.is_empty() { self.message } else { format!("{name}: {}", self.message) };
        Self { message, ..self }
    }

    /// Converts the failure into an error that a reader can return to a library. [`Failure::seal`] converts it back.
    pub fn into_io(self) -> io::Error {
        io::Error::other(self)
    }

    /// Returns the failure of packing, unpacking or listing `name`. If `name` is empty, the message names only the
    /// entry. If the reader that opens a sealed input failed, returns that reader's own failure.
    pub fn pack(name: &str, error: deadpan_pack::Error) -> Self {
        match error {
            deadpan_pack::Error::Read(error) => Self::seal(name, error.downcast::<Error>().unwrap_or_else(Error::Read)),
            deadpan_pack::Error::Write(error) => Self::io("write", name, &error),
            deadpan_pack::Error::Entry { action, path, ref error } => {
                let failure = Self::io(&action.to_string(), &path, error);
                let hint = advice::pack::entry(action).map(str::to_owned).or(failure.hint);
                Self { hint, ..failure }.about(name)
            }
            error => {
                // These are faults of what lies in the target folder.
                let is_conflict = matches!(
                    error,
                    deadpan_pack::Error::Archive(
                        deadpan_pack::Flaw::InTheWay { .. } | deadpan_pack::Flaw::NoFolder { .. }
                    )
                );
                let exit = Exit::from(error.fault());
                let failure = Self::advised(exit, name, &error, advice::pack::advise(&error).map(Cow::Borrowed));
                Self { damaged: exit == Exit::Data && !is_conflict, ..failure }
            }
        }
    }

    /// Returns the failure for an error of the system. `verb` is the operation on `name` that failed: `read`, `write`,
    /// `create`.
    pub fn io(verb: &str, name: &str, error: &io::Error) -> Self {
        // A reader or a writer of an object returns the error of its store.
        if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
            return Self::store(error);
        }
        let (exit, reason, hint) = reason(error);
        let message = match name {
            "" => format!("cannot {verb} it: {reason}"),
            name => format!("cannot {verb} {name}: {reason}"),
        };
        let quiet = is_broken_pipe(error);
        Self { quiet, ..Self::new(exit, message, hint) }
    }

    /// Returns the failure for an error of the system about a path. `verb` is the operation that failed.
    pub fn path(verb: &str, path: &Path, error: &io::Error) -> Self {
        if Address::is_meant(path.as_os_str()) {
            let message =
                format!("cannot {verb} {}: here, only files are taken, and no objects in stores", shown(path));
            return Self::usage(message, "copy the object to a file first, with the tool of its store");
        }
        let is_changed = error.get_ref().is_some_and(|inner| inner.is::<Exchanged>());
        let leads_nowhere = is_changed || matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        if let Some((link, target)) = path.ancestors().filter(|_| leads_nowhere).filter_map(dangling).last() {
            let (link, target) = (shown(link), shown(target));
            let message = if link == shown(path) {
                format!("cannot {verb} {link}: it is a link that leads nowhere, to {target}")
            } else {
                format!("cannot {verb} {}: {link} is a link that leads nowhere, to {target}", shown(path))
            };
            return Self::usage(message, "make what the link leads to, or remove the link");
        }
        Self::io(verb, &shown(path), error)
    }

    /// Writes message, hint and notes to standard error.
    pub fn say(&self) {
        self.say_after(None);
    }

    /// Writes message, hint and notes to standard error. Does not write the hint if it equals `read`, the hint that the
    /// user has just read.
    pub fn say_after(&self, read: Option<&str>) {
        signals::give_way();
        if self.quiet || self.told {
            return;
        }
        complain(&format!("error: {}", self.message));
        if let Some(hint) = self.hint.as_deref().filter(|hint| Some(*hint) != read) {
            complain(&format!("hint: {hint}"));
        }
        for note in &self.notes {
            complain(&format!("note: {note}"));
        }
    }

    /// Writes the failure to standard error and returns the exit code of the program.
    pub fn end(&self) -> u8 {
        self.say();
        if self.quiet {
            crate::tell::signals::die_of_broken_pipe();
        }
        self.exit as u8
    }
}

/// If the path is a link to a missing file, returns the path and the target of the link.
fn dangling(path: &Path) -> Option<(&Path, PathBuf)> {
    let is_link = About::of_name(path).is_ok_and(|about| about.is_link());
    let is_missing = || About::of_path(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if is_link && is_missing() { Some((path, path.read_link().ok()?)) } else { None }
}

/// Whether the reader of a pipe is gone. Windows has two errors for it, and the library knows one of them
/// (`ERROR_PIPE_NOT_CONNECTED` is the other one).
fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == ErrorKind::BrokenPipe || cfg!(windows) && error.raw_os_error() == Some(233)
}

/// Returns exit code, reason and hint for an error of the system, in Deadpan's words.
fn reason(error: &io::Error) -> (Exit, String, &'static str) {
    if let Some(disk::Error::Planted(planted)) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return (Exit::Usage, planted_by(planted), "ask who uses that folder, or choose one of your own");
    }
    let (exit, reason, hint) = match error.kind() {
        ErrorKind::NotFound => (Exit::Usage, "there is no such file or folder", "check the spelling"),
        ErrorKind::PermissionDenied => {
            (Exit::System, "permission denied", "check the permissions of the file and of its folder")
        }
        ErrorKind::StorageFull => (Exit::System, "the disk is full", "free some space and try again"),
        ErrorKind::QuotaExceeded => {
            (Exit::System, "your quota of the disk is used up", "free some space and try again")
        }
        ErrorKind::FileTooLarge => {
            let hint = if cfg!(windows) {
                "the file system does not allow it"
            } else {
                "the file system or a limit (ulimit -f) does not allow it"
            };
            (Exit::System, "the file would grow too large", hint)
        }
        ErrorKind::ReadOnlyFilesystem => (Exit::System, "the file system is read-only", "write somewhere else"),
        ErrorKind::IsADirectory => (Exit::Usage, "it is a folder", "name a file"),
        // ERROR_INVALID_FUNCTION: Windows returns it for a folder that is read as a file.
        _ if cfg!(windows) && error.raw_os_error() == Some(1) => (Exit::Usage, "it is no file", "name a file"),
        ErrorKind::NotADirectory => (Exit::Usage, "a part of the path is not a folder", "check the spelling"),
        ErrorKind::InvalidFilename => (Exit::Usage, "the name is too long or not allowed there", "choose another name"),
        _ if is_broken_pipe(error) => (Exit::System, "the reader is gone", "no program reads the output any more"),
        _ if [Errno::MFILE, Errno::NFILE].map(|errno| Some(errno.raw_os_error())).contains(&error.raw_os_error()) => {
            let hint = if cfg!(windows) { "close other programs" } else { "allow more: ulimit -n 1024" };
            (Exit::System, "too many files are open", hint)
        }
        _ if error.get_ref().is_some_and(|inner| inner.is::<Exchanged>()) => {
            let hint = "see who can change names there, and run the command again";
            return (Exit::System, Exchanged.to_string(), hint);
        }
        _ if error.get_ref().is_some_and(|inner| inner.is::<LongList>()) => {
            return (Exit::System, LongList.to_string(), "shorten it");
        }
        _ if error.get_ref().is_some_and(|inner| inner.is::<NotText>()) => (
            Exit::Usage,
            "a terminal shows text, and the data are not text",
            "name a file with -o, or send it to another program",
        ),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
            return (Exit::System, format!("the system says: {text}"), "check the disk, the device or the network");
        }
    };
    (exit, reason.to_owned(), hint)
}

impl From<Fault> for Exit {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Data => Self::Data,
            Fault::Caller => Self::Usage,
            Fault::Key => Self::Key,
            Fault::System => Self::System,
        }
    }
}

impl From<deadpan_pack::Fault> for Exit {
    fn from(fault: deadpan_pack::Fault) -> Self {
        match fault {
            deadpan_pack::Fault::Data => Self::Data,
            deadpan_pack::Fault::Caller => Self::Usage,
            deadpan_pack::Fault::System => Self::System,
        }
    }
}
