//! Errors, grouped by their cause.

use core::fmt;

/// The reason why nothing was encoded or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input is not valid. The error has no detail, since the place and the reason may depend on a secret.
    Invalid,
    /// The caller's output buffer is too small.
    Output {
        /// The number of bytes that are needed.
        needed: usize,
    },
    /// The caller's data is too long: the encoded length does not fit into a `usize`.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid => f.write_str("not valid in this encoding"),
            Self::Output { needed } => write!(f, "the output buffer is too small: {needed} bytes are needed"),
            Self::TooLong => f.write_str("the encoded form would not fit into memory"),
        }
    }
}

impl core::error::Error for Error {}
