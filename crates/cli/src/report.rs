//! What became of each file: a line for people, or a JSON object a line for scripts.

use crate::failure::{Exit, Failure};
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

/// A line on standard error. Where that is closed, nobody wants to know.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Data on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::io("write", "the output", &error))
}

/// A file that was worked on.
#[derive(Debug, Default)]
pub struct Done {
    /// Where the result is; `None` if nowhere.
    pub output: Option<String>,
    /// Bytes of plain data.
    pub bytes: u64,
    /// What else a person should know: `good`, `removed the source`.
    pub remark: Option<String>,
    /// It was done, but not for all of it.
    pub exit: Exit,
}

/// The results so far.
pub struct Report {
    command: &'static str,
    json: bool,
    /// JSON goes to standard error, because standard output carries data.
    aside: bool,
    talks: bool,
    worst: Exit,
    broken: bool,
}

impl Report {
    /// A report on so many files. People hear of a success only where it is news: on a terminal, or among several.
    pub fn new(command: &'static str, json: bool, files: usize) -> Self {
        Self { command, json, aside: false, talks: files > 1 || io::stderr().is_terminal(), worst: Exit::Done, broken: false }
    }

    /// Has JSON written to standard error if data go to standard output.
    pub fn aside(mut self, aside: bool) -> Self {
        self.aside = aside;
        self
    }

    /// Has each success said in words as well.
    pub fn talking(mut self) -> Self {
        self.talks = true;
        self
    }

    /// Counts and tells what became of `file`.
    pub fn add(&mut self, file: &str, start: Instant, result: &Result<Done, Failure>) {
        self.worst = self.worst.max(result.as_ref().map_or(Exit::Done, |done| done.exit));
        match result {
            Ok(done) if !self.json && self.talks => say(&line(self.command, file, done)),
            Ok(_) => {}
            Err(failure) => {
                self.worst = self.worst.max(failure.exit);
                self.broken |= failure.quiet;
                if !self.json {
                    failure.say();
                }
            }
        }
        if self.json {
            let text = object(self.command, file, start, result).to_string();
            // A script that does not read its results still wants the work done.
            let _ = if self.aside { writeln!(io::stderr().lock(), "{text}") } else { writeln!(io::stdout().lock(), "{text}") };
        }
    }

    /// The exit code of the whole.
    pub fn exit(self) -> Exit {
        if self.broken {
            crate::signals::die_of_broken_pipe();
        }
        self.worst
    }
}

fn line(command: &str, file: &str, done: &Done) -> String {
    let remark = done.remark.as_ref().map_or(String::new(), |remark| format!(" ({remark})"));
    match &done.output {
        Some(output) => format!("{command}: {file} -> {output}{remark}"),
        None => format!("{command}: {file}{remark}"),
    }
}

fn object(command: &str, file: &str, start: Instant, result: &Result<Done, Failure>) -> Value {
    let (done, failure) = (result.as_ref().ok(), result.as_ref().err());
    json!({
        "schema": 1,
        "command": command,
        "file": file,
        "output": done.and_then(|done| done.output.as_deref()),
        "bytes": done.map(|done| done.bytes),
        "seconds": start.elapsed().as_secs_f64(),
        "error": failure.map(|failure| failure.message.as_str()),
        "hint": failure.and_then(|failure| failure.hint.as_deref()),
        "notes": failure.map_or(&[][..], |failure| &failure.notes),
        "exit": match result {
            Ok(done) => done.exit,
            Err(failure) => failure.exit,
        } as u8,
    })
}
