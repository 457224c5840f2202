//! The events that a parser reports while it reads an archive.

use std::ops::Range;

use super::oddity::Oddity;
use super::sparse::Map;
use crate::entry::Entry;
use crate::error::Flaw;

/// One event in an archive.
#[derive(Debug)]
pub(crate) enum Event {
    /// An entry. The content of the entry follows, if there is any.
    Member(Box<Member>),
    /// An entry that is never unpacked, because it is a device or its path leads out of the target. The parser skips
    /// its content.
    Refused {
        /// The path exactly as in the archive.
        path: Vec<u8>,
        /// The reason.
        flaw: Flaw,
    },
    /// The map of the last entry, which has holes. The map states where in the file the pieces of content belong. This
    /// event comes before the first piece of data. If the map is stored at the beginning of the content, the bytes of
    /// the map may be reported as content before this event.
    Map(Map),
    /// A part of the content of the last entry.
    Content {
        /// The offset in the content.
        offset: u64,
        /// The range of the caller's bytes that contains this part of the content.
        range: Range<usize>,
    },
    /// The comment of a global header: the marker of a pack, a part of the index, or a comment of another program.
    Comment {
        /// The offset in the archive.
        offset: u64,
        /// The bytes of the comment.
        bytes: Vec<u8>,
    },
    /// The archive goes on at this byte, although blocks of zeros ended it. Only a lenient parser reports this.
    GoesOn(u64),
    /// The archive ends before this byte.
    End(u64),
    /// Bytes after the end of the archive, as a range in the caller's bytes.
    Tail(Range<usize>),
    /// An oddity in the archive. The parser reads on.
    Odd(Oddity),
}

/// An entry with all fields of its headers.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The fields that are also stored in the index of a pack. The path and the hard link's target have no leading `./`
    /// and no trailing `/`. In a pack, the root is removed too.
    pub(crate) entry: Entry,
    /// The number of the entry's owner.
    pub(crate) uid: u64,
    /// The number of the entry's group.
    pub(crate) gid: u64,
    /// The extended attributes, each as a name and a value.
    pub(crate) attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether the entry has an access control list in text form, which is never restored.
    pub(crate) acl: bool,
}
