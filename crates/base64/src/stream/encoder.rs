//! Encoding in pieces.

use super::{BLOCK, BLOCK_BYTES};
use crate::Base64;
use deadpan_ct::Wiped;

/// Collects bytes and returns symbols, a block at a time.
///
/// ```
/// use deadpan_base64::{STANDARD, stream::Encoder};
///
/// let mut encoder = Encoder::new(STANDARD);
/// for piece in [&b"straight"[..], b" ", b"face"] {
///     // Fewer than a block: everything is taken, nothing comes out yet.
///     assert_eq!(encoder.push(piece), (piece.len(), ""));
/// }
/// assert_eq!(encoder.finish(), "c3RyYWlnaHQgZmFjZQ==");
/// ```
pub struct Encoder {
    codec: Base64,
    bytes: Wiped<[u8; BLOCK_BYTES]>,
    filled: usize,
    symbols: Wiped<[u8; BLOCK]>,
}

impl Encoder {
    /// Makes an encoder that has seen no input.
    #[must_use]
    pub fn new(codec: Base64) -> Self {
        Self { codec, bytes: Wiped::new([0; BLOCK_BYTES]), filled: 0, symbols: Wiped::new([0; BLOCK]) }
    }

    /// Takes bytes from the front of `input`. Returns how many were taken, and the encoded symbols. Call it until the
    /// input is used up. May leak: the length.
    pub fn push(&mut self, input: &[u8]) -> (usize, &str) {
        // A whole block is encoded without a copy.
        if let (0, Some(block)) = (self.filled, input.first_chunk::<BLOCK_BYTES>()) {
            return (BLOCK_BYTES, encode(self.codec, block, &mut self.symbols));
        }
        let taken = input.len().min(BLOCK_BYTES - self.filled);
        self.bytes[self.filled..self.filled + taken].copy_from_slice(&input[..taken]);
        self.filled += taken;
        if self.filled < BLOCK_BYTES {
            return (taken, "");
        }
        self.filled = 0;
        (taken, encode(self.codec, &*self.bytes, &mut self.symbols))
    }

    /// Returns the symbols of the bytes that are left, with `=` if the codec writes it. Afterwards, the encoder can be
    /// used for another text.
    pub fn finish(&mut self) -> &str {
        let rest = core::mem::take(&mut self.filled);
        encode(self.codec, &self.bytes[..rest], &mut self.symbols)
    }
}

/// Encodes at most a block of bytes.
fn encode<'a>(codec: Base64, bytes: &[u8], symbols: &'a mut [u8; BLOCK]) -> &'a str {
    codec.encode_into(bytes, symbols).expect("a block has room for its symbols")
}

impl core::fmt::Debug for Encoder {
    /// Does not show the bytes, since logs are public.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Encoder").field("codec", &self.codec).finish_non_exhaustive()
    }
}
