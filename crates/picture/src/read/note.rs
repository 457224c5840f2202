//! Notes about differences between a decoded picture and its file.

use std::fmt;

/// A difference between the decoded pixels and the pixels that the file stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Samples of 16 bits were reduced to their upper 8 bits.
    SixteenBits,
    /// The alpha channel, in which all pixels are opaque, was dropped.
    OpaqueAlpha,
    /// The inks cyan, magenta, yellow and black were converted to red, green and blue, without a color profile.
    Inks,
    /// The picture was turned or mirrored, as its EXIF data say.
    TurnedUpright,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SixteenBits => "16 bits a sample were reduced to 8",
            Self::OpaqueAlpha => "the alpha channel was dropped; all pixels are opaque",
            Self::Inks => "CMYK was converted to RGB without a color profile",
            Self::TurnedUpright => "the picture was turned as its EXIF data say",
        })
    }
}
