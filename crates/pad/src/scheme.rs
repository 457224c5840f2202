//! The eight schemes.

use core::fmt;

/// A padding scheme. The table in the [crate's documentation](crate) shows which scheme to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// `00 00 00`: zero padding, which cannot pad data that end in a zero byte.
    Zero,
    /// `03 03 03`: PKCS#7, RFC 5652 section 6.3. For 8-byte blocks, the scheme is also called PKCS#5.
    Pkcs7,
    /// `00 00 03`: ANSI X9.23.
    AnsiX923,
    /// `?? ?? 03`: ISO 10126, which has random bytes before the count.
    Iso10126,
    /// `01 02 03`: RFC 4303 section 2.4, the padding of IPsec.
    Rfc4303,
    /// `80 00 00`: ISO/IEC 7816-4.
    Iso7816,
    /// `?? ?? ??`: repeats one random byte that differs from the last data byte.
    ArbitraryTail,
    /// `~d ~d ~d`: repeats the complement of the last data byte, or `aa` if the block holds no data.
    NotLast,
}

impl Scheme {
    /// All schemes, in the order of the table in the crate's documentation.
    pub const ALL: [Self; 8] = [
        Self::Zero,
        Self::Pkcs7,
        Self::AnsiX923,
        Self::Iso10126,
        Self::Rfc4303,
        Self::Iso7816,
        Self::ArbitraryTail,
        Self::NotLast,
    ];

    /// Returns the short name of the scheme in lower case, such as `pkcs7`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Pkcs7 => "pkcs7",
            Self::AnsiX923 => "ansi-x9.23",
            Self::Iso10126 => "iso10126",
            Self::Rfc4303 => "rfc4303",
            Self::Iso7816 => "iso7816-4",
            Self::ArbitraryTail => "arbitrary-tail",
            Self::NotLast => "not-last",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
