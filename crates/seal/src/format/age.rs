//! age files (C2SP `age.md`), the second format of the engine.
//!
//! The header is text: a version, one stanza for each recipient, and a MAC. The payload is a nonce, and chunks of 64
//! KiB. docs/age.md describes what this module reads and writes, and which of its rules are stricter than the
//! specification.

pub mod armor;
mod edwards;
mod file_key;
mod header;
mod hpke;
mod known;
mod payload;
mod plugin;
mod scrypt;
mod ssh;
mod stanza;
mod unwrap;
mod wrap;
mod x25519;

pub(crate) use file_key::AgeFileKey;
pub(crate) use header::{AgeHeader, is_age};
pub(crate) use known::check_of_plugin;
pub use payload::ChunkCipher;
pub(crate) use payload::{Chunks, NONCE, SHAPE};
pub(crate) use plugin::unwrap as unwrap_with_plugin;
pub use stanza::AgeStanza;
pub(crate) use unwrap::Unwrapping;
pub(crate) use wrap::{check, passphrase_length, wrap_all};
