//! What went wrong: a message that names the file, a hint, and an exit code.

use crate::shown::shown;
use crate::window::NotText;
use deadpan_seal::{Error, Fault, key::KeyError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

/// What the exit code says. With several files the worst counts, which is the highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    #[default]
    Done = 0,
    Data = 1,
    Usage = 2,
    Key = 3,
    System = 4,
}

/// A command's examples, and under them the exit codes, for the end of its `--help`.
macro_rules! help {
    ($($example:literal),* $(,)?) => {
        concat!(
            "Examples:\n",
            $("  ", $example, "\n",)*
            "\nExit codes:\n  0  done\n  1  the data are wrong: changed, cut short, or not sealed at all\n  2  usage: something was asked for that cannot be\n",
            "  3  no key fits, or the passphrase is wrong\n  4  the system failed: a full disk, missing permissions\n",
            "With several files the highest counts."
        )
    };
}
pub(crate) use help;

/// Why a command, or its work on one file, ended without a result.
#[derive(Clone, Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// The reader of our output went away; that is no news to anybody.
    pub quiet: bool,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: Some(hint.into()), notes: Vec::new(), quiet: false }
    }

    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message, hint)
    }

    /// The library's error about a file (or whatever `name` names).
    pub fn of(name: &str, error: Error) -> Self {
        match error {
            Error::Read(error) if error.get_ref().is_some_and(|inner| inner.is::<crate::armor::Damaged>()) => {
                Self::split(Exit::Data, name, &error.to_string())
            }
            Error::Read(error) => Self::io("read", name, &error),
            Error::Write(error) => Self::io("write", name, &error),
            error => Self::split(Exit::from(error.fault()), name, &error.to_string()),
        }
    }

    /// The library's error about a key.
    pub fn key(name: &str, error: &KeyError) -> Self {
        Self::split(Exit::from(error.fault()), name, &error.to_string())
    }

    /// The error of packing, unpacking or listing `name`; of an entry by itself, if that is empty. What a sealed input is read through may have an error of its own inside.
    pub fn pack(name: &str, error: deadpan_pack::Error) -> Self {
        match error {
            deadpan_pack::Error::Read(error) => Self::of(name, error.downcast::<Error>().unwrap_or_else(Error::Read)),
            deadpan_pack::Error::Write(error) => Self::io("write", name, &error),
            deadpan_pack::Error::Entry { verb, path, error } => {
                let failure = Self::io(verb, &path, &error);
                let hint = match verb {
                    "set the owner of" => Some("leave out --owner, or unpack as somebody who may give files away".into()),
                    "set the extended attributes of" => Some("leave out --xattrs".into()),
                    _ => failure.hint,
                };
                let message = if name.is_empty() { failure.message } else { format!("{name}: {}", failure.message) };
                Self { message, hint, ..failure }
            }
            error => Self::split(Exit::from(error.fault()), name, &error.to_string()),
        }
    }

    /// The system's error: what could not be done (`read`, `write`, `create` …) to what.
    pub fn io(verb: &str, name: &str, error: &io::Error) -> Self {
        let (exit, reason, hint) = reason(error);
        let message = match name {
            "" => format!("cannot {verb} it: {reason}"),
            name => format!("cannot {verb} {name}: {reason}"),
        };
        Self { exit, message, hint: Some(hint.into()), notes: Vec::new(), quiet: error.kind() == ErrorKind::BrokenPipe }
    }

    /// As [`Failure::io`], of a path.
    pub fn path(verb: &str, path: &Path, error: &io::Error) -> Self {
        Self::io(verb, &shown(path), error)
    }

    /// The text of a library's error, with its hint, about a file.
    pub fn split(exit: Exit, name: &str, text: &str) -> Self {
        let (message, hint) = text.split_once("\nhint: ").map_or((text, None), |(message, hint)| (message, Some(hint.to_owned())));
        let message = if name.is_empty() { message.to_owned() } else { format!("{name}: {message}") };
        Self { exit, message, hint, notes: Vec::new(), quiet: false }
    }

    /// Says it on standard error.
    pub fn say(&self) {
        if self.quiet {
            return;
        }
        crate::report::say(&format!("error: {}", self.message));
        if let Some(hint) = &self.hint {
            crate::report::say(&format!("hint: {hint}"));
        }
        for note in &self.notes {
            crate::report::say(&format!("note: {note}"));
        }
    }

    /// Says it, as the last thing that the program does.
    pub fn end(&self) -> ExitCode {
        self.say();
        if self.quiet {
            crate::signals::die_of_broken_pipe();
        }
        self.exit.into()
    }
}

/// A reason in words of our own: exit code, message, hint.
fn reason(error: &io::Error) -> (Exit, String, &'static str) {
    let (exit, reason, hint) = match error.kind() {
        ErrorKind::NotFound => (Exit::Usage, "there is no such file or folder", "check the spelling"),
        ErrorKind::PermissionDenied => (Exit::System, "permission denied", "check the permissions of the file and of its folder"),
        ErrorKind::StorageFull => (Exit::System, "the disk is full", "free some space and try again; nothing unfinished was left there"),
        ErrorKind::QuotaExceeded => (Exit::System, "your quota of the disk is used up", "free some space and try again"),
        ErrorKind::FileTooLarge => {
            (Exit::System, "the file would grow too large", "the file system or a limit (ulimit -f) does not allow it")
        }
        ErrorKind::ReadOnlyFilesystem => (Exit::System, "the file system is read-only", "write somewhere else with -o"),
        ErrorKind::IsADirectory => (Exit::Usage, "it is a folder", "name a file"),
        ErrorKind::NotADirectory => (Exit::Usage, "a part of the path is not a folder", "check the spelling"),
        ErrorKind::InvalidFilename => (Exit::Usage, "the name is too long or not allowed there", "choose another name with -o"),
        ErrorKind::BrokenPipe => (Exit::System, "the reader went away", "nothing reads the output any more"),
        _ if error.get_ref().is_some_and(|inner| inner.is::<NotText>()) => {
            (Exit::Usage, "a terminal shows text, and these are bytes", "name a file with -o, or send it to another program")
        }
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
            return (Exit::System, format!("the system says: {text}"), "look at the disk, the device or the network behind it");
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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
