//! The place of each byte of a carrier in its file. Only the format, the width and the height determine the place of
//! each byte.

use super::{png, webp};
use crate::{Error, Format, LABEL};

/// The maximum number of pixels in a row, and of rows. The formats allow more, but libwebp writes at most this size,
/// and `image-webp` 0.2 does not read a larger size.
pub const MOST: u32 = 16_383;

/// The usual width and height. The file of a picture of this size has 33.5 MB.
const USUAL: (u32, u32) = (4096, 2730);
/// If data need more than this many pictures of the usual size, larger pictures are used.
const MANY: u64 = 1000;

/// The maximum number of pictures in a set.
pub const MOST_PICTURES: u32 = 65_536;

/// The first bytes of a carrier.
pub(crate) const MAGIC: [u8; 8] = *b"\x89DPNPIC\x01";

/// The length of the header: the magic bytes, the label, and the checksum of the magic bytes and the label.
pub(crate) const HEADER: usize = MAGIC.len() + LABEL + 8;

/// The file format and the size of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    format: Format,
    width: u32,
    height: u32,
}

impl Layout {
    /// Describes pictures of this size.
    ///
    /// # Errors
    /// [`Error::CarrierSize`] if the width or the height is not 1 to [`MOST`].
    pub fn new(format: Format, width: u32, height: u32) -> Result<Self, Error> {
        let possible = 1..=MOST;
        if possible.contains(&width) && possible.contains(&height) {
            Ok(Self { format, width, height })
        } else {
            Err(Error::CarrierSize { width, height })
        }
    }

    /// Returns the file format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the number of pixels in a row.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns how many bytes of data each picture of a set carries, except for the last picture. The number is a
    /// multiple of 64. Pictures with fewer than 46 pixels carry no data.
    #[must_use]
    pub fn part(&self) -> u32 {
        (self.bytes().saturating_sub(HEADER as u64) / 64 * 64) as u32
    }

    /// Returns the usual size for `total` bytes of data, or for data of unknown length: 4096 × 2730 pixels. The size is
    /// smaller if there are few data, and larger if the data need more than 1000 pictures of the usual size.
    ///
    /// # Errors
    /// [`Error::CarrierSize`] if no picture is large enough.
    pub fn usual(format: Format, total: Option<u64>) -> Result<Self, Error> {
        let usual = Self::new(format, USUAL.0, USUAL.1)?;
        let Some(total) = total else { return Ok(usual) };
        if total <= MANY * u64::from(usual.part()) {
            return Ok(usual.fitted(total));
        }
        // Each pixel has three bytes. 128 bytes are more than the length of the header.
        let side = (total.div_ceil(MANY).saturating_add(128).div_ceil(3).isqrt() + 1).min(MOST.into());
        Self::new(format, side as u32, side as u32)
    }

    /// Returns how many pictures `total` bytes of data need, without spare pictures. Returns `None` if the number
    /// exceeds [`MOST_PICTURES`].
    #[must_use]
    pub fn pictures(&self, total: u64) -> Option<u32> {
        let part = u64::from(self.part());
        let count = total.max(1).checked_add(part.checked_sub(1)?)?.checked_div(part)?;
        u32::try_from(count).ok().filter(|count| *count <= MOST_PICTURES)
    }

    /// If one smaller picture is enough for `total` bytes, returns the size of an almost square picture. If no smaller
    /// picture is enough, returns the size of this layout.
    #[must_use]
    pub fn fitted(self, total: u64) -> Self {
        if self.pictures(total) != Some(1) {
            return self;
        }
        let pixels = (HEADER as u64 + total.div_ceil(64).max(1) * 64).div_ceil(3);
        let side = pixels.isqrt() + u64::from(pixels.isqrt().pow(2) < pixels);
        let width = side.min(u64::from(self.width));
        let height = pixels.div_ceil(width).min(u64::from(self.height));
        let width = pixels.div_ceil(height).max(width);
        // Neither width nor height exceeds that of this layout, because the data fit into this layout.
        Self { width: width as u32, height: height as u32, ..self }
    }

