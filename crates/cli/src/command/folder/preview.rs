//! Shows what would go into a pack.

use std::path::Path;

use serde_json::{Map, json};

use super::{failed, outcome, tell};
use crate::place::output::Place;
use crate::place::report::Done;
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::names::{joined, put_name};
use crate::tell::progress::amount;
use crate::tell::shown::{bytes, count};
use crate::tell::streams::{print, print_json};
use deadpan_disk::portable::OsStrExt;
use deadpan_pack::{Entry, Kind, Packer, Rules};

/// How much text is collected before it is written.
const PAGE: usize = 64 << 10;

/// Prints what would go into the output of a command.
pub struct Preview<'a> {
    command: &'static str,
    as_json: bool,
    place: &'a Place,
    text: String,
    entries: u64,
    size: u64,
}

impl<'a> Preview<'a> {
    pub fn new(command: &'static str, as_json: bool, place: &'a Place) -> Self {
        Self { command, as_json, place, text: String::new(), entries: 0, size: 0 }
    }

    /// Prints the entries of a pack. `root` is the name of its root.
    pub fn pack(&mut self, root: &[u8], packer: &mut Packer) -> Result<(), Failure> {
        while let Some(entry) = packer.preview().map_err(|error| failed(&bytes(root), error))? {
            let path = if entry.path.is_empty() { root.to_vec() } else { [root, b"/", &entry.path].concat() };
            self.entry(root, &path, &entry)?;
        }
        Ok(())
    }

    /// Prints a file that is not packed.
    pub fn file(&mut self, path: &Path, size: Option<u64>) -> Result<(), Failure> {
        self.line(path.as_os_str().as_bytes(), "file", size, None)
    }

    fn entry(&mut self, root: &[u8], path: &[u8], entry: &Entry) -> Result<(), Failure> {
        let kind = match entry.kind {
            Kind::Folder => "folder",
            Kind::SymbolicLink => "symbolic link",
            Kind::HardLink => "hard link",
            _ => "file",
        };
        let target = match (&entry.target, entry.kind) {
            (Some(target), Kind::HardLink) => Some([root, b"/", target].concat()),
            (target, _) => target.clone(),
        };
        self.line(path, kind, Some(entry.size), target.as_deref())
    }

    fn line(&mut self, path: &[u8], kind: &str, size: Option<u64>, target: Option<&[u8]>) -> Result<(), Failure> {
        self.entries += 1;
        self.size += size.unwrap_or_default();
        if self.as_json {
            let mut object = Map::new();
            put_name(&mut object, "path", Some(path));
            put_name(&mut object, "target", target);
            let fields = json!({ "schema": 1, "command": self.command, "state": "would", "type": kind, "size": size });
            return print_json(&joined(object, fields));
        }
        let size = size.map_or("?".to_owned(), |size| size.to_string());
        let slash = if kind == "folder" { "/" } else { "" };
        let sign = if kind == "hard link" { "=" } else { "->" };
        let target = target.map_or(String::new(), |target| format!(" {sign} {}", bytes(target)));
        self.text.push_str(&format!("{size:>12} {}{slash}{target}\n", bytes(path)));
        if self.text.len() >= PAGE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        print(&std::mem::take(&mut self.text))
    }

    /// Returns the result of looking at a pack: the notes, and the failures with `--keep-going`.
    pub fn end(&mut self, name: &str, packer: &Packer, rules: &Rules) -> Result<Done, Failure> {
        let mut done = outcome(name, &packer.notes());
        tell(&mut done, rules, packer);
        self.sum()?;
        Ok(done)
    }

    /// Prints the sum.
    pub fn sum(&mut self) -> Result<(), Failure> {
        self.flush()?;
        if self.as_json {
            let mut object = Map::new();
            put_name(&mut object, "output", self.place.path().map(|path| path.as_os_str().as_bytes()));
            let fields = json!({
                "schema": 1,
                "command": self.command,
                "summary": true,
                "entries": self.entries,
                "bytes": self.size,
            });
            return print_json(&joined(object, fields));
        }
        let entries = count(self.entries, "entry", "entries");
        say(&format!("{}: {entries} ({}) would go into {}", self.command, amount(self.size), self.place.shown()));
        Ok(())
    }
}
