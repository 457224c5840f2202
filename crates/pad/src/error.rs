//! The errors of this crate, grouped by their cause.

use core::fmt;

use crate::RandomError;

/// The reason why padding or unpadding failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    // The input.
    /// The padding is wrong. The error has no details, because the reason and the place are secret.
    Padding,
    /// The padded input is empty or does not consist of whole blocks.
    NotBlocks,
    /// The data ends in a zero byte. After padding, the last zero byte of the data cannot be distinguished from zero
    /// padding.
    ZeroTail,
    // The caller.
    /// The block size is zero.
    BlockSize,
    /// The output buffer is too small for the padded data.
    TooSmall {
        /// The number of bytes that the padded data needs.
        needed: usize,
    },
    /// The scheme needs random bytes. Without the feature `std`, the caller must pass a generator.
    NoGenerator,
    // The system.
    /// The source of random bytes failed.
    Random,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Padding => f.write_str("the padding is wrong"),
            Self::NotBlocks => f.write_str("the padded input is not one or more whole blocks"),
            Self::ZeroTail => f.write_str("the data ends in a zero byte, which zero padding could not preserve"),
            Self::BlockSize => f.write_str("a block must have at least one byte"),
            Self::TooSmall { needed } => write!(f, "the output buffer is too small: {needed} bytes are needed"),
            Self::NoGenerator => f.write_str("the scheme needs random bytes, and no generator was passed"),
            Self::Random => f.write_str("the source of random bytes failed"),
        }
    }
}

impl core::error::Error for Error {}

impl From<RandomError> for Error {
    fn from(_: RandomError) -> Self {
        Self::Random
    }
}
