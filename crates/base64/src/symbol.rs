//! Encoding and decoding of one symbol, for parsers.

use crate::{Alphabet, imp};
use deadpan_ct::{Choice, CtEq, CtOption, CtOrd};

/// The meaning of a byte in an alphabet: a value, white space, padding, or no meaning. The meaning is still secret.
#[derive(Clone, Copy)]
pub struct Symbol {
    value: u8,
    known: Choice,
    byte: u8,
}

impl Symbol {
    /// Returns the value from 0 to 63, if the byte is a symbol of the alphabet.
    #[inline(always)]
    pub fn value(self) -> CtOption<u8> {
        CtOption::new(self.value, self.known)
    }

    /// *Yes* for space, tab, line feed, vertical tab, form feed and carriage return.
    #[inline(always)]
    pub fn is_white_space(self) -> Choice {
        imp::space::is_space(self.byte)
    }

    /// *Yes* for `=`.
    #[inline(always)]
    pub fn is_padding(self) -> Choice {
        self.byte.ct_eq(&b'=')
    }

    /// Adds a range of symbols: bytes from `first` to `last` stand for `start` and the following values.
    #[inline(always)]
    fn consider(&mut self, first: u8, last: u8, start: u8) {
        let here = between(self.byte, first, last);
        self.value = here.select(self.byte.wrapping_sub(first).wrapping_add(start), self.value);
        self.known |= here;
    }

    /// *Yes* if the byte is neither a symbol nor white space nor `=`.
    #[inline(always)]
    pub fn is_invalid(self) -> Choice {
        !(self.known | self.is_white_space() | self.is_padding())
    }
}

impl core::fmt::Debug for Symbol {
    /// The debug output does not contain the byte, since logs are public.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Symbol(..)")
    }
}

#[inline(always)]
fn between(byte: u8, first: u8, last: u8) -> Choice {
    byte.wrapping_sub(first).ct_le(&(last - first))
}

impl Alphabet {
    /// Returns the character for a six-bit value. Higher bits are ignored. Leaks nothing.
    ///
    /// ```
    /// # use deadpan_base64::Alphabet;
    /// assert_eq!(Alphabet::UrlSafe.encode_symbol(63), b'_');
    /// ```
    #[inline]
    #[must_use]
    pub fn encode_symbol(self, value: u8) -> u8 {
        let value = value & 63;
        let symbol = value.ct_lt(&26).select(value + b'A', (value + b'a').wrapping_sub(26));
        let symbol = value.ct_ge(&52).select((value + b'0').wrapping_sub(52), symbol);
        let symbol = value.ct_eq(&62).select(self.sixty_two(), symbol);
        value.ct_eq(&63).select(self.sixty_three(), symbol)
    }

    /// Returns the meaning of a byte. Leaks nothing.
    ///
    /// ```
    /// # use deadpan_base64::Alphabet;
    /// let symbol = Alphabet::Standard.decode_symbol(b'/');
    /// assert_eq!(symbol.value().declassify(), Some(63));
    /// assert!(Alphabet::Standard.decode_symbol(b'=').is_padding().declassify());
    /// ```
    #[inline]
    #[must_use]
    pub fn decode_symbol(self, byte: u8) -> Symbol {
        let mut symbol = Symbol { value: 0, known: Choice::FALSE, byte };
        symbol.consider(b'A', b'Z', 0);
        symbol.consider(b'a', b'z', 26);
        symbol.consider(b'0', b'9', 52);
        symbol.consider(self.sixty_two(), self.sixty_two(), 62);
        symbol.consider(self.sixty_three(), self.sixty_three(), 63);
        symbol
    }
}
