//! The configurations of the base64 codec, in a form that a reference implementation can use.

use deadpan_base64::{Alphabet, Base64, Padding};

/// One configuration.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The alphabet.
    pub alphabet: Alphabet,
    /// The rule for `=`.
    pub padding: Padding,
    /// Whether white space is skipped.
    pub skip_white_space: bool,
    /// Whether the unused bits of the last symbol may be one.
    pub ignore_trailing_bits: bool,
}

impl Rules {
    /// Returns all configurations.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..32).filter(|number| number & 6 != 6).map(Self::from_byte)
    }

    /// Makes a configuration from the low five bits of a byte: the byte `@` gives the strict standard configuration,
    /// and the byte `H` gives the standard configuration that skips white space.
    #[must_use]
    pub fn from_byte(byte: u8) -> Self {
        Self {
            alphabet: if byte & 1 == 0 { Alphabet::Standard } else { Alphabet::UrlSafe },
            padding: match byte >> 1 & 3 {
                0 => Padding::Required,
                1 => Padding::Forbidden,
                _ => Padding::Optional,
            },
            skip_white_space: byte & 8 != 0,
            ignore_trailing_bits: byte & 16 != 0,
        }
    }

    /// Returns the codec with these rules.
    #[must_use]
    pub fn codec(self) -> Base64 {
        let mut codec = Base64::new(self.alphabet, self.padding);
        if self.skip_white_space {
            codec = codec.skipping_white_space();
        }
        if self.ignore_trailing_bits {
            codec = codec.ignoring_trailing_bits();
        }
        codec
    }
}
