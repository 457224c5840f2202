//! The events that a parser reports while it reads an archive.

use std::ops::Range;

use super::oddity::Oddity;
use super::sparse::Map;
use crate::entry::Entry;
use crate::error::Flaw;

/// One event in an archive.
#[derive(Debug)]
pub(crate) enum Event {
    /// An entry. The entry's content follows, if there is any.
    Member(Box<Member>),
    /// An entry that is never unpacked: a device, or a path that leads out of the target. The parser skips its content.
    Refused {
        /// The path exactly as in the archive.
        path: Vec<u8>,
        /// The reason.
        flaw: Flaw,
    },
    /// The map of the last entry, which has holes. The map states where in the file the pieces of content belong. This
    /// event comes before the first piece. Content that holds the map itself may come earlier.
    Map(Map),
    /// A part of the content of the last entry.
    Content {
        /// The offset in the content.
        offset: u64,
        /// The range in the bytes that the caller passed in.
        range: Range<usize>,
    },
    /// The comment of a global header: the marker, a part of the index, or another program's remark.
    Comment {
        /// The offset in the archive.
        offset: u64,
        /// The bytes of the comment.
        bytes: Vec<u8>,
    },
    /// The archive ends before this byte.
    End(u64),
    /// Bytes after the end, as a range in the bytes that the caller passed in.
    Tail(Range<usize>),
    /// An oddity in the archive. The parser reads on.
    Odd(Oddity),
}

/// An entry with all fields of its headers.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The fields that a pack's index also has. The path and the hard link's target have no leading `./` and no
    /// trailing `/`. In a pack, the root is removed too.
    pub(crate) entry: Entry,
    /// The number of the entry's owner.
    pub(crate) uid: u64,
    /// The number of the entry's group.
    pub(crate) gid: u64,
    /// Extended attributes: names and values.
    pub(crate) attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether the entry has an access control list in text form, which is never restored.
    pub(crate) acl: bool,
}
