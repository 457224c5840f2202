//! The parts of a header that all other modules share: the preamble, and a recipient's entry.

pub(crate) const VERSION: u8 = 1;
/// Bytes of the preamble that tell a sealed file from other files; the version and the flags follow.
pub(crate) const SIGNATURE: usize = 8;
/// Signature, version and flags. Every cryptographic step is bound to them.
pub(crate) const PREAMBLE: [u8; 10] = [0x89, b'D', b'P', b'N', 0x0d, 0x0a, 0x1a, 0x0a, VERSION, 0];

/// A recipient as a header holds it: a type and a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: u16,
    pub(crate) body: Vec<u8>,
}
