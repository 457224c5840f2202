//! The listing of one file.

use std::io::{self, IsTerminal, Write};

use serde_json::{Map, Value, json};

use super::row::{EntryRow, Times};
use super::tree::{Drawing, EntryTree, Shape};
use crate::place::input::Source;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::names::{joined, json_text, put_name};
use crate::tell::shown::count;
use crate::tell::streams;
use deadpan_pack::{Entry, Flaw, Kind, most_implied};

/// The number of bytes that the listing collects before it writes them.
const ENOUGH: usize = 1 << 16;

/// The form of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListForm {
    Text,
    Json,
    Tree,
}

/// The reason why a listing ended early.
#[derive(Debug)]
pub enum Ended {
    /// This file cannot be listed. The other files are still listed.
    Input(Failure),
    /// Standard output cannot be written to, so nothing more can be listed.
    Output(Failure),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Input(failure)
    }
}

/// The listing of one file. `end` writes the remaining text. If the listing is dropped after an error, `drop` writes
/// the remaining text.
pub struct Listing<'a> {
    form: ListForm,
    times: Times,
    file: &'a str,
    /// The fields of a JSON object that contain the name of the file.
    fields: Map<String, Value>,
    /// The fields in `fields` as text.
    quoted: String,
    text: String,
    tree: EntryTree,
    /// The root's name, a slash, and the path of the current entry.
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
    /// The position in the archive at which the content of the last entry begins.
    archive: u64,
}

impl<'a> Listing<'a> {
    pub fn new(form: ListForm, exact: bool, file: &'a str, source: &Source) -> Self {
        // On a terminal, times are local, because people read them. Elsewhere, times are in UTC, because scripts
        // compare listings.
        let times = match (exact, io::stdout().is_terminal()) {
            (true, _) => Times::Exact,
            (false, true) => Times::Local,
            (false, false) => Times::Utc,
        };
        let fields = source.fields();
        let quoted = json_text(&Value::Object(fields.clone())).trim_matches(['{', '}']).to_owned();
        let (text, path, target) = (String::with_capacity(2 * ENOUGH), Vec::new(), Vec::new());
        let (tree, totals) = (EntryTree::new(), Totals::default());
        Self { form, times, file, fields, quoted, text, tree, path, target, root: 0, totals }
    }

    pub fn file(&self) -> &'a str {
        self.file
    }

    /// Sets the name of the root. The listing puts this name before the paths of the next entries.
    pub fn under(&mut self, root: &[u8]) {
        if self.root != root.len() {
            self.path = root.to_vec();
            self.target = root.to_vec();
            self.root = root.len();
        }
    }

    /// Begins the first of two passes over sorted entries. Returns whether the listing needs two passes.
    pub fn measure(&mut self) -> bool {
        if self.form == ListForm::Tree {
            self.tree = EntryTree::Measured(Shape::default());
        }
        self.form == ListForm::Tree
    }

    /// Begins the second pass.
    pub fn draw(&mut self) {
        if let EntryTree::Measured(shape) = &mut self.tree {
            self.tree = EntryTree::Drawn(Drawing::new(std::mem::take(shape)));
            self.totals = Totals::default();
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
        let done =
            self.row(&EntryRow { path: Some(&path), kind, size, mode, modified, target: shown, entry: Some(entry) });
        (self.path, self.target) = (path, target);
        done
    }

    /// Writes the path of an entry, with the root's name, to `path`.
    fn join(&self, path: &mut Vec<u8>, inner: &[u8]) {
        path.truncate(self.root);
        if self.root > 0 && !inner.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(inner);
        // The root has no name in some archives of other programs.
        if path.is_empty() {
            path.push(b'.');
        }
    }

    pub fn row(&mut self, row: &EntryRow<'_>) -> Result<(), Ended> {
        let totals = &mut self.totals;
        totals.archive = totals.archive.max(row.entry.map_or(0, |entry| entry.content));
        match row.kind {
            Kind::Folder => totals.folders += 1,
            Kind::SymbolicLink | Kind::HardLink => totals.links += 1,
            _ => {
                totals.files += 1;
                totals.bytes = totals.bytes.saturating_add(row.size);
            }
        }
        match self.form {
            ListForm::Text => row.text(&mut self.text, self.times),
            ListForm::Json => row.json(&mut self.text, &self.quoted),
            ListForm::Tree => self.tree.add(row, &mut self.text),
        }
        if self.text.len() >= ENOUGH { self.flush() } else { Ok(()) }
    }

    /// Adds an entry that the program refuses to unpack.
    pub fn refused(&mut self, path: &[u8], flaw: &Flaw) -> Result<(), Ended> {
        let why = flaw.to_string();
        if self.form == ListForm::Json {
            let mut line = self.fields.clone();
            put_name(&mut line, "path", Some(path));
            let rest = json!({ "schema": 1, "command": "list", "kind": null, "error": why });
            self.text.push_str(&(json_text(&joined(line, rest)) + "\n"));
            return Ok(());
        }
        self.flush()?;
        say(&format!("note: {}: {why}; it would not be unpacked", self.file));
        Ok(())
    }

    pub fn note(&mut self, note: &str) -> Result<(), Ended> {
        self.flush()?;
        say(&format!("note: {}: {note}", self.file));
        Ok(())
    }

    /// Writes the rest of the text. On a terminal, also writes the totals.
    pub fn end(mut self) -> Result<(), Ended> {
        if let (ListForm::Tree, EntryTree::Collected(leaves)) = (self.form, &mut self.tree) {
            let shape = leaves.shape();
            let (implied, most) = (shape.implied(), most_implied(self.totals.archive));
            if implied > most {
                let message = format!(
                    "{}: the paths in the archive name {implied} folders that have no entry, and an archive of its \
                     size may have at most {most}",
                    self.file
                );
                return Err(Failure::new(Exit::Data, message, "list it without --tree").into());
            }
            #[expect(clippy::disallowed_methods, reason = "names are escaped")]
            let mut output = io::BufWriter::with_capacity(ENOUGH, io::stdout().lock());
            leaves.draw(shape, &mut output).and_then(|()| output.flush()).map_err(unwritten)?;
        }
        self.flush()?;
        if self.form != ListForm::Json && io::stdout().is_terminal() {
            let Totals { files, folders, links, bytes, .. } = self.totals;
            let [files, folders, links, bytes] =
                [(files, "file"), (folders, "folder"), (links, "link"), (bytes, "byte")]
                    .map(|(number, one)| count(number, one, &format!("{one}s")));
            say(&format!("{files}, {folders}, {links}, {bytes}"));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Ended> {
        streams::check_stdout().map_err(Ended::Output)?;
        #[expect(clippy::disallowed_methods, reason = "names are escaped, in json too")]
        let mut output = io::stdout().lock();
        let written = output.write_all(self.text.as_bytes()).and_then(|()| output.flush());
        self.text.clear();
        written.map_err(unwritten)
    }
}

impl Drop for Listing<'_> {
    fn drop(&mut self) {
        // The listing ended with an error that the caller reports, so a further error in `drop` is ignored.
        let _ = self.flush();
    }
}

fn unwritten(error: io::Error) -> Ended {
    Ended::Output(streams::unwritten(&error))
}
