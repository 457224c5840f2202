//! `Base64`: an alphabet and its rules, with functions that encode or decode a whole text in one call.

#[cfg(feature = "alloc")]
use alloc::{string::String, vec::Vec};
use core::mem::MaybeUninit;

use crate::stream::Decoder;
use crate::{Alphabet, Error, imp};
use deadpan_ct::{Choice, CtEq, Wipe, declassify};

/// The rule for `=`, which fills the last group of four symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Encoding writes `=`, and decoding requires `=`.
    Required,
    /// Encoding does not write `=`, and decoding refuses `=`.
    Forbidden,
    /// Encoding writes `=`, and decoding accepts texts with or without `=`.
    Optional,
}

/// An alphabet and its rules. Start from one of the constants of this crate, and change the rules that do not fit:
///
/// ```
/// use deadpan_base64::{Padding, URL_SAFE};
///
/// const LENIENT: deadpan_base64::Base64 = URL_SAFE.with_padding(Padding::Optional).skipping_white_space();
/// assert_eq!(LENIENT.decode("_-\n8")?, [0xff, 0xef]);
/// # Ok::<(), deadpan_base64::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base64 {
    pub(crate) alphabet: Alphabet,
    pub(crate) padding: Padding,
    pub(crate) skip_white_space: bool,
    pub(crate) ignore_trailing_bits: bool,
}

/// `A–Z a–z 0–9 + /` with `=`: RFC 4648 section 4.
pub const STANDARD: Base64 = Base64::new(Alphabet::Standard, Padding::Required);
/// `A–Z a–z 0–9 + /` without `=`.
pub const STANDARD_NO_PAD: Base64 = Base64::new(Alphabet::Standard, Padding::Forbidden);
/// `A–Z a–z 0–9 - _` with `=`: RFC 4648 section 5.
pub const URL_SAFE: Base64 = Base64::new(Alphabet::UrlSafe, Padding::Required);
/// `A–Z a–z 0–9 - _` without `=`, as in JWT.
pub const URL_SAFE_NO_PAD: Base64 = Base64::new(Alphabet::UrlSafe, Padding::Forbidden);

impl Base64 {
    /// Makes a codec of an alphabet and a rule for `=`. All other rules are strict.
    #[must_use]
    pub const fn new(alphabet: Alphabet, padding: Padding) -> Self {
        Self { alphabet, padding, skip_white_space: false, ignore_trailing_bits: false }
    }

    /// Returns this codec with another rule for `=`.
    #[must_use]
    pub const fn with_padding(self, padding: Padding) -> Self {
        Self { padding, ..self }
    }

    /// Returns this codec with another rule: decoding skips space, tab, line feed, vertical tab, form feed and carriage
    /// return anywhere in the text.
    #[must_use]
    pub const fn skipping_white_space(self) -> Self {
        Self { skip_white_space: true, ..self }
    }

    /// Returns this codec with another rule: decoding ignores the bits of the last symbol that belong to no byte.
    /// Several texts then stand for the same bytes, so do not use this codec where a text is compared, signed or used
    /// as a key.
    #[must_use]
    pub const fn ignoring_trailing_bits(self) -> Self {
        Self { ignore_trailing_bits: true, ..self }
    }

    /// Returns the number of symbols for `bytes` bytes, including `=`. Returns `None` if the number does not fit into a
    /// `usize`.
    #[inline]
    #[must_use]
    pub const fn encoded_len(&self, bytes: usize) -> Option<usize> {
        if bytes > isize::MAX as usize / 4 * 3 {
            return None;
        }
        Some(imp::total_for(bytes, self.writes_padding()))
    }

    #[inline(always)]
    const fn writes_padding(&self) -> bool {
        matches!(self.padding, Padding::Required | Padding::Optional)
    }

    /// Returns the largest number of bytes that `length` symbols can hold. If some of the symbols are `=` or white
    /// space, the text holds fewer bytes.
    #[inline]
    #[must_use]
    pub const fn decoded_len_max(&self, length: usize) -> usize {
        imp::bytes_for(length)
    }

