//! Limits for the memory and the time of decoding.

use crate::Error;

/// Limits for pictures that are read. A file that exceeds the limits is refused before memory is allocated.
///
/// A file of a few bytes can describe a picture of gigabytes, because compressed areas of one color take hardly any
/// space. Therefore the length of the file limits the memory and so the time: reading takes at most
/// [`free`](Self::free) bytes, plus [`per_byte`](Self::per_byte) bytes for each byte of the file. A PNG picture takes 1
/// to 4 bytes of memory for each pixel, a WebP picture takes 4 to 11 bytes, and a JPEG picture mostly takes 8 to 18
/// bytes.
///
/// ```
/// use deadpan_picture::Limits;
///
/// // For files that are trusted, such as a drawing that is nearly blank.
/// let limits = Limits { per_byte: u64::MAX, ..Limits::default() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of pixels.
    pub pixels: u64,
    /// The maximum number of bytes of memory, including the result. Decoders take up to one mebibyte of memory in
    /// addition, which is not counted.
    pub bytes: u64,
    /// The bytes of memory that a file of any length may take.
    pub free: u64,
    /// The bytes of memory that each byte of the file adds to [`Limits::free`].
    pub per_byte: u64,
    /// The maximum number of scans of a JPEG picture. A scan can be short, but decoding it takes as long as decoding a
    /// whole picture. Programs write 1 to 20 scans.
    pub scans: usize,
}

impl Default for Limits {
    /// The limits are 2²⁸ pixels, which is the size of the largest carrier, and 2 GiB of memory, but at most 64 MiB
    /// plus 512 bytes for each byte of the file. At most 100 scans.
    ///
    /// All photographs are within the bounds: a photograph has less than 100 pixels for each byte of its file, and only
    /// a file with more pixels for each byte is refused. A picture of a single color is accepted with up to 22 million
    /// pixels as PNG with three channels, 14 million pixels as WebP, and 10 million pixels as JPEG without progression.
    /// A drawing with one bit for each pixel is accepted with up to 67 million pixels if it is blank, and up to 140
    /// million pixels if its file has 150 KB.
    fn default() -> Self {
        Self { pixels: 1 << 28, bytes: 1 << 31, free: 64 << 20, per_byte: 512, scans: 100 }
    }
}

impl Limits {
    /// Whether reading a picture may take `memory` bytes of memory, if the picture's file has `length` bytes.
    #[must_use]
    pub fn allow(&self, memory: u64, length: u64) -> bool {
        self.budget(length).check_memory(memory).is_ok()
    }

    pub(super) fn budget(&self, length: u64) -> Budget {
        Budget { limits: *self, length }
    }
}

/// The limits for decoding one file.
#[derive(Clone, Copy)]
pub struct Budget {
    pub limits: Limits,
    /// The length of the file.
    length: u64,
}

impl Budget {
    pub fn check_pixels(&self, width: u32, height: u32) -> Result<(), Error> {
        if u64::from(width) * u64::from(height) > self.limits.pixels {
            Err(Error::TooManyPixels { width, height, limit: self.limits.pixels })
        } else {
            Ok(())
        }
    }

    pub fn check_memory(&self, bytes: u64) -> Result<(), Error> {
        if bytes > self.most() { Err(self.refusal(bytes)) } else { Ok(()) }
    }

    /// Returns the maximum number of bytes of memory.
    pub fn most(&self) -> u64 {
        self.limits.bytes.min(self.in_proportion())
    }

    fn in_proportion(&self) -> u64 {
        self.limits.free.saturating_add(self.limits.per_byte.saturating_mul(self.length))
    }

    /// Returns the error for a picture that takes more memory than [`most`](Self::most).
    pub fn refusal(&self, bytes: u64) -> Error {
        if bytes > self.limits.bytes {
            self.too_much()
        } else {
            Error::Disproportionate { memory: bytes, length: self.length }
        }
    }

    pub fn too_much(&self) -> Error {
        Error::TooMuchMemory { limit: self.limits.bytes }
    }
}