    /// Returns the length of a whole picture's file.
    #[must_use]
    pub fn file_length(&self) -> u64 {
        match self.format {
            Format::Png => png::file_length(self),
            Format::WebP => webp::file_length(self),
        }
    }

    /// Returns the layout of the same width with only as many rows as `part` bytes need.
    pub(crate) fn cut(self, part: u64) -> Self {
        let rows = (HEADER as u64 + part).div_ceil(self.row()).min(u64::from(self.height));
        Self { height: rows as u32, ..self }
    }

    /// Returns the number of bytes in a row.
    pub(crate) fn row(&self) -> u64 {
        3 * u64::from(self.width)
    }

    /// Returns the number of bytes of all pixels.
    pub(crate) fn bytes(&self) -> u64 {
        self.row() * u64::from(self.height)
    }

    /// Returns the bytes of the file before the bytes of the pixels.
    pub(crate) fn head(&self) -> Vec<u8> {
        match self.format {
            Format::Png => png::head(self),
            Format::WebP => webp::head(self),
        }
    }

    /// Returns the position in the file of byte `at` of the carrier, or of the format's own bytes if they directly
    /// precede this byte.
    pub(crate) fn start(&self, at: u64) -> u64 {
        match self.format {
            Format::Png => png::start(self, at),
            Format::WebP => webp::HEAD + at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_limits() {
        for (width, height) in [(0, 1), (1, 0), (MOST + 1, 1), (1, MOST + 1), (u32::MAX, u32::MAX)] {
            assert!(
                matches!(Layout::new(Format::Png, width, height), Err(Error::CarrierSize { .. })),
                "{width} × {height}"
            );
        }
        assert_eq!(Layout::new(Format::WebP, MOST, MOST).expect("possible").part(), 805_207_936);
    }

    #[test]
    fn parts_are_multiples_of_64_and_fit() {
        for width in [1, 2, 3, 5, 45, 46, 47, 64, 1000, MOST] {
            for height in [1, 2, 3, 45, 46, 47, 67, 68, 1000] {
                let layout = Layout::new(Format::Png, width, height).expect("possible");
                let part = u64::from(layout.part());
                assert_eq!(part % 64, 0);
                assert!(part == 0 || part + HEADER as u64 <= layout.bytes());
                assert!(part + 64 + HEADER as u64 > layout.bytes());
                assert_eq!(layout.pictures(0), (part > 0).then_some(1));
                if part > 0 {
                    assert_eq!(layout.pictures(part), Some(1));
                    assert_eq!(layout.pictures(part + 1), Some(2));
                    assert_eq!(layout.pictures(part * 65_536), Some(65_536));
                    assert_eq!(layout.pictures(part * 65_536 + 1), None);
                    assert_eq!(layout.pictures(u64::MAX), None);
                }
            }
        }
    }

    #[test]
    fn small_data_get_small_pictures_that_are_almost_squares() {
        for (width, height) in [(4096, 4096), (10_000, 10), (10, 10_000), (46, 1), (1, 46)] {
            let whole = Layout::new(Format::Png, width, height).expect("possible");
            for total in [0, 1, 63, 64, 65, 1000, 4095, 1 << 20, u64::from(whole.part())] {
                let layout = whole.fitted(total);
                if total > u64::from(whole.part()) {
                    assert_eq!(layout, whole);
                    continue;
                }
                assert_eq!(layout.pictures(total), Some(1), "{whole:?} {total}");
                assert!(layout.width <= width && layout.height <= height, "{whole:?} {total} {layout:?}");
                if layout.width < width && layout.height < height {
                    assert!(layout.width.abs_diff(layout.height) <= 1, "{layout:?}");
                }
            }
        }
    }
}
