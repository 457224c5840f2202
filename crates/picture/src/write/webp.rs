//! Writes WebP without loss.

use std::io::{Error as IoError, Write};

use image_webp::{ColorType, EncodingError, WebPEncoder};

use crate::{Channels, Error, Pixels};

pub(super) fn write(pixels: &Pixels, out: &mut dyn Write) -> Result<(), Error> {
    if pixels.channels == Channels::Gray {
        return Err(Error::GrayWebP);
    }
    let result = WebPEncoder::new(out).encode(&pixels.samples, pixels.width, pixels.height, ColorType::Rgb8);
    result.map_err(|error| match error {
        EncodingError::IoError(error) => Error::Write(error),
        other => Error::Write(IoError::other(other)),
    })
}
