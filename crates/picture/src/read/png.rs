//! PNG, by the crate `png`.

use std::io::{BufRead, Read, Seek, SeekFrom};

use png::{ColorType, DecodingError, Transformations};

use super::alpha::drop_opaque;
use super::turn::Turn;
use super::{Budget, FileFormat, Header, Note, Stored, UNDECODABLE, array, damaged, exif};
use crate::{Channels, Error, Pixels};

const FORMAT: FileFormat = FileFormat::Png;

/// The most memory for all chunks beside the pixels, of which only EXIF data may be long.
const METADATA: u64 = 16 << 20;

/// Reads signature and header. Leaves the input anywhere.
pub fn header(input: impl Read) -> Result<Header, Error> {
    let [_, _, _, _, _, _, _, _, head @ ..] = array::<26>(input, FORMAT)?;
    let (Some((b"\0\0\0\rIHDR", head)), [.., color]) = (head.split_first_chunk(), head) else {
        return Err(damaged(FORMAT, "its first chunk is not IHDR"));
    };
    let four = |at: usize| head[at..at + 4].iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
    let (width, height) = (four(0), four(4));
    if [width, height].iter().any(|side| !(1..1 << 31).contains(side)) {
        return Err(damaged(FORMAT, format!("{width} × {height} pixels")));
    }
    let channels = match color {
        0 | 4 => Channels::Gray,
        2 | 3 | 6 => Channels::Rgb,
        _ => return Err(damaged(FORMAT, format!("color type {color}"))),
    };
    Ok(Header { format: FORMAT, width, height, channels })
}

pub fn read(mut input: impl BufRead + Seek, budget: &Budget) -> Result<Stored, Error> {
    let start = input.stream_position().map_err(Error::Read)?;
    let Header { width, height, channels, .. } = header(&mut input)?;
    budget.check_pixels(width, height)?;
    input.seek(SeekFrom::Start(start)).map_err(Error::Read)?;

    // Rows have at most 8 bytes a pixel.
    let least = METADATA + 8 * u64::from(width);
    let failed = |error| failed(error, budget);
    let bytes = usize::try_from(least.min(budget.limits.bytes)).unwrap_or(usize::MAX);
    let mut decoder = png::Decoder::new_with_limits(input, png::Limits { bytes });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    // All samples get 8 bits, palettes become colors, and transparent colors an alpha channel.
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(failed)?;
    let info = reader.info();
    if info.animation_control.is_some() || info.frame_control.is_some() {
        return Err(Error::Animated);
    }
    let mut notes = Vec::new();
    if info.bit_depth == png::BitDepth::Sixteen {
        notes.push(Note::SixteenBits);
    }
    let size = reader.output_buffer_size().ok_or_else(|| budget.too_much())?;
    // The decoder keeps a few rows.
    budget.check_memory(size as u64 + 4 * 8 * u64::from(width))?;
    let mut samples = vec![0; size];
    let frame = reader.next_frame(&mut samples).map_err(failed)?;
    // Chunks after the pixels may hold EXIF data, and a cut file has no end chunk.
    reader.finish().map_err(failed)?;
    match frame.color_type {
        ColorType::Grayscale | ColorType::Rgb => {}
        ColorType::GrayscaleAlpha => drop_opaque::<2>(&mut samples)?,
        ColorType::Rgba => drop_opaque::<4>(&mut samples)?,
        ColorType::Indexed => return Err(damaged(FORMAT, "its palette was not expanded")),
    }
    if samples.len() < size {
        notes.push(Note::OpaqueAlpha);
    }
    let turn = reader.info().exif_metadata.as_deref().map_or(Turn::UPRIGHT, exif::turn);
    Ok(Stored { pixels: Pixels { width, height, channels, samples }, source: FORMAT, turn, notes })
}

fn failed(error: DecodingError, budget: &Budget) -> Error {
    match error {
        DecodingError::IoError(error) => super::failed(error, FORMAT),
        DecodingError::Format(_) | DecodingError::Parameter(_) => damaged(FORMAT, UNDECODABLE),
        DecodingError::LimitsExceeded => budget.too_much(),
    }
}
