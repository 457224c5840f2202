//! The format and the size of pictures, in the form that the command line uses.

use std::path::Path;
use std::str::FromStr;

use deadpan_picture::Format;

/// A value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PictureFormatArg {
    /// Portable Network Graphics, which every program reads
    Png,
    /// WebP without loss
    Webp,
}

impl From<PictureFormatArg> for Format {
    fn from(format: PictureFormatArg) -> Self {
        match format {
            PictureFormatArg::Png => Self::Png,
            PictureFormatArg::Webp => Self::WebP,
        }
    }
}

pub fn ending(format: Format) -> &'static str {
    match format {
        Format::Png => "png",
        Format::WebP => "webp",
    }
}

/// Returns the picture format for the extension of a file name.
pub fn format_of(path: &Path) -> Option<Format> {
    let extension = path.extension()?.to_ascii_lowercase();
    [Format::Png, Format::WebP].into_iter().find(|format| extension == ending(*format))
}

/// Whether a file name has the extension of a picture format that the program cannot write.
pub fn is_other_picture(path: &Path) -> bool {
    const OTHERS: [&str; 12] =
        ["avif", "bmp", "gif", "heic", "heif", "jfif", "jpeg", "jpg", "jp2", "jxl", "tif", "tiff"];
    path.extension().is_some_and(|found| OTHERS.iter().any(|other| found.eq_ignore_ascii_case(other)))
}

/// A value of `--size`: width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
}

impl FromStr for Pixels {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "a size is WIDTHxHEIGHT in pixels, such as 1920x1080";
        let (width, height) = text.split_once(['x', 'X', '×']).ok_or(WRONG)?;
        let number = |text: &str| text.parse().map_err(|_| WRONG);
        Ok(Self { width: number(width)?, height: number(height)? })
    }
}
