//! The index of a pack: its parts, their table, the trailer.

mod debt;
pub(crate) mod form;
mod part;
mod record;
mod table;
pub(crate) mod varint;
pub(crate) mod write;

pub(crate) use debt::PathDebt;
pub(crate) use form::damaged;
pub(crate) use part::PartReader;
pub(crate) use record::Decoder;
pub(crate) use table::{Table, fill};
