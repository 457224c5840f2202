//! Standard input and output, which may be closed.

use std::fs::File;
use std::io::{self, Stderr, Stdin, Stdout, Write};

use serde_json::Value;

use crate::tell::failure::{Exit, Failure};
use crate::tell::imp;
use crate::tell::names::json_text;
use crate::tell::shown::guarded;

/// The path that stands for standard input where a path is expected.
pub const STDIN: &str = "/dev/stdin";

/// Duplicates standard input.
pub fn stdin() -> Result<File, Failure> {
    if imp::was_closed(0) {
        return Err(closed("read", "standard input"));
    }
    duplicate(&io::stdin(), "read", "standard input")
}

/// Duplicates standard output.
pub fn stdout() -> Result<File, Failure> {
    check_stdout()?;
    duplicate(&io::stdout(), "write", "standard output")
}

pub fn check_stdout() -> Result<(), Failure> {
    if imp::was_closed(1) { Err(closed("write", "standard output")) } else { Ok(()) }
}

/// Writes text for people to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    write(&guarded(text, true))
}

/// Writes a JSON value to standard output, as a line.
pub fn print_json(value: &Value) -> Result<(), Failure> {
    write(&(json_text(value) + "\n"))
}

fn write(text: &str) -> Result<(), Failure> {
    check_stdout()?;
    #[expect(clippy::disallowed_methods, reason = "the text is escaped")]
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| unwritten(&error))
}

pub fn unwritten(error: &io::Error) -> Failure {
    Failure::io("write", "standard output", error)
}

fn closed(verb: &str, name: &str) -> Failure {
    Failure::new(
        Exit::System,
        format!("cannot {verb} {name}: it is closed"),
        "name a file instead, or do not close the stream",
    )
}

fn duplicate(stream: &impl Duplicate, verb: &str, name: &str) -> Result<File, Failure> {
    stream.duplicate().map_err(|error| Failure::io(verb, name, &error))
}

/// A standard stream that can be duplicated as a file.
pub trait Duplicate {
    fn duplicate(&self) -> io::Result<File>;
}

macro_rules! duplicate {
    ($($stream:ty),*) => {$(
        impl Duplicate for $stream {
            fn duplicate(&self) -> io::Result<File> {
                #[cfg(unix)]
                let owned = std::os::fd::AsFd::as_fd(self).try_clone_to_owned();
                #[cfg(windows)]
                let owned = std::os::windows::io::AsHandle::as_handle(self).try_clone_to_owned();
                owned.map(File::from)
            }
        }
    )*};
}

duplicate!(Stdin, Stdout, Stderr);
