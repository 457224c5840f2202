//! The trailer of a signed file shows who sealed the file. docs/format-seal.md describes the bytes.
//!
//! Signers sign the plaintext, inside the encryption. Outsiders therefore see neither signers nor hashes. A signature
//! stays valid when the recipients change. The data are hashed in a tree, so that a part of a file can be verified
//! alone.
//!
//! A [`Watched`] payload hashes each segment when the segment is sealed or opened, so every engine signs and verifies
//! in the same way. If the whole file can be read at any position, the signatures are checked first. Each segment is
//! then compared with its leaf before the segment is written ([`Checker`]). In a stream, the trailer follows the
//! segments, so the leaves of all segments are collected ([`Leaves`]) and compared at the end.

mod contents;
mod footer;
mod leaves;
mod part;
mod payload;
mod recorder;
mod shelf;
mod signatures;
mod signing;
mod statement;
mod tree;
mod verified;
mod watch;

#[cfg(test)]
mod tests;

pub use signatures::{Audience, Signatures};

pub(crate) use footer::{FOOTER, Footer};
pub(crate) use leaves::Leaves;
pub(crate) use payload::PayloadReader;
pub(crate) use recorder::{Claim, Recorder};
pub(crate) use shelf::Shelf;
pub(crate) use signing::Signing;
pub(crate) use statement::Addressee;
pub(crate) use verified::{Expected, Verified};
pub(crate) use watch::{Checker, SeekChecker, Shared, Watched, WatchedCipher};
