//! The two alphabets of RFC 4648, which differ in their last two symbols.

/// An alphabet. The two alphabets differ only in the characters for the values 62 and 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// `+` and `/`: RFC 4648 section 4.
    Standard,
    /// `-` and `_`: RFC 4648 section 5, safe in file names and URLs.
    UrlSafe,
}

impl Alphabet {
    /// Returns the symbol for 62.
    #[inline(always)]
    #[must_use]
    pub const fn sixty_two(self) -> u8 {
        match self {
            Self::Standard => b'+',
            Self::UrlSafe => b'-',
        }
    }

    /// Returns the symbol for 63.
    #[inline(always)]
    #[must_use]
    pub const fn sixty_three(self) -> u8 {
        match self {
            Self::Standard => b'/',
            Self::UrlSafe => b'_',
        }
    }

    /// Returns all 64 symbols in order. Use the symbols in a table only if the table fits in a register or if its index
    /// is not secret.
    #[must_use]
    pub const fn symbols(self) -> [u8; 64] {
        let mut symbols = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789??";
        symbols[62] = self.sixty_two();
        symbols[63] = self.sixty_three();
        symbols
    }
}
