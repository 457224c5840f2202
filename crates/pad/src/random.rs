//! The sources of random padding bytes.

use core::fmt;

use crate::Error;

/// A source of unpredictable random bytes.
pub trait Random {
    /// Overwrites `bytes` with random bytes. The caller does not use the contents of `bytes` after an error.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The source of random bytes failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomError;

impl fmt::Display for RandomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::Random.fmt(f)
    }
}

impl core::error::Error for RandomError {}

/// The default source of random bytes. Methods without a generator parameter use this source.
#[inline(always)]
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    #[cfg(feature = "std")]
    return Ok(crate::pool::fill(bytes)?);
    #[cfg(not(feature = "std"))]
    {
        let _ = bytes;
        Err(Error::NoGenerator)
    }
}
