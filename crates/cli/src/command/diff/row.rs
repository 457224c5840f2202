//! A difference, as a line or as JSON.

use serde_json::{Value, json};

use crate::place::input::Source;
use crate::tell::clock::Clock;
use crate::tell::progress::amount;
use crate::tell::shown::bytes;
use deadpan_disk::{About, FileKind};
use deadpan_pack::{Differs, Entry, Kind, Time};

/// One of the two things that are compared.
pub struct Side {
    kind: &'static str,
    /// The number of bytes, if it is known.
    size: Option<u64>,
    mode: Option<u32>,
    pub modified: Option<Time>,
}

impl Side {
    pub fn of_entry(entry: &Entry) -> Self {
        let kind = match entry.kind {
            Kind::Folder => "folder",
            Kind::SymbolicLink => "symlink",
            _ => "file",
        };
        Self { kind, size: Some(entry.size), mode: Some(entry.mode), modified: Some(entry.modified) }
    }

    pub fn of_about(about: &About) -> Self {
        let kind = match about.kind {
            FileKind::Folder => "folder",
            FileKind::Link => "symlink",
            FileKind::File => "file",
            _ => "special file",
        };
        let (seconds, nanoseconds) = about.modified;
        let size = Some(if about.is_file() { about.length } else { 0 });
        Self { kind, size, mode: Some(about.mode), modified: Some(Time { seconds, nanoseconds }) }
    }

    pub fn of_file(size: Option<u64>, mode: Option<u32>, modified: Option<Time>) -> Self {
        Self { kind: "file", size, mode, modified }
    }

    pub fn of_folder() -> Self {
        Self { kind: "folder", size: Some(0), mode: None, modified: None }
    }

    fn json(&self) -> Value {
        json!({
            "kind": self.kind,
            "size": self.size,
            "mode": self.mode.map(|mode| format!("{mode:04o}")),
            "modified": self.modified.map(|time| Clock::at(time).exact().to_string()),
        })
    }
}

/// A path with a difference.
pub struct DiffRow<'a> {
    /// The path below the root; empty for the root itself, and `None` for a single file.
    pub path: Option<&'a [u8]>,
    /// What differs; `None` if only the sealed file is older than the last change of the file.
    pub differs: Option<Differs>,
    pub packed: Option<Side>,
    pub found: Option<Side>,
}

impl DiffRow<'_> {
    /// Returns a line: what differs, the path, and how it differs.
    pub fn text(&self, source: &Source) -> String {
        let name = match self.path {
            None => source.shown(),
            Some([]) => ".".into(),
            Some(path) => bytes(path),
        };
        let is_folder = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.kind == "folder");
        let slash = match self.differs {
            Some(Differs::Added) if is_folder(&self.found) => "/",
            Some(Differs::Removed) if is_folder(&self.packed) => "/",
            _ => "",
        };
        let how = match (&self.packed, &self.found) {
            (Some(packed), Some(found)) => format!(": {}", self.how(packed, found)),
            _ => String::new(),
        };
        format!("{:<8} {name}{slash}{how}\n", self.word())
    }

    fn word(&self) -> &'static str {
        let mode = |side: &Option<Side>| side.as_ref().map(|side| side.mode);
        match self.differs {
            None => "older",
            Some(Differs::Added) => "added",
            Some(Differs::Removed) => "removed",
            Some(Differs::Kind | Differs::Contents) => "changed",
            Some(Differs::Attributes) if mode(&self.packed) == mode(&self.found) => "time",
            Some(Differs::Attributes) => "mode",
        }
    }

    fn how(&self, packed: &Side, found: &Side) -> String {
        let mode = |side: &Side| side.mode.map_or("none".into(), |mode| format!("{mode:03o}"));
        let Some(differs) = self.differs else { return "it was changed after it was sealed".into() };
        match differs {
            Differs::Kind => format!("a {} became a {}", packed.kind, found.kind),
            Differs::Contents if packed.kind == "symlink" => "it has another target".into(),
            Differs::Contents if packed.size != found.size => {
                let sizes = [packed, found].map(|side| side.size.unwrap_or_default());
                let amounts = sizes.map(amount);
                if amounts[0] == amounts[1] {
                    format!("{} -> {} bytes", sizes[0], sizes[1])
                } else {
                    amounts.join(" -> ")
                }
            }
            Differs::Attributes if packed.mode != found.mode => format!("{} -> {}", mode(packed), mode(found)),
            Differs::Contents if packed.modified.is_none() || packed.modified == found.modified => {
                "it has other contents of the same size".into()
            }
            _ => {
                let times = [packed, found].map(|side| side.modified.unwrap_or_default());
                let local = times.map(|time| Clock::local(time).to_string());
                if local[0] == local[1] {
                    times.map(|time| Clock::at(time).exact().to_string()).join(" -> ")
                } else {
                    local.join(" -> ")
                }
            }
        }
    }

    pub fn json(&self) -> Value {
        let differs = match self.differs {
            None => "older",
            Some(Differs::Added) => "added",
            Some(Differs::Removed) => "removed",
            Some(Differs::Kind) => "kind",
            Some(Differs::Contents) => "contents",
            Some(Differs::Attributes) => "attributes",
        };
        json!({
            "schema": 1,
            "command": "diff",
            "differs": differs,
            "packed": self.packed.as_ref().map(Side::json),
            "found": self.found.as_ref().map(Side::json),
        })
    }
}
