//! Reports the result for each file as a line of text, or as a JSON object for scripts.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::place::input::Source;
use crate::place::output::Place;
use crate::tell::console::{say, say_json};
use crate::tell::failure::{Exit, Failure};
use crate::tell::names::{joined, put_name};
use crate::tell::streams::print_json;
use deadpan_disk::portable::OsStrExt;

/// The result for a file.
#[derive(Debug, Default)]
pub struct Done {
    /// The output; `None` if nothing was written.
    pub output: Option<Place>,
    /// The number of bytes of plain data.
    pub bytes: u64,
    /// A remark for the line of text: `whole and unchanged`.
    pub remark: Option<String>,
    /// The name of the default key, if it is used because no recipient was named.
    pub default_key: Option<String>,
    /// The failures of entries, with `--keep-going`. Their notes are printed even if the user wants only errors.
    pub failures: Vec<Failure>,
    /// The notes that belong to no failure.
    pub notes: Vec<String>,
    /// The exit code. The code is not [`Exit::Done`] if some of the work failed.
    pub exit: Exit,
    /// More fields for the JSON object.
    pub more: Map<String, Value>,
}

/// The results so far.
pub struct Report {
    command: &'static str,
    json: bool,
    /// Whether JSON goes to standard error, because standard output carries data.
    aside: bool,
    talks: bool,
    /// Whether the command only shows what it would do, so that there are no results to report.
    rehearses: bool,
    worst: Exit,
    broken: bool,
    /// Whether a hint is printed only if it differs from the previous hint.
    hints_once: bool,
    hint: Option<String>,
}

impl Report {
    /// Starts a report on this number of files. Messages about success are printed if standard error is a terminal or
    /// there are several files.
    pub fn new(command: &'static str, json: bool, files: usize) -> Self {
        Self {
            command,
            json,
            aside: false,
            talks: files > 1 || io::stderr().is_terminal(),
            rehearses: false,
            worst: Exit::Done,
            broken: false,
            hints_once: false,
            hint: None,
        }
    }

    /// If `aside` is set, sends JSON to standard error, because data then go to standard output.
    pub fn aside(mut self, aside: bool) -> Self {
        self.aside = aside;
        self
    }

    /// Reports only failures and notes, because the command itself shows what it would do.
    pub fn rehearsing(mut self) -> Self {
        (self.rehearses, self.talks) = (true, false);
        self
    }

    /// Prints no text on successes.
    pub fn quiet(mut self) -> Self {
        self.talks = false;
        self
    }

    /// Does not print a hint that equals the previous hint, since a report on thousands of objects can repeat the same
    /// hint.
    pub fn hinting_once(mut self) -> Self {
        self.hints_once = true;
        self
    }

    /// Prints text on each success.
    pub fn talking(mut self) -> Self {
        self.talks = true;
        self
    }

    /// Counts and reports the result for `source`.
    pub fn add(&mut self, source: &Source, start: Instant, result: &Result<Done, Failure>) {
        self.tell(&source.shown(), Some(source.path().unwrap_or(Path::new("-"))), start, result);
    }

    /// Counts and reports the result of a command without an input.
    pub fn made(&mut self, what: &str, start: Instant, result: &Result<Done, Failure>) {
        self.tell(what, None, start, result);
    }

    fn tell(&mut self, what: &str, file: Option<&Path>, start: Instant, result: &Result<Done, Failure>) {
        match result {
            Ok(done) => {
                self.count(done.exit, false);
                if !self.json {
                    self.say(what, done);
                }
            }
            Err(failure) => {
                self.count(failure.exit, failure.quiet);
                if !self.json {
                    failure.say_after(self.hint.as_deref());
                    if self.hints_once {
                        self.hint.clone_from(&failure.hint);
                    }
                }
            }
        }
        let is_told =
            self.rehearses && result.as_ref().is_ok_and(|done| done.failures.is_empty() && done.notes.is_empty());
        if self.json && !is_told {
            let object = Value::Object(object(self.command, file, start, result));
            if self.aside {
                say_json(&object);
            } else if let Err(mut failure) = print_json(&object) {
                self.count(failure.exit, failure.quiet);
                // If the report cannot be printed, the failure contains the place of the result.
                let made = result.as_ref().ok().filter(|done| done.output.is_some());
                failure.notes.extend(made.map(|done| format!("done all the same: {}", line(self.command, what, done))));
                failure.say();
            }
        }
    }

