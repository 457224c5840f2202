//! Decoding in pieces.

use super::{BLOCK, BLOCK_BYTES};
use crate::{Base64, Error, imp};
use deadpan_ct::{Choice, Wipe, Wiped};

/// Collects symbols and returns bytes in blocks. Each block is checked before it is returned.
///
/// ```
/// use deadpan_base64::{STANDARD, stream::Decoder};
///
/// let mut decoder = Decoder::new(STANDARD.skipping_white_space());
/// for piece in [&b"c3RyYWln"[..], b"aHQg\nZmFjZ", b"Q=="] {
///     assert_eq!(decoder.push(piece)?, (piece.len(), &[][..]));
/// }
/// assert_eq!(decoder.finish()?, b"straight face");
/// # Ok::<(), deadpan_base64::Error>(())
/// ```
pub struct Decoder {
    codec: Base64,
    symbols: Wiped<[u8; BLOCK]>,
    filled: usize,
    failed: bool,
}

impl Decoder {
    /// Makes a decoder that has seen no input.
    #[must_use]
    pub fn new(codec: Base64) -> Self {
        Self { codec, symbols: Wiped::new([0; BLOCK]), filled: 0, failed: false }
    }

    /// Takes symbols from the front of `input`. Returns how many bytes of the input were taken, and the decoded bytes.
    /// Call `push` again until the whole input is taken. May leak: the length, the number of `=`, the positions of
    /// white space if it is skipped, and the block of the first flaw.
    ///
    /// # Errors
    /// If a block is not valid. After an error, every later call fails as well.
    pub fn push(&mut self, input: &[u8]) -> Result<(usize, &[u8]), Error> {
        if self.failed {
            return Err(Error::Invalid);
        }
        let (taken, full) = self.fill(input);
        if full { self.open().judge().map(|bytes| (taken, bytes)) } else { Ok((taken, &[])) }
    }

    /// Decodes the remaining symbols, and returns their bytes. After success, the decoder can be used for another text.
    ///
    /// # Errors
    /// If the end of the text is not valid, or if an earlier block was not valid.
    pub fn finish(&mut self) -> Result<&[u8], Error> {
        if self.failed {
            return Err(Error::Invalid);
        }
        self.close().judge()
    }

    /// Takes symbols until the block is full *and* more input follows. The last block of the text may contain `=`, and
    /// only a symbol after the block shows that the block is not the last block. Returns how many bytes were taken, and
    /// whether the block is full and is not the last block.
    pub(crate) fn fill(&mut self, input: &[u8]) -> (usize, bool) {
        let mut taken = 0;
        while taken < input.len() {
            let room = BLOCK - self.filled;
            if room == 0 {
                if !(self.codec.skip_white_space && imp::space::is_space(input[taken]).declassify()) {
                    return (taken, true);
                }
                taken += 1;
                continue;
            }
            let piece = &input[taken..][..room.min(input.len() - taken)];
            let place = &mut self.symbols[self.filled..][..piece.len()];
            if self.codec.skip_white_space {
                self.filled += imp::space::squeeze_into(piece, place);
            } else {
                place.copy_from_slice(piece);
                self.filled += piece.len();
            }
            taken += piece.len();
        }
        (taken, false)
    }

    /// Decodes a full block that is not the last block.
    pub(crate) fn open(&mut self) -> Opened<'_> {
        self.filled = 0;
        let good = imp::decode_in_place(self.codec.alphabet, &mut *self.symbols, BLOCK).all_symbols();
        Opened { decoder: self, good, length: BLOCK_BYTES }
    }

    /// Decodes the remaining symbols, which are the end of the text.
    pub(crate) fn close(&mut self) -> Opened<'_> {
        let rest = core::mem::take(&mut self.filled);
        let (good, length) = self.codec.open_in_place(&mut self.symbols[..rest]);
        Opened { decoder: self, good, length }
    }
}

/// A block of decoded bytes that has not been checked.
pub(crate) struct Opened<'a> {
    decoder: &'a mut Decoder,
    pub(crate) good: Choice,
    length: usize,
}

impl<'a> Opened<'a> {
    /// Returns the bytes, even if they are not valid.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.decoder.symbols[..self.length]
    }

    /// Returns the bytes if they are valid. Otherwise wipes the bytes and makes every later call fail.
    fn judge(self) -> Result<&'a [u8], Error> {
        let Self { decoder, good, length } = self;
        if good.declassify() {
            return Ok(&decoder.symbols[..length]);
        }
        decoder.failed = true;
        decoder.symbols.wipe();
        Err(Error::Invalid)
    }
}

impl core::fmt::Debug for Decoder {
    /// The debug output does not contain the symbols, since logs are public.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Decoder").field("codec", &self.codec).finish_non_exhaustive()
    }
}
