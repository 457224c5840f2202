//! What decoding may cost.

use crate::Error;

/// Bounds for pictures that are read. A file that claims more is an error, before memory is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most pixels.
    pub pixels: u64,
    /// The most bytes of memory, the result included. Decoders hold less than one mebibyte beside what is counted.
    pub bytes: u64,
}

impl Default for Limits {
    /// 2²⁸ pixels, as the largest carrier has, and 2 GiB.
    fn default() -> Self {
        Self { pixels: 1 << 28, bytes: 1 << 31 }
    }
}

impl Limits {
    pub(super) fn check_pixels(&self, width: u32, height: u32) -> Result<(), Error> {
        match u64::from(width) * u64::from(height) > self.pixels {
            true => Err(Error::TooManyPixels { width, height, limit: self.pixels }),
            false => Ok(()),
        }
    }

    pub(super) fn check_memory(&self, bytes: u64) -> Result<(), Error> {
        match bytes > self.bytes {
            true => Err(Error::TooMuchMemory { limit: self.bytes }),
            false => Ok(()),
        }
    }
}
