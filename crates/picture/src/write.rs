//! Writes decoded pictures as files.

mod png;
mod webp;

pub(crate) use png::{code as png_code, rows_of_band};

use std::io::Write;

use crate::{Error, Format, Limits, Pixels};

/// The compression of a PNG file. Every value keeps all samples.
///
/// If each sample carries 2 bits, a full template has four samples for each byte of hidden data. With
/// [`Stored`](Self::Stored), hiding data is twice as fast and revealing data is four times as fast as with
/// [`Fast`](Self::Fast): `scripts/bench pictures`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Stores each row as the difference to the row above, with prefix codes, as fast encoders of other programs do.
    /// For a photograph full of hidden data, the file is half to two thirds as long as the samples.
    Fast,
    /// The rows are not compressed, for speed. Few programs write uncompressed files, so an observer who checks the
    /// length of the file, and not only the picture, notices this. If an observer must not notice, use
    /// [`Fast`](Self::Fast).
    #[default]
    Stored,
}

/// Returns whether [`read`](crate::read) with the usual [`Limits`] accepts a PNG file of this length that [`write()`]
/// made from these pixels. The limits refuse a compressed picture that is nearly empty, because such a file could be
/// made to exhaust the reader's memory. Write a nearly empty picture with [`Compression::Stored`].
#[must_use]
pub fn is_readable(pixels: &Pixels, length: u64) -> bool {
    // A decoder keeps a few rows.
    let memory = pixels.samples.len() as u64 + 32 * u64::from(pixels.width);
    Limits::default().allow(memory, length)
}

/// Writes a picture. `threads` is the number of threads that compress the picture. WebP uses only one thread.
///
/// # Errors
///
/// [`Error::Write`] if the picture cannot be written; [`Error::Size`] if the file format does not allow this width or
/// height, or if the number of samples does not match width and height; [`Error::GrayWebP`] if the picture is gray and
/// the format is WebP. Before data are hidden in a gray picture, make three channels with [`Pixels::into_rgb`].
pub fn write(
    pixels: &Pixels,
    format: Format,
    compression: Compression,
    threads: usize,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let (width, height) = (pixels.width, pixels.height);
    let most = match format {
        // The format allows 2³¹ − 1. Up to this width, a row fits into one chunk, even if it does not become shorter.
        Format::Png => 1 << 28,
        Format::WebP => 1 << 14,
    };
    let samples = u128::from(width) * u128::from(height) * pixels.channels.count() as u128;
    if !(1..=most).contains(&width) || !(1..=most).contains(&height) || samples != pixels.samples.len() as u128 {
        return Err(Error::Size { width, height, samples: pixels.samples.len() as u64 });
    }
    match format {
        Format::Png => png::write(pixels, compression, threads, out),
        Format::WebP => webp::write(pixels, out),
    }
}
