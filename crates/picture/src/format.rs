//! The file formats that are read and written.

use std::fmt;

/// A lossless file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// Portable Network Graphics.
    #[default]
    Png,
    /// WebP without loss.
    WebP,
}

/// The format of a picture that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Portable Network Graphics.
    Png,
    /// WebP without loss.
    WebPLossless,
    /// WebP with loss.
    WebPLossy,
    /// JPEG.
    Jpeg,
}

impl FileFormat {
    /// Returns whether a picture in this format differs from the pixels that were written.
    #[must_use]
    pub fn is_lossy(self) -> bool {
        matches!(self, Self::WebPLossy | Self::Jpeg)
    }
}

impl From<Format> for FileFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Png => Self::Png,
            Format::WebP => Self::WebPLossless,
        }
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::WebPLossless | Self::WebPLossy => "WebP",
            Self::Jpeg => "JPEG",
        })
    }
}
