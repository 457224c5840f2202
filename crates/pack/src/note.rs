//! Notes: facts about entries that are not failures.

use std::fmt;

use crate::shown::shown;
use deadpan_sieve::Heed;

/// A fact about an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The entry's path.
    pub path: Vec<u8>,
    /// The fact.
    pub what: What,
}

/// A fact about an entry, without its path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The entry was skipped: it is a device, a FIFO or a socket.
    Special,
    /// The file was skipped: it is the output of the packing.
    Output,
    /// The folder was skipped: it belongs to the system, such as `/proc`.
    System,
    /// The entry is on another file system, and the caller asked to stay on one: a folder was packed without its
    /// contents, and a file was skipped.
    Mounted,
    /// The file with patterns was not used: it is a link, a folder, or something else that is no file.
    UnusedPatterns,
    /// The file with patterns was not used, because it could not be read and the caller asked to keep going. Holds the
    /// reason.
    UnreadPatterns(String),
    /// The entry was skipped: it was removed while the folder was packed.
    Gone,
    /// The file changed while it was read. The file changed while it was packed: its packed contents may be a mixture
    /// of the old and the new contents.
    Changed,
    /// The entry was skipped, because it could not be read and the caller asked to keep going. Holds the reason.
    Unreadable(String),
    /// The file became shorter while it was read. Zeros were packed in place of the missing part, because the caller
    /// asked to keep going.
    Shrank,
    /// Zeros were packed where the file could not be read, because the caller asked to keep going. Holds the reason.
    Damaged(String),
    /// The entry was packed without its extended attributes. Holds the reason.
    Bare(String),
    /// The entry has an access control list that was not packed, because extended attributes were not requested.
    AccessList,
    /// Another name in the same folder differs only in case or Unicode form. Some systems treat the two names as equal,
    /// and keep only one of the two files.
    Alike,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        match &self.what {
            What::Special => write!(f, "left out {path}: it is a device, a FIFO or a socket"),
            What::Output => write!(f, "left out {path}: the result goes there"),
            What::System => f.write_str(&Heed::System.text(&path)),
            What::Mounted => f.write_str(&Heed::Mounted.text(&path)),
            What::UnusedPatterns => f.write_str(&Heed::NoFile.text(&path)),
            What::UnreadPatterns(why) => write!(f, "did not use the patterns in {path}: {why}"),
            What::Gone => write!(f, "left out {path}: it was removed while the folder was packed"),
            What::Changed => write!(f, "{path} was changed while it was read"),
            What::Unreadable(why) => write!(f, "left out {path}: {why}"),
            What::Shrank => {
                write!(f, "{path} became shorter while it was read: zeros were packed for the missing part")
            }
            What::Damaged(why) => write!(f, "packed {path} with zeros in place of what cannot be read: {why}"),
            What::Bare(why) => write!(f, "packed {path} without its extended attributes: {why}"),
            What::AccessList => write!(
                f,
                "packed {path} without its access control list: its group permissions are the mask of that list"
            ),
            What::Alike => write!(
                f,
                "{path} differs from another name in its folder in case or accents only: not every system can have both"
            ),
        }
    }
}

impl Note {
    /// Whether the note names something that is missing in the pack, because a file could not be read or became
    /// shorter.
    #[must_use]
    pub fn is_of_missing(&self) -> bool {
        matches!(
            self.what,
            What::Unreadable(_) | What::UnreadPatterns(_) | What::Shrank | What::Damaged(_) | What::Bare(_)
        )
    }
}

/// The notes on a packing: the first thousand notes on what is missing, the first thousand other notes, and the numbers
/// of further notes.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    list: Vec<Note>,
    missing: u64,
    others: u64,
}

/// The maximum number of notes of each kind that are kept. There may be a note on every file.
pub(crate) const LONGEST: usize = 1000;

impl Notes {
    pub(crate) fn add(&mut self, path: &[u8], what: What) {
        let note = Note { path: path.to_vec(), what };
        let count = if note.is_of_missing() { &mut self.missing } else { &mut self.others };
        if *count < LONGEST as u64 {
            self.list.push(note);
        }
        *count += 1;
    }

    /// Whether an entry is missing or incomplete in the pack, because a file could not be read or became shorter.
    #[must_use]
    pub fn incomplete(&self) -> bool {
        self.missing > 0
    }

    /// The notes that were kept.
    #[must_use]
    pub fn list(&self) -> &[Note] {
        &self.list
    }

    /// The number of notes on what is missing that were not kept.
    #[must_use]
    pub fn more_missing(&self) -> u64 {
        self.missing.saturating_sub(LONGEST as u64)
    }

    /// The number of other notes that were not kept.
    #[must_use]
    pub fn more(&self) -> u64 {
        self.others.saturating_sub(LONGEST as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_other_notes_do_not_hide_what_is_missing() {
        let mut notes = Notes::default();
        for _ in 0..LONGEST + 2 {
            notes.add(b"fifo", What::Special);
        }
        assert!(!notes.incomplete());
        notes.add(b"file", What::Shrank);
        assert!(notes.incomplete() && notes.list()[LONGEST].is_of_missing());
        assert_eq!((notes.list().len(), notes.more(), notes.more_missing()), (LONGEST + 1, 2, 0));
        (0..LONGEST).for_each(|_| notes.add(b"file", What::Shrank));
        assert_eq!((notes.list().len(), notes.more(), notes.more_missing()), (2 * LONGEST, 2, 1));
    }
}
