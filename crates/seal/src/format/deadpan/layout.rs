//! The parts of a header that all other modules use: the preamble, and the entry of a recipient.

pub(crate) const VERSION: u8 = 1;
/// The number of bytes at the start of the preamble that distinguish a sealed file from other files. The version and
/// the flags follow.
pub(crate) const SIGNATURE: usize = 8;
pub(crate) const START: [u8; SIGNATURE] = [0x89, b'D', b'P', b'N', 0x0d, 0x0a, 0x1a, 0x0a];

/// The signature, the version and the flags of a file. Every cryptographic step is bound to the bytes of the preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Preamble {
    bytes: [u8; Self::LENGTH],
}

impl Preamble {
    pub(crate) const LENGTH: usize = SIGNATURE + 2;
    /// The preamble of a file without any flag.
    pub(crate) const PLAIN: Self = Self::new(0);
    /// The preamble of a signed file. Flag bit 0 announces a trailer.
    pub(crate) const SIGNED: Self = Self::new(1);

    pub(crate) const fn new(flags: u8) -> Self {
        let mut bytes = [0; Self::LENGTH];
        let (start, rest) = bytes.split_at_mut(SIGNATURE);
        start.copy_from_slice(&START);
        rest.copy_from_slice(&[VERSION, flags]);
        Self { bytes }
    }

    /// Returns whether a trailer with signatures follows the payload.
    pub(crate) const fn is_signed(&self) -> bool {
        self.bytes[Self::LENGTH - 1] & 1 != 0
    }

    pub(crate) const fn bytes(&self) -> &[u8; Self::LENGTH] {
        &self.bytes
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: u16,
    pub(crate) body: Vec<u8>,
}
