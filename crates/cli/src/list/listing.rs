//! The listing of one file, as it grows.

use super::row::Row;
use super::tree::Tree;
use crate::failure::Failure;
use crate::report::say;
use deadpan_pack::{Entry, Error, Kind, shown};
use serde_json::json;
use std::io::{self, IsTerminal, Write};

/// Text that is written at once.
const ENOUGH: usize = 1 << 16;

/// How entries are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Json,
    Tree,
}

/// Why a listing ended early.
#[derive(Debug)]
pub enum Ended {
    /// This file cannot be listed, but others may.
    Input(Failure),
    /// Nothing can be written any more.
    Output(Failure),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Input(failure)
    }
}

/// The listing of one file. What was shown and not yet written is written when it ends, and when it is dropped because of an error.
pub struct Listing<'a> {
    form: Form,
    file: &'a str,
    /// The same in JSON.
    quoted: String,
    text: String,
    tree: Tree,
    /// The root's name and a slash, then the path of the entry that is shown.
    path: Vec<u8>,
    target: Vec<u8>,
    root: usize,
    totals: Totals,
}

#[derive(Default)]
struct Totals {
    files: u64,
    folders: u64,
    links: u64,
    bytes: u64,
}

impl<'a> Listing<'a> {
    pub fn new(form: Form, file: &'a str) -> Self {
        let quoted = json!(file).to_string();
        let (text, path, target) = (String::with_capacity(2 * ENOUGH), Vec::new(), Vec::new());
        Self { form, file, quoted, text, tree: Tree::new(), path, target, root: 0, totals: Totals::default() }
    }

    pub fn file(&self) -> &'a str {
        self.file
    }

    /// Shows what follows under this root, if it has a name.
    pub fn under(&mut self, root: &[u8]) {
        if self.root != root.len() {
            self.path = root.to_vec();
            self.target = root.to_vec();
            self.root = root.len();
        }
    }

    pub fn entry(&mut self, entry: &Entry) -> Result<(), Ended> {
        let (mut path, mut target) = (std::mem::take(&mut self.path), std::mem::take(&mut self.target));
        self.join(&mut path, &entry.path);
        let shown = match (&entry.target, entry.kind) {
            (Some(inner), Kind::HardLink) => {
                self.join(&mut target, inner);
                Some(&target[..])
            }
            (other, _) => other.as_deref(),
        };
        let (kind, size, mode, modified) = (entry.kind, entry.size, Some(entry.mode), Some(entry.modified));
        let done = self.row(&Row { path: Some(&path), kind, size, mode, modified, target: shown, entry: Some(entry) });
        (self.path, self.target) = (path, target);
        done
    }

    /// The path of an entry below the root.
    fn join(&self, path: &mut Vec<u8>, inner: &[u8]) {
        path.truncate(self.root);
        if self.root > 0 && !inner.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(inner);
        // The root of another maker's archive.
        if path.is_empty() {
            path.push(b'.');
        }
    }

    pub fn row(&mut self, row: &Row<'_>) -> Result<(), Ended> {
        let totals = &mut self.totals;
        match row.kind {
            Kind::Folder => totals.folders += 1,
            Kind::SymbolicLink | Kind::HardLink => totals.links += 1,
            _ => {
                totals.files += 1;
                totals.bytes = totals.bytes.saturating_add(row.size);
            }
        }
        match self.form {
            Form::Text => row.text(&mut self.text),
            Form::Json => row.json(&mut self.text, &self.quoted),
            Form::Tree => self.tree.add(row),
        }
        if self.text.len() >= ENOUGH { self.flush() } else { Ok(()) }
    }

    /// Something that is in the archive and never unpacked.
    pub fn refused(&mut self, path: &[u8], why: &Error) -> Result<(), Ended> {
        let why = why.to_string();
        let why = why.lines().next().unwrap_or_default();
        if self.form == Form::Json {
            let line = json!({ "schema": 1, "command": "list", "file": self.file, "path": shown(path), "kind": null, "error": why });
            self.text.push_str(&format!("{line}\n"));
            return Ok(());
        }
        self.flush()?;
        say(&format!("note: {}: {why}; it would not be unpacked", self.file));
        Ok(())
    }

    /// Writes the rest, and on a terminal a sum.
    pub fn end(mut self) -> Result<(), Ended> {
        if self.form == Form::Tree {
            let tree = std::mem::take(&mut self.tree);
            let mut output = io::BufWriter::with_capacity(ENOUGH, io::stdout().lock());
            tree.draw(&mut output).and_then(|()| output.flush()).map_err(unwritten)?;
        }
        self.flush()?;
        if self.form != Form::Json && io::stdout().is_terminal() {
            let Totals { files, folders, links, bytes } = self.totals;
            say(&format!("{files} files, {folders} folders, {links} links, {bytes} bytes"));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Ended> {
        let mut output = io::stdout().lock();
        let written = output.write_all(self.text.as_bytes()).and_then(|()| output.flush());
        self.text.clear();
        written.map_err(unwritten)
    }
}

impl Drop for Listing<'_> {
    fn drop(&mut self) {
        // An error follows, and is what is told.
        let _ = self.flush();
    }
}

fn unwritten(error: io::Error) -> Ended {
    Ended::Output(Failure::io("write", "the output", &error))
}

/// A file that cannot be listed, in JSON.
pub fn failed(file: &str, failure: &Failure) -> String {
    let line = json!({
        "schema": 1,
        "command": "list",
        "file": file,
        "error": failure.message,
        "hint": failure.hint,
        "exit": failure.exit as u8,
    });
    format!("{line}\n")
}