    fn say(&self, what: &str, done: &Done) {
        done.failures.iter().for_each(Failure::say);
        done.notes.iter().for_each(|note| say(&format!("note: {note}")));
        // A name that the sender chose is always printed, since the user cannot know this name.
        if self.talks || matches!(done.output, Some(Place::Sealed(_))) {
            say(&line(self.command, what, done));
        }
    }

    fn count(&mut self, exit: Exit, quiet: bool) {
        self.worst = self.worst.max(exit);
        self.broken |= quiet;
    }

    pub fn worst(&self) -> Exit {
        self.worst
    }

    pub fn exit(self) -> Exit {
        if self.broken {
            crate::tell::signals::die_of_broken_pipe();
        }
        self.worst
    }
}

/// How the failure of a whole command is reported: as text, or as a JSON object like the results.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// The command's name in JSON; `None` for text.
    json: Option<String>,
    /// Whether JSON goes to standard error, because standard output carries data.
    aside: bool,
}

impl Whole {
    /// Returns a `Whole` that reports a failure of `command` as JSON.
    pub fn in_json(command: String, aside: bool) -> Self {
        Self { json: Some(command), aside }
    }

    /// Reports the failure, and returns the exit code of the program.
    pub fn end(&self, failure: &Failure) -> u8 {
        let Some(command) = self.json.as_ref().filter(|_| !failure.quiet && !failure.told) else {
            return failure.end();
        };
        let fields = json!({
            "schema": 1,
            "command": command,
            "error": failure.message,
            "hint": failure.hint,
            "notes": failure.notes,
            "exit": failure.exit as u8,
        });
        if self.aside {
            say_json(&fields);
        } else if let Err(unwritten) = print_json(&fields) {
            failure.say();
            return unwritten.end().max(failure.exit as u8);
        }
        failure.exit as u8
    }
}

/// Returns the JSON object of a file that `list` or `inspect` cannot show.
pub fn failed(command: &str, source: &Source, failure: &Failure) -> Value {
    let fields = json!({
        "schema": 1,
        "command": command,
        "error": failure.message,
        "hint": failure.hint,
        "exit": failure.exit as u8,
    });
    joined(source.fields(), fields)
}

fn line(command: &str, file: &str, done: &Done) -> String {
    let remark = done.remark.as_ref().map_or(String::new(), |remark| format!(" ({remark})"));
    match &done.output {
        Some(output) => format!("{command}: {file} -> {}{remark}", output.shown()),
        None => format!("{command}: {file}{remark}"),
    }
}

fn object(command: &str, file: Option<&Path>, start: Instant, result: &Result<Done, Failure>) -> Map<String, Value> {
    let mut object = result.as_ref().map_or_else(|_| Map::new(), |done| done.more.clone());
    let failures = match result {
        Ok(done) => done.failures.as_slice(),
        Err(failure) => std::slice::from_ref(failure),
    };
    let first = failures.first();
    let mut notes: Vec<_> = first.iter().flat_map(|failure| failure.notes.clone()).collect();
    for other in failures.iter().skip(1) {
        notes.push(format!("failed too: {}", other.message));
        notes.extend(other.notes.iter().cloned());
    }
    let done = result.as_ref().ok();
    notes.extend(done.iter().flat_map(|done| done.notes.clone()));
    let output = done.and_then(|done| done.output.as_ref()).map(|place| place.path().unwrap_or(Path::new("-")));
    let output = output.or_else(|| failures.iter().find_map(|failure| failure.kept.as_deref()));
    put_name(&mut object, "file", file.map(|path| path.as_os_str().as_bytes()));
    put_name(&mut object, "output", output.map(|path| path.as_os_str().as_bytes()));
    for (key, value) in [
        ("schema", json!(1)),
        ("command", json!(command)),
        ("bytes", json!(done.map(|done| done.bytes))),
        ("default_key", json!(done.and_then(|done| done.default_key.as_deref()))),
        ("seconds", json!(start.elapsed().as_secs_f64())),
        ("error", json!(first.map(|failure| failure.message.as_str()))),
        ("hint", json!(first.and_then(|failure| failure.hint.as_deref()))),
        ("notes", json!(notes)),
        ("exit", json!(result.as_ref().map_or_else(|failure| failure.exit, |done| done.exit) as u8)),
    ] {
        object.insert(key.to_owned(), value);
    }
    object
}
