//! What can go wrong, grouped by whose fault it is.

use core::fmt;

/// Why nothing was encoded or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input: it is not valid. Nothing more is told, since where and why may depend on a secret.
    Invalid,
    /// The caller: the output buffer is too small.
    Output {
        /// The bytes that are needed.
        needed: usize,
    },
    /// The caller: the encoded length does not fit into a `usize`.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid => f.write_str("not valid in this encoding"),
            Self::Output { needed } => write!(f, "the output buffer is too small\nhint: {needed} bytes are needed"),
            Self::TooLong => f.write_str("the encoded form would not fit into memory\nhint: encode it as a stream"),
        }
    }
}

impl core::error::Error for Error {}