    /// Encodes into a new string. May leak: the length.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn encode(&self, input: &[u8]) -> String {
        let mut output = Vec::new();
        self.encode_onto(input, &mut output);
        imp::string(output)
    }

    /// Encodes and appends the symbols to `output`. May leak: the length.
    #[cfg(feature = "alloc")]
    pub fn encode_onto(&self, input: &[u8], output: &mut Vec<u8>) {
        imp::encode_onto(self.alphabet, self.writes_padding(), input, output);
    }

    /// Encodes into the front of `output` and returns the written part. May leak: the length.
    ///
    /// # Errors
    /// If `output` is too small.
    #[inline]
    pub fn encode_into<'a>(&self, input: &[u8], output: &'a mut [u8]) -> Result<&'a str, Error> {
        match imp::encode(self.alphabet, self.writes_padding(), input, output) {
            Ok(text) => Ok(imp::text(text)),
            Err(needed) => Err(Error::Output { needed }),
        }
    }

    /// Encodes into the front of memory that need not be initialized, and returns the written part. May leak: the
    /// length.
    ///
    /// # Errors
    /// If `output` is too small.
    #[inline]
    pub fn encode_uninit<'a>(&self, input: &[u8], output: &'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], Error> {
        imp::encode_uninit(self.alphabet, self.writes_padding(), input, output)
            .map_err(|needed| Error::Output { needed })
    }

    /// Encodes the first `length` bytes of `buffer` to its front and returns the written part. May leak: the length.
    ///
    /// # Errors
    /// If `buffer` is too small.
    pub fn encode_in_place<'a>(&self, buffer: &'a mut [u8], length: usize) -> Result<&'a str, Error> {
        let needed = self.encoded_len(length).ok_or(Error::TooLong)?;
        let buffer = buffer.get_mut(..needed).ok_or(Error::Output { needed })?;
        imp::encode_in_place(self.alphabet, self.writes_padding(), buffer, length).ok_or(Error::Output { needed })?;
        Ok(imp::text(buffer))
    }

    /// Decodes into a new vector. May leak: the length, the number of `=`, the positions of white space if it is
    /// skipped, and whether the input was valid.
    ///
    /// # Errors
    /// If the input is not valid. The whole input is read before the error is returned.
    #[cfg(feature = "alloc")]
    pub fn decode(&self, input: impl AsRef<[u8]>) -> Result<Vec<u8>, Error> {
        self.decode_new(input.as_ref())
    }

    #[cfg(feature = "alloc")]
    fn decode_new(&self, input: &[u8]) -> Result<Vec<u8>, Error> {
        if self.skip_white_space {
            let mut output = alloc::vec![0; input.len()];
            let symbols = imp::space::squeeze_into(input, &mut output);
            let (good, length) = self.open_in_place(&mut output[..symbols]);
            // Wipes the symbols that no decoded byte has overwritten.
            output[length..].wipe();
            output.truncate(length);
            return release(good, output);
        }
        let symbols = self.symbols_of(input).ok_or(Error::Invalid)?;
        let (flaws, output) = imp::decode_new(self.alphabet, symbols);
        release(self.verdict(flaws), output)
    }

    /// Decodes into the front of `output` and returns the written part. On failure, the output is wiped. May leak: the
    /// length, the number of `=`, the positions of white space if it is skipped, and whether the input was valid.
    ///
    /// # Errors
    /// If the input is not valid, or if `output` is too small. The whole input is read before the error is returned.
    #[inline]
    pub fn decode_into<'a>(&self, input: &[u8], output: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        if self.skip_white_space {
            return self.decode_spaced_into(input, output);
        }
        let symbols = self.symbols_of(input).ok_or(Error::Invalid)?;
        let needed = imp::bytes_for(symbols.len());
        let output = output.get_mut(..needed).ok_or(Error::Output { needed })?;
        let flaws = imp::decode(self.alphabet, symbols, output);
        release(self.verdict(flaws), output)
    }

    /// Decodes `buffer` to its front and returns the written part. On failure, the whole buffer is wiped. May leak: the
    /// length, the number of `=`, the positions of white space if it is skipped, and whether the input was valid.
    ///
    /// # Errors
    /// If the input is not valid. The whole input is read before the error is returned.
    pub fn decode_in_place<'a>(&self, buffer: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let symbols = if self.skip_white_space { imp::space::squeeze(buffer) } else { buffer.len() };
        let (good, length) = self.open_in_place(&mut buffer[..symbols]);
        release(good, buffer).map(|buffer| &mut buffer[..length])
    }

    /// Decodes into the front of `output`, skipping white space. Removes the white space in blocks, since the output
    /// may be too small to hold all the symbols.
    fn decode_spaced_into<'a>(&self, input: &[u8], output: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let mut decoder = Decoder::new(*self);
        let mut good = Choice::TRUE;
        let (mut read, mut written) = (0, 0);
        loop {
            let (taken, full) = decoder.fill(&input[read..]);
            read += taken;
            let opened = if full { decoder.open() } else { decoder.close() };
            good &= opened.good;
            let bytes = opened.bytes();
            // If the bytes do not fit into `output`, they are still counted, so that the error can report how many
            // bytes the output needs.
            if let Some(place) = output.get_mut(written..written + bytes.len()) {
                place.copy_from_slice(bytes);
            }
            written += bytes.len();
            if !full {
                break;
            }
        }
        if written > output.len() {
            output.wipe();
            return Err(Error::Output { needed: written });
        }
        release(good, &mut output[..written])
    }

    /// Decodes symbols without white space to the front of their buffer. Returns whether the symbols are valid, and the
    /// number of decoded bytes.
    pub(crate) fn open_in_place(&self, buffer: &mut [u8]) -> (Choice, usize) {
        let Some(symbols) = self.symbols_of(buffer) else { return (Choice::FALSE, 0) };
        let length = symbols.len();
        let flaws = imp::decode_in_place(self.alphabet, buffer, length);
        (self.verdict(flaws), imp::bytes_for(length))
    }

    /// Returns the input without its `=`, or `None` if the length is wrong. Both the number of `=` and the length are
    /// public.
    #[inline(always)]
    fn symbols_of<'a>(&self, input: &'a [u8]) -> Option<&'a [u8]> {
        let whole = input.len().is_multiple_of(4);
        let padded = match self.padding {
            Padding::Required if whole => true,
            Padding::Required => return None,
            Padding::Forbidden => false,
            Padding::Optional => whole,
        };
        let symbols = match input {
            [start @ .., before, last] if padded => {
                let last = last.ct_eq(&b'=');
                let before = before.ct_eq(&b'=') & last;
                &input[..start.len() + 2 - declassify(usize::from(last.bit() + before.bit()))]
            }
            _ => input,
        };
        (symbols.len() % 4 != 1).then_some(symbols)
    }

    /// Returns *yes* if there are no flaws, or only flaws that the rules of this codec allow.
    #[inline(always)]
    fn verdict(&self, flaws: imp::Flaws) -> Choice {
        if self.ignore_trailing_bits { flaws.all_symbols() } else { flaws.canonical() }
    }
}

/// Returns the decoded bytes if they are valid. Otherwise, wipes the bytes and returns an error.
#[inline(always)]
fn release<T: AsMut<[u8]>>(good: Choice, mut output: T) -> Result<T, Error> {
    if good.declassify() {
        Ok(output)
    } else {
        output.as_mut().wipe();
        Err(Error::Invalid)
    }
}
