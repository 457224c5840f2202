//! A line of a listing, for people or for scripts.

use std::fmt::Write;

use serde_json::json;

use crate::tell::clock::Clock;
use crate::tell::names::json_text;
use crate::tell::progress::amount;
use crate::tell::shown;
use deadpan_pack::{Entry, Kind, Time};

/// The form of the times in a listing. With local times, sizes are rounded; otherwise they are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Times to the second, in UTC.
    Utc,
    /// Times to the second, in this machine's time zone, with the offset from UTC.
    Local,
    /// Times to the nanosecond, in UTC.
    Exact,
}

impl Times {
    /// Returns the number of columns that a time takes.
    fn width(self) -> usize {
        match self {
            Self::Utc => 19,
            Self::Local => 25,
            Self::Exact => 30,
        }
    }
}

/// The facts about an entry or about a sealed file. Some facts may be unknown.
pub struct EntryRow<'a> {
    /// The path with the root's name; `None` for a stream without a name.
    pub path: Option<&'a [u8]>,
    pub kind: Kind,
    pub size: u64,
    pub mode: Option<u32>,
    pub modified: Option<Time>,
    /// The target of a link. The target of a hard link begins with the root's name.
    pub target: Option<&'a [u8]>,
    /// The entry of the archive; `None` for a sealed file.
    pub entry: Option<&'a Entry>,
}

impl EntryRow<'_> {
    /// Appends a line in the form of `ls -l`.
    pub fn text(&self, text: &mut String, times: Times) {
        self.permissions(text);
        let _ = match times {
            Times::Local => write!(text, " {:>8} ", amount(self.size)),
            _ => write!(text, " {:>12} ", self.size),
        };
        let _ = match (self.modified, times) {
            (Some(time), Times::Utc) => write!(text, "{} ", Clock::at(time)),
            (Some(time), Times::Local) => write!(text, "{} ", Clock::local(time)),
            (Some(time), Times::Exact) => write!(text, "{} ", Clock::at(time).exact()),
            (None, _) => write!(text, "{:width$} ", "-", width = times.width()),
        };
        match self.path {
            Some(path) => name(text, path),
            None => text.push_str("(no name)"),
        }
        if self.kind == Kind::Folder {
            text.push('/');
        }
        link(text, self.kind, self.target);
        text.push('\n');
    }

    fn permissions(&self, text: &mut String) {
        let Some(mode) = self.mode else { return text.push_str("(no mode) ") };
        text.push(match self.kind {
            Kind::Folder => 'd',
            Kind::SymbolicLink => 'l',
            Kind::HardLink => 'h',
            _ => '-',
        });
        // Each tuple describes a group of three permission bits: its position, its special bit, and the letters for the
        // special bit with and without `x`.
        for (shift, special, letters) in [(6, 0o4000, ['s', 'S']), (3, 0o2000, ['s', 'S']), (0, 0o1000, ['t', 'T'])] {
            let bit = |bit: u32| mode >> shift & bit != 0;
            text.push(if bit(4) { 'r' } else { '-' });
            text.push(if bit(2) { 'w' } else { '-' });
            text.push(match (mode & special != 0, bit(1)) {
                (false, true) => 'x',
                (false, false) => '-',
                (true, runs) => letters[usize::from(!runs)],
            });
        }
    }

    /// Appends a JSON object whose fields are in the order of their names. If a name is not UTF-8, `path_hex` contains
    /// the name, and `path` does not.
    pub fn json(&self, text: &mut String, file: &str) {
        let entry = self.entry;
        let kind = match self.kind {
            Kind::Folder => "folder",
            Kind::SymbolicLink => "symlink",
            Kind::HardLink => "hardlink",
            _ => "file",
        };
        let number = |number: Option<u64>| number.map_or("null".into(), |number| number.to_string());
        let _ = write!(text, "{{\"begin\":{},\"blake3\":", number(entry.map(|entry| entry.begin)));
        match entry.and_then(|entry| entry.hash) {
            Some(hash) => {
                text.push('"');
                hex(text, &hash);
                text.push('"');
            }
            None => text.push_str("null"),
        }
        let _ = write!(
            text,
            ",\"command\":\"list\",\"content\":{},{file},\"kind\":\"{kind}\",\"mode\":",
            number(entry.map(|entry| entry.content))
        );
        let _ = match self.mode {
            Some(mode) => write!(text, "\"{mode:04o}\""),
            None => write!(text, "null"),
        };
        let _ = match self.modified {
            Some(time) => write!(text, ",\"modified\":\"{}\"", Clock::at(time).exact()),
            None => write!(text, ",\"modified\":null"),
        };
        lossless(text, "path", self.path);
        let _ =
            write!(text, ",\"schema\":1,\"size\":{},\"stored\":{}", self.size, number(entry.map(|entry| entry.stored)));
        lossless(text, "target", self.target);
        text.push_str("}\n");
    }
}

/// Appends a name in the field `key` if the name is UTF-8, or else in hexadecimal in the field `key_hex`. Of the fields
/// `key` and `key_hex`, the unused field is null.
fn lossless(text: &mut String, key: &str, name: Option<&[u8]>) {
    match name.map(str::from_utf8) {
        Some(Ok(name)) => {
            let _ = write!(text, ",\"{key}\":{},\"{key}_hex\":null", json_text(&json!(name)));
        }
        Some(Err(_)) => {
            let _ = write!(text, ",\"{key}\":null,\"{key}_hex\":\"");
            hex(text, name.unwrap_or_default());
            text.push('"');
        }
        None => {
            let _ = write!(text, ",\"{key}\":null,\"{key}_hex\":null");
        }
    }
}

fn hex(text: &mut String, bytes: &[u8]) {
    text.extend(
        bytes
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])),
    );
}

/// Appends a name, and escapes all characters that are not plain text.
pub fn name(text: &mut String, name: &[u8]) {
    // Most names are plain ASCII and need no search for hidden characters.
    match str::from_utf8(name) {
        Ok(plain) if name.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\') => text.push_str(plain),
        _ => text.push_str(&shown::bytes(name)),
    }
}

/// Appends the target of a link.
pub fn link(text: &mut String, kind: Kind, target: Option<&[u8]>) {
    let Some(target) = target else { return };
    text.push_str(if kind == Kind::HardLink { " = " } else { " -> " });
    name(text, target);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_not_known_takes_as_many_columns_as_others() {
        for times in [Times::Utc, Times::Local, Times::Exact] {
            let line = |modified| {
                let row =
                    EntryRow { path: None, kind: Kind::File, size: 0, mode: None, modified, target: None, entry: None };
                let mut text = String::new();
                row.text(&mut text, times);
                text.find("(no name)").unwrap()
            };
            assert_eq!(line(None), line(Some(Time { seconds: 981_173_106, nanoseconds: 7 })), "{times:?}");
        }
    }

    #[test]
    fn permissions_as_ls_has_them() {
        let cases = [
            (Kind::File, 0o644, "-rw-r--r--"),
            (Kind::Folder, 0o1777, "drwxrwxrwt"),
            (Kind::Folder, 0o1776, "drwxrwxrwT"),
            (Kind::Sparse, 0o4755, "-rwsr-xr-x"),
            (Kind::HardLink, 0o6644, "hrwSr-Sr--"),
            (Kind::SymbolicLink, 0, "l---------"),
        ];
        for (kind, mode, shown) in cases {
            let row =
                EntryRow { path: None, kind, size: 0, mode: Some(mode), modified: None, target: None, entry: None };
            let mut text = String::new();
            row.permissions(&mut text);
            assert_eq!(text, shown);
        }
    }
}
