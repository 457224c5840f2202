//! Reads JPEG with the crate `jpeg-decoder`.
//!
//! `jpeg-decoder` is seldom updated, but decodes every combination of sampling factors. `zune-jpeg` 0.5.15 is faster.
//! But `jpeg-decoder` returns wrong pixels if one color has a fourth of the samples of another color, and wrong inks if
//! the first color has fewer samples than the last color. This module reads the header itself, and passes only tables
//! and frames to the decoder. So metadata take no time and no memory, and this module decides the meaning of the
//! samples.

mod scans;
mod segments;

use std::io::{BufRead, Cursor, Seek};

use jpeg_decoder::{ColorTransform, Decoder, UnsupportedFeature};

use self::scans::Most;
use self::segments::{Colors, Segments};
use super::alpha::drop_last;
use super::{Budget, DecodedFile, Header, LONG_DATA, Note, UNDECODABLE, damaged, most_data};
use crate::{Channels, Error, FileFormat, Pixels};

const FORMAT: FileFormat = FileFormat::Jpeg;

pub fn header(input: impl BufRead + Seek) -> Result<Header, Error> {
    let Segments { width, height, colors, .. } = Segments::read(input)?;
    Ok(Header { format: FORMAT, width: width.into(), height: height.into(), channels: channels(colors) })
}

fn channels(colors: Colors) -> Channels {
    match colors {
        Colors::Gray => Channels::Gray,
        _ => Channels::Rgb,
    }
}

pub fn read(mut input: impl BufRead + Seek, budget: &Budget) -> Result<DecodedFile, Error> {
    let segments = Segments::read(&mut input)?;
    let (width, height) = (segments.width, segments.height);
    budget.check_pixels(width.into(), height.into())?;
    budget.check_memory(segments.memory)?;
    let mut file = segments.tables;
    let room = budget.limits.bytes - segments.memory;
    let bytes = most_data(u64::from(width) * u64::from(height)).min(room);
    if !scans::read(&mut input, &mut file, &Most { scans: budget.limits.scans, bytes })? {
        return Err(if bytes < room { damaged(FORMAT, LONG_DATA) } else { budget.too_much() });
    }
    let mut decoder = Decoder::new(Cursor::new(file));
    decoder.set_color_transform(match segments.colors {
        Colors::Gray => ColorTransform::Grayscale,
        Colors::YCbCr => ColorTransform::YCbCr,
        Colors::Rgb => ColorTransform::RGB,
        Colors::Cmyk => ColorTransform::CMYK,
        Colors::Ycck => ColorTransform::YCCK,
    });
    let mut samples = decoder.decode().map_err(failed)?;
    let mut notes = Vec::new();
    if matches!(segments.colors, Colors::Cmyk | Colors::Ycck) {
        lights(&mut samples);
        notes.push(Note::Inks);
    }
    let channels = channels(segments.colors);
    let (width, height) = (u32::from(width), u32::from(height));
    if samples.len() != width as usize * height as usize * channels.count() {
        return Err(damaged(FORMAT, "it has another number of samples than pixels"));
    }
    Ok(DecodedFile { pixels: Pixels { width, height, channels, samples }, source: FORMAT, turn: segments.turn, notes })
}

/// Converts cyan, magenta, yellow and black to red, green and blue, as programs without color profiles do.
fn lights(samples: &mut Vec<u8>) {
    for [c, m, y, k] in samples.as_chunks_mut::<4>().0 {
        for ink in [c, m, y] {
            // The rounded product of the light that the color ink leaves and the light that the black ink leaves.
            let product = u32::from(255 - *ink) * u32::from(255 - *k) + 128;
            *ink = ((product + (product >> 8)) >> 8) as u8;
        }
    }
    drop_last::<4>(samples);
}

fn failed(error: jpeg_decoder::Error) -> Error {
    match error {
        jpeg_decoder::Error::Io(error) => super::failed(error, FORMAT),
        jpeg_decoder::Error::Unsupported(
            UnsupportedFeature::SubsamplingRatio | UnsupportedFeature::NonIntegerSubsamplingRatio,
        ) => Error::Unsupported { format: FORMAT, feature: "an unusual number of samples for a color" },
        _ => damaged(FORMAT, UNDECODABLE),
    }
}
