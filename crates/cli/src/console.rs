//! Standard error: messages for people.

use std::io::{self, Write};

use crate::progress::without_bar;

/// Writes a line to standard error. A closed standard error is not an error.
pub fn say(line: &str) {
    let _ = without_bar(|| writeln!(io::stderr().lock(), "{line}"));
}
