//! Standard error: messages for people.

use std::io::{self, Write};

use serde_json::Value;

use crate::names::json_text;
use crate::progress::without_bar;
use crate::shown::guarded;

/// Writes a line for people to standard error. A closed standard error is not an error.
pub fn say(line: &str) {
    write(&guarded(line, false));
}

/// Writes a JSON object to standard error.
pub fn say_json(value: &Value) {
    write(&json_text(value));
}

fn write(line: &str) {
    #[expect(clippy::disallowed_methods, reason = "the line is escaped")]
    let _ = without_bar(|| writeln!(io::stderr().lock(), "{line}"));
}
