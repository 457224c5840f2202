//! Describes how this process was started. Programs that start themselves again need this description, and messages
//! that contain command lines need it too.
//!
//! Usually the operating system reports how the process was started. A program that runs inside an interpreter, such as
//! `python -m deadpan`, must call [`set`] first.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The command that started a program inside an interpreter.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The first words of the command line, which start the program, for example `python3`, `-m`, `deadpan`.
    pub start: Vec<OsString>,
    /// The file with the program's code.
    pub code: PathBuf,
    /// The arguments that follow `start` on the command line.
    pub arguments: Vec<OsString>,
}

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// Sets how this process was started. Only the first call has an effect.
pub fn set(invocation: Invocation) {
    let _ = INVOCATION.set(invocation);
}

/// Returns the program's arguments, without the program's name or the command that starts an interpreter.
#[must_use]
pub fn arguments() -> Vec<OsString> {
    INVOCATION.get().map_or_else(|| std::env::args_os().skip(1).collect(), |known| known.arguments.clone())
}

/// Returns a command that starts a tool such as Valgrind with these options. The tool then runs this program. The
/// caller must add the arguments of this program to the command.
#[cfg(feature = "harness")]
pub(crate) fn under(tool: &str, options: &[&str]) -> std::io::Result<std::process::Command> {
    let mut command = std::process::Command::new(tool);
    command.args(options);
    match interpreted() {
        Some(start) => command.args(start),
        None => command.arg(std::env::current_exe()?),
    };
    Ok(command)
}

/// If this program runs inside an interpreter, returns the words at the beginning of the command line that start the
/// program.
#[cfg(feature = "harness")]
pub(crate) fn interpreted() -> Option<&'static [OsString]> {
    INVOCATION.get().map(|known| &*known.start)
}

pub(crate) fn code() -> Option<PathBuf> {
    INVOCATION.get().map_or_else(|| std::env::current_exe().ok(), |known| Some(known.code.clone()))
}
