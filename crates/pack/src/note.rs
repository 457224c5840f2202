//! What people should hear about, though it is no failure.

use crate::shown;
use std::fmt;

/// Something about an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its path.
    pub path: Vec<u8>,
    /// What it is.
    pub what: What,
}

/// What there is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// A device, a FIFO or a socket was left out.
    Special,
    /// It was removed while the folder was packed.
    Gone,
    /// It was changed while it was read: what is packed may be neither the old nor the new contents.
    Changed,
    /// It could not be read, and was left out, as was asked for.
    Unreadable(String),
    /// Where it could not be read, zeros were packed, as was asked for.
    Damaged(String),
    /// It was packed without its extended attributes.
    Bare(String),
    /// Another name in its folder differs in case or Unicode form only: where those do not count, one replaces the other.
    Alike,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        match &self.what {
            What::Special => write!(f, "left out {path}: it is a device, a FIFO or a socket"),
            What::Gone => write!(f, "left out {path}: it was removed meanwhile"),
            What::Changed => write!(f, "{path} was changed while it was read"),
            What::Unreadable(why) => write!(f, "left out {path}: {why}"),
            What::Damaged(why) => write!(f, "packed {path} with zeros in place of what cannot be read: {why}"),
            What::Bare(why) => write!(f, "packed {path} without its extended attributes: {why}"),
            What::Alike => write!(f, "{path}: another name there differs in case or Unicode form only, and some systems take them for one"),
        }
    }
}

/// Notes, of which there may be as many as files.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    list: Vec<Note>,
    more: u64,
    incomplete: bool,
}

/// More than these nobody reads.
pub(crate) const LONGEST: usize = 1000;

impl Notes {
    pub(crate) fn add(&mut self, path: &[u8], what: What) {
        self.incomplete |= matches!(what, What::Unreadable(_) | What::Damaged(_) | What::Bare(_));
        if self.list.len() < LONGEST {
            self.list.push(Note { path: path.to_vec(), what });
        } else {
            self.more += 1;
        }
    }

    /// Whether something that should be in the pack is not.
    #[must_use]
    pub fn incomplete(&self) -> bool {
        self.incomplete
    }

    /// The first of them.
    #[must_use]
    pub fn list(&self) -> &[Note] {
        &self.list
    }

    /// How many there are beside these.
    #[must_use]
    pub fn more(&self) -> u64 {
        self.more
    }
}
