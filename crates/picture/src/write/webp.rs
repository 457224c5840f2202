//! Writes WebP without loss.

use std::io::{Error as IoError, Write};

use image_webp::{ColorType, EncodingError, WebPEncoder};

use crate::{Channels, Error, Pixels};

pub(super) fn write(pixels: &Pixels, out: &mut dyn Write) -> Result<(), Error> {
    let color = match pixels.channels {
        Channels::Gray => ColorType::L8,
        Channels::Rgb => ColorType::Rgb8,
    };
    let result = WebPEncoder::new(out).encode(&pixels.samples, pixels.width, pixels.height, color);
    result.map_err(|error| match error {
        EncodingError::IoError(error) => Error::Write(error),
        other => Error::Write(IoError::other(other)),
    })
}
