//! Encoding in pieces.

use super::{BLOCK, BLOCK_BYTES};
use crate::{Base64, imp};
use deadpan_ct::Wiped;

/// At the end of each block, a writer keeps back this number of symbols until more symbols follow. So the number of
/// symbols that were written so far is one more than a multiple of four, and no rule for `=` allows a text of such a
/// length.
pub(crate) const HELD: usize = 3;

/// Collects bytes and returns symbols in blocks. The symbols of each block are a valid text by themselves, but only
/// [`finish`](Encoder::finish) completes a text.
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
    /// The symbols of a block; before them, the last symbols of the previous block, which a writer keeps back.
    symbols: Wiped<[u8; HELD + BLOCK]>,
}

impl Encoder {
    /// Makes an encoder that has seen no input.
    #[must_use]
    pub fn new(codec: Base64) -> Self {
        Self { codec, bytes: Wiped::new([0; BLOCK_BYTES]), filled: 0, symbols: Wiped::new([0; HELD + BLOCK]) }
    }

    /// Takes bytes from the front of `input`. Returns the number of bytes taken, and the encoded symbols. Call `push`
    /// again until the whole input is taken. May leak: the length.
    pub fn push(&mut self, input: &[u8]) -> (usize, &str) {
        let (taken, made) = self.fill(input);
        (taken, imp::text(&self.symbols[HELD..][..made]))
    }

    /// Encodes the remaining bytes, and returns their symbols, with `=` if the codec writes `=`. Afterwards, the
    /// encoder can be used for another text.
    pub fn finish(&mut self) -> &str {
        let made = self.close();
        imp::text(&self.symbols[HELD..][..made])
    }

    /// Takes bytes from the front of `input`. Returns the number of bytes taken, and the number of symbols made.
    pub(crate) fn fill(&mut self, input: &[u8]) -> (usize, usize) {
        // If `input` contains a whole block, the block is encoded directly from `input`, without a copy.
        if let (0, Some(block)) = (self.filled, input.first_chunk::<BLOCK_BYTES>()) {
            return (BLOCK_BYTES, encode(self.codec, block, &mut self.symbols[HELD..]));
        }
        let taken = input.len().min(BLOCK_BYTES - self.filled);
        self.bytes[self.filled..self.filled + taken].copy_from_slice(&input[..taken]);
        self.filled += taken;
        if self.filled < BLOCK_BYTES {
            return (taken, 0);
        }
        (taken, self.close())
    }

    /// Encodes the bytes that are left. Returns how many symbols were made.
    pub(crate) fn close(&mut self) -> usize {
        let rest = core::mem::take(&mut self.filled);
        encode(self.codec, &self.bytes[..rest], &mut self.symbols[HELD..])
    }

    /// Returns the symbols that were kept back, if there are some, followed by the `made` symbols.
    #[cfg(feature = "std")]
    pub(crate) fn symbols(&self, has_held: bool, made: usize) -> &[u8] {
        &self.symbols[if has_held { 0 } else { HELD }..HELD + made]
    }

    #[cfg(feature = "std")]
    pub(crate) fn hold(&mut self, made: usize) {
        self.symbols.copy_within(made..HELD + made, 0);
    }
}

/// Encodes at most a block of bytes. Returns how many symbols were made.
fn encode(codec: Base64, bytes: &[u8], symbols: &mut [u8]) -> usize {
    codec.encode_into(bytes, symbols).expect("a block has room for its symbols").len()
}

impl core::fmt::Debug for Encoder {
    /// The debug output does not contain the bytes, since logs are public.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Encoder").field("codec", &self.codec).finish_non_exhaustive()
    }
}
