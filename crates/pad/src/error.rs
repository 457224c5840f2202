//! What can go wrong, grouped by whose fault it is.

use crate::RandomError;
use core::fmt;

/// Why nothing was padded or unpadded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    // The input.
    /// The padding is wrong. Why and where is a secret, and there is nothing more to learn from this value.
    Padding,
    /// The padded input is empty or does not consist of whole blocks.
    NotBlocks,
    /// The data ends in zero, and zero padding could not be told from it.
    ZeroTail,
    // The caller.
    /// A block of zero bytes.
    BlockSize,
    /// The room for the padded data is too small.
    TooSmall {
        /// How many bytes it takes.
        needed: usize,
    },
    /// The scheme takes random bytes, and without the feature `std` they must come from a generator of the caller's.
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
            Self::ZeroTail => f.write_str("the data ends in zero\nchoose a scheme other than zero padding"),
            Self::BlockSize => f.write_str("a block must have at least one byte"),
            Self::TooSmall { needed } => write!(f, "the room for the padded data is too small\nmake it {needed} bytes"),
            Self::NoGenerator => {
                f.write_str("the scheme takes random bytes and there is no generator\npass one, or enable the feature std")
            }
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
