//! Decoded pictures.

/// The samples of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// One sample: brightness.
    Gray,
    /// Three samples: red, green, blue.
    Rgb,
}

impl Channels {
    /// Returns the number of samples of a pixel.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb => 3,
        }
    }
}

/// A decoded picture of opaque pixels with 8 bits a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The samples of a pixel.
    pub channels: Channels,
    /// All samples, row by row: width × height × channels.
    pub samples: Vec<u8>,
}
