//! Deadpan's own format. docs/format-seal.md describes the bytes.

pub(crate) mod file_key;
pub mod floe;
pub(crate) mod header;
pub(crate) mod layout;
pub(crate) mod metadata;
pub(crate) mod padding;
pub(crate) mod recipient;
pub(crate) mod session;
pub mod threshold;
pub(crate) mod trailer;
