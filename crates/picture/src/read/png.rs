//! Reads PNG with the crate `png`.

mod packed;
mod stored;

pub use stored::{HEAD, plain};

use std::io::{BufRead, Read, Seek, SeekFrom};

use png::{ColorType, DecodingError, Transformations};

use super::alpha::drop_opaque;
use super::turn::Turn;
use super::{Budget, DecodedFile, Header, Note, UNDECODABLE, array, damaged, exif, make_room};
use crate::{Channels, Error, FileFormat, Pixels};

const FORMAT: FileFormat = FileFormat::Png;

/// The maximum memory for all chunks except the pixels. Of these chunks, only EXIF data may be long.
const METADATA: u64 = 16 << 20;

/// Reads signature and header. After the call, the position of the input is not defined.
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

/// Begins to decode. Returns the header and the decoder.
fn begin<R: BufRead + Seek>(mut input: R, budget: &Budget) -> Result<(Header, png::Reader<R>), Error> {
    let start = input.stream_position().map_err(Error::Read)?;
    let header = header(&mut input)?;
    let Header { width, height, .. } = header;
    budget.check_pixels(width, height)?;
    input.seek(SeekFrom::Start(start)).map_err(Error::Read)?;

    // A row has at most 8 bytes for each pixel.
    let least = METADATA + 8 * u64::from(width);
    let bytes = usize::try_from(least.min(budget.limits.bytes)).unwrap_or(usize::MAX);
    let mut decoder = png::Decoder::new_with_limits(input, png::Limits { bytes });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    // All samples get 8 bits, palettes become colors, and transparent colors become an alpha channel.
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let reader = decoder.read_info().map_err(failed)?;
    let info = reader.info();
    if info.animation_control.is_some() || info.frame_control.is_some() {
        return Err(Error::Animated);
    }
    // If the length of the palette is not valid, the decoder panics.
    let is_whole = |palette: &[u8]| palette.len().is_multiple_of(3) && palette.len() <= 3 * 256;
    if info.color_type == ColorType::Indexed && !info.palette.as_deref().is_some_and(is_whole) {
        return Err(damaged(FORMAT, "its palette has another length"));
    }
    Ok((header, reader))
}

/// Decodes only the first rows, at least one row. Returns `None` if the picture is gray, or if its rows are not stored
/// in order.
pub fn first_rows(input: impl BufRead + Seek, rows: u32, budget: &Budget) -> Result<Option<Pixels>, Error> {
    let (Header { width, channels, .. }, mut reader) = begin(input, budget)?;
    if reader.info().interlaced || channels != Channels::Rgb {
        return Ok(None);
    }
    budget.check_memory(8 * u64::from(width) * (4 + u64::from(rows)))?;
    let (color, _) = reader.output_color_type();
    let (mut samples, mut height) = (Vec::new(), 0);
    while height < rows {
        let Some(row) = reader.next_row().map_err(failed)? else { break };
        samples.extend_from_slice(row.data());
        height += 1;
    }
    if color == ColorType::Rgba {
        drop_opaque::<4>(&mut samples)?;
    }
    Ok(Some(Pixels { width, height, channels, samples }))
}

/// Reads a picture. `room` is memory for the samples; the contents of `room` do not matter.
pub fn read(mut input: impl BufRead + Seek, budget: &Budget, mut room: Vec<u8>) -> Result<DecodedFile, Error> {
    let start = input.stream_position().map_err(Error::Read)?;
    let Header { width, height, channels, .. } = header(&mut input)?;
    budget.check_pixels(width, height)?;
    budget.check_memory(u64::from(width) * u64::from(height) * channels.count() as u64)?;
    input.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
    // Pictures in the form that this crate writes are read by faster functions.
    let is_ours = stored::read(&mut input, width, height, channels, &mut room).is_some() || {
        input.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
        packed::read(&mut input, width, height, channels, &mut room).is_some()
    };
    if is_ours {
        let pixels = Pixels { width, height, channels, samples: room };
        return Ok(DecodedFile { pixels, source: FORMAT, turn: Turn::UPRIGHT, notes: Vec::new() });
    }
    input.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
    decode(input, budget, room)
}

/// Reads any PNG.
fn decode(input: impl BufRead + Seek, budget: &Budget, mut samples: Vec<u8>) -> Result<DecodedFile, Error> {
    let (Header { width, height, channels, .. }, mut reader) = begin(input, budget)?;
    let info = reader.info();
    let mut notes = Vec::new();
    if info.bit_depth == png::BitDepth::Sixteen {
        notes.push(Note::SixteenBits);
    }
    let size = reader.output_buffer_size().ok_or_else(|| budget.too_much())?;
    // The decoder keeps a few rows.
    budget.check_memory(size as u64 + 4 * 8 * u64::from(width))?;
    make_room(&mut samples, size);
    let frame = reader.next_frame(&mut samples).map_err(failed)?;
    // This call reads the chunks after the pixels, which may hold EXIF data, and fails if the end chunk is missing, as
    // in a cut file.
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
    Ok(DecodedFile { pixels: Pixels { width, height, channels, samples }, source: FORMAT, turn, notes })
}

fn failed(error: DecodingError) -> Error {
    match error {
        DecodingError::IoError(error) => super::failed(error, FORMAT),
        DecodingError::Format(_) | DecodingError::Parameter(_) => damaged(FORMAT, UNDECODABLE),
        DecodingError::LimitsExceeded => Error::Unsupported { format: FORMAT, feature: "a chunk that is too long" },
    }
}
