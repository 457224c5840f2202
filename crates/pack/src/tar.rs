//! Tar archives, which consist of blocks of 512 bytes.

mod event;
pub(crate) mod form;
mod header;
mod number;
mod oddity;
mod parse;
pub(crate) mod path;
mod pax;
mod sparse;
pub(crate) mod write;

pub(crate) use event::{Event, Member};
pub(crate) use oddity::Oddity;
pub(crate) use parse::Parser;
pub(crate) use sparse::{Map, read_map};

/// Whether the checksum of a block shows that the block is a header.
pub(crate) fn is_header(block: &[u8; form::BLOCK]) -> bool {
    header::Header::new(block, 0).is_ok()
}
