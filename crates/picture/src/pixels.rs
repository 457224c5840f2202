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

impl Pixels {
    /// Converts a gray picture to three equal channels. A picture in color does not change.
    ///
    /// ```
    /// use deadpan_picture::{Channels, Pixels};
    ///
    /// let gray = Pixels { width: 2, height: 1, channels: Channels::Gray, samples: vec![7, 9] };
    /// let color = gray.into_rgb();
    /// assert_eq!((color.channels, color.samples), (Channels::Rgb, vec![7, 7, 7, 9, 9, 9]));
    /// ```
    #[must_use]
    pub fn into_rgb(self) -> Self {
        match self.channels {
            Channels::Rgb => self,
            Channels::Gray => {
                let samples = self.samples.iter().flat_map(|sample| [*sample; 3]).collect();
                Self { channels: Channels::Rgb, samples, ..self }
            }
        }
    }
}

/// Whether all three channels of these samples are equal: a gray picture in a file format for color.
pub(crate) fn is_gray(samples: &[u8]) -> bool {
    samples.as_chunks::<3>().0.iter().all(|[red, green, blue]| red == green && green == blue)
}

pub(crate) fn one_channel(samples: &[u8]) -> Vec<u8> {
    samples.as_chunks::<3>().0.iter().map(|[_, green, _]| *green).collect()
}
