//! Errors of shared libraries and workers.

use std::fmt;
use std::path::PathBuf;

/// The reason why a shared library or a worker cannot be measured.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The description of the arguments is not valid.
    Abi {
        /// The part of the description that is not valid, or the whole description.
        part: String,
        /// The reason.
        why: String,
    },
    /// A class of inputs is not valid.
    Class {
        /// The class, as the user stated it.
        name: String,
        /// The reason.
        why: String,
    },
    /// A file with inputs cannot be used.
    ClassFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A shared library cannot be loaded.
    Library {
        /// The file.
        path: PathBuf,
        /// The reason that the operating system reported.
        why: String,
    },
    /// A shared library exports no function of this name.
    Symbol {
        /// The file.
        path: PathBuf,
        /// The name.
        symbol: String,
        /// The names of functions that the library exports. The most similar name comes first.
        similar: Vec<String>,
        /// The number of functions that the library exports.
        exported: usize,
    },
    /// A function of a shared library ends the process or contradicts the description of its arguments.
    Function {
        /// The file.
        path: PathBuf,
        /// The function's name.
        symbol: String,
        /// A description of what the function does.
        why: String,
    },
    /// A worker cannot be started.
    Start {
        /// The command.
        command: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The worker's process ended too early.
    Ended {
        /// The command.
        command: String,
        /// The phase in which the worker ended, for example `at its start`.
        doing: &'static str,
        /// The exit status or signal.
        status: String,
        /// The last lines of the worker's standard error.
        stderr: String,
    },
    /// A worker did not answer in time, so the lab ended the worker.
    Silent {
        /// The command.
        command: String,
        /// The phase in which the worker did not answer, for example `at its start`.
        doing: &'static str,
        /// The time limit for the answer, in seconds.
        seconds: f64,
        /// The last lines of the worker's standard error.
        stderr: String,
    },
    /// A worker uses another version of the protocol.
    Version {
        /// The command.
        command: String,
        /// The worker's version.
        found: u32,
    },
    /// A worker broke the protocol.
    Protocol {
        /// The command.
        command: String,
        /// The rule that the worker broke, and the data that the worker sent.
        why: String,
        /// The last lines of the worker's standard error.
        stderr: String,
    },
    /// The lab cannot prepare one of its own workers, for example because the worker does not compile.
    Prepare {
        /// The language.
        language: &'static str,
        /// The reason.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tail = "";
        match self {
            Self::Abi { part, why } => write!(out, "the part `{part}` of the arguments' description: {why}")?,
            Self::Class { name, why } => write!(out, "the class `{name}`: {why}")?,
            Self::ClassFile { path, why } => write!(out, "the inputs in {}: {why}", path.display())?,
            Self::Library { path, why } => write!(out, "cannot load the library {}: {why}", path.display())?,
            Self::Symbol { path, symbol, similar, exported } => {
                write!(out, "{} exports no function `{symbol}`", path.display())?;
                match similar.len() {
                    0 => write!(out, ", and no function at all")?,
                    shown if shown < *exported => {
                        write!(out, "; the most similar of {exported} names are {}", similar.join(", "))?;
                    }
                    _ => write!(out, "; it exports {}", similar.join(", "))?,
                }
            }
            Self::Function { path, symbol, why } => write!(out, "`{symbol}` of {}: {why}", path.display())?,
            Self::Start { command, source } => write!(out, "cannot start the worker `{command}`: {source}")?,
            Self::Ended { command, doing, status, stderr } => {
                write!(out, "the worker `{command}` ended {doing} ({status})")?;
                tail = stderr;
            }
            Self::Silent { command, doing, seconds, stderr } => {
                write!(out, "the worker `{command}` did not answer within {seconds} s {doing}")?;
                tail = stderr;
            }
            Self::Version { command, found } => write!(
                out,
                "the worker `{command}` speaks version {found} of the protocol, and this lab speaks version {}",
                super::hello::VERSION
            )?,
            Self::Protocol { command, why, stderr } => {
                write!(out, "the worker `{command}` broke the protocol: {why}")?;
                tail = stderr;
            }
            Self::Prepare { language, why } => write!(out, "the {language} worker of the lab: {why}")?,
        }
        if tail.is_empty() { Ok(()) } else { write!(out, "; its standard error ends with:\n{tail}") }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start { source, .. } => Some(source),
            _ => None,
        }
    }
}
