//! Standard error: messages for people.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::tell::names::json_text;
use crate::tell::progress::without_bar;
use crate::tell::shown::guarded;

/// Whether the user wants only errors.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Stops the output of notes, summaries and progress.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a line for people to standard error, unless the user wants only errors. A closed standard error is not an
/// error.
pub fn say(line: &str) {
    if !is_quiet() {
        complain(line);
    }
}

/// Writes a line about a failure or a danger to standard error.
pub fn complain(line: &str) {
    write(&guarded(line, false));
}

pub fn say_json(value: &Value) {
    write(&json_text(value));
}

fn write(line: &str) {
    #[expect(clippy::disallowed_methods, reason = "the line is escaped")]
    let _ = without_bar(|| writeln!(io::stderr().lock(), "{line}"));
}
