//! The index behind a pack: its parts, their table, the trailer.

pub(crate) mod form;
mod part;
mod table;
pub(crate) mod varint;
pub(crate) mod write;

pub(crate) use part::Records;
pub(crate) use table::{MARKER, Table, fill};

/// How the index is damaged, for people.
pub(crate) fn damaged(what: &str) -> crate::Error {
    crate::Error::Archive {
        what: format!("the index of the archive is damaged: {what}"),
        hint: "the archive was changed or cut short; get it again",
    }
}
