//! Reads WebP. This crate has its own decoder for lossless pictures, and uses the crate `image-webp` for lossy
//! pictures.
//!
//! This module reads the container itself, and passes only the frame to the decoders. So metadata take no time and no
//! memory.

mod lossless;

use std::io::{BufRead, Cursor, Read, Seek, SeekFrom};

use image_webp::{DecodingError, WebPDecoder};

use self::lossless::{Fault, Memory, Rows};
use super::alpha::drop_opaque;
use super::turn::Turn;
use super::{Budget, DecodedFile, Header, LONG_DATA, Note, UNDECODABLE, array, damaged, exif, most_data};
use crate::{Channels, Error, FileFormat, Pixels};

/// The maximum number of chunks of a file that are read. An ordinary file has less than ten chunks.
const CHUNKS: usize = 1000;
/// Longer EXIF data are ignored. For comparison, JPEG allows EXIF data of 64 KiB.
const EXIF: u32 = 1 << 20;

const ANIMATION: u8 = 0b10;
const ALPHA: u8 = 0b1_0000;

/// The data of a chunk.
#[derive(Clone, Copy)]
struct Chunk {
    offset: u64,
    length: u32,
}

/// The needed chunks of a file.
struct Contents {
    frame: Chunk,
    format: FileFormat,
    width: u32,
    height: u32,
    /// Whether the frame states that it has transparent pixels.
    alpha: bool,
    alpha_plane: Option<Chunk>,
    exif: Option<Chunk>,
}

pub fn header(input: impl BufRead + Seek) -> Result<Header, Error> {
    let Contents { format, width, height, .. } = Contents::read(input)?;
    Ok(Header { format, width, height, channels: Channels::Rgb })
}

/// Decodes only the first rows. Returns `None` if the picture was compressed with loss.
pub fn first_rows(mut input: impl BufRead + Seek, rows: u32, budget: &Budget) -> Result<Option<Pixels>, Error> {
    let contents = Contents::read(&mut input)?;
    let Contents { format, width, height, .. } = contents;
    budget.check_pixels(width, height)?;
    if format != FileFormat::WebPLossless {
        return Ok(None);
    }
    let height = rows.min(height);
    let samples = contents.lossless_rows(&mut input, height, budget, Vec::new())?;
    Ok(Some(Pixels { width, height, channels: Channels::Rgb, samples }))
}

/// Reads a picture. `room` is memory for the samples of lossless pictures; the contents of `room` do not matter.
pub fn read(mut input: impl BufRead + Seek, budget: &Budget, room: Vec<u8>) -> Result<DecodedFile, Error> {
    let contents = Contents::read(&mut input)?;
    let Contents { frame, format, width, height, .. } = contents;
    budget.check_pixels(width, height)?;
    let turn = match contents.exif {
        Some(chunk) => exif::turn(&chunk.read(&mut input, format)?),
        None => Turn::UPRIGHT,
    };
    let mut notes = Vec::new();
    let samples = match format {
        FileFormat::WebPLossless => contents.lossless_rows(&mut input, height, budget, room)?,
        _ => {
            let plane = contents.alpha_plane.filter(|_| contents.alpha);
            let stored = u64::from(frame.length) + plane.map_or(0, |plane| u64::from(plane.length));
            let pixels = u64::from(width) * u64::from(height);
            if stored > most_data(pixels) {
                return Err(damaged(format, LONG_DATA));
            }
            // The memory for three planes of brightness and color, and an alpha plane that is decoded as a picture.
            budget.check_memory(pixels * if plane.is_some() { 11 } else { 5 } + 2 * stored)?;
            let mut flags = 0;
            let mut alpha = Vec::new();
            if let Some(plane) = plane {
                flags = ALPHA;
                alpha = chunk(b"ALPH", plane.length, &plane.read(&mut input, format)?);
            }
            let mut file = head(width, height, flags, &alpha, (b"VP8 ", frame.length));
            file.append(&mut frame.read(&mut input, format)?);
            let mut samples = decode(Cursor::new(file), format, budget)?;
            if plane.is_some() {
                drop_opaque::<4>(&mut samples)?;
            }
            samples
        }
    };
    if contents.alpha {
        notes.push(Note::OpaqueAlpha);
    }
    let pixels = Pixels { width, height, channels: Channels::Rgb, samples };
    Ok(DecodedFile { pixels, source: format, turn, notes })
}

fn decode(input: impl BufRead + Seek, format: FileFormat, budget: &Budget) -> Result<Vec<u8>, Error> {
    let failed = |error| match error {
        DecodingError::IoError(error) => super::failed(error, format),
        DecodingError::ImageTooLarge | DecodingError::MemoryLimitExceeded => budget.too_much(),
        _ => damaged(format, UNDECODABLE),
    };
    let mut decoder = WebPDecoder::new(input).map_err(failed)?;
    let size = decoder.output_buffer_size().ok_or_else(|| budget.too_much())?;
    let mut samples = vec![0; size];
    decoder.read_image(&mut samples).map_err(failed)?;
    Ok(samples)
}

/// Returns the beginning of a file with an extended header: all bytes before the data of the last chunk.
fn head(width: u32, height: u32, flags: u8, chunks: &[u8], (name, length): (&[u8; 4], u32)) -> Vec<u8> {
    let three = |number: u32| [number as u8, (number >> 8) as u8, (number >> 16) as u8];
    let mut extended = vec![flags, 0, 0, 0];
    extended.extend(three(width - 1));
    extended.extend(three(height - 1));
    let mut body = b"WEBP".to_vec();
    body.extend(chunk(b"VP8X", extended.len() as u32, &extended));
    body.extend(chunks);
    body.extend(chunk(name, length, &[]));
    chunk(b"RIFF", (body.len() as u32).saturating_add(length), &body)
}

fn chunk(name: &[u8; 4], length: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = name.to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len() + data.len() % 2, 0);
    bytes
}

impl Chunk {
    fn read(self, mut input: impl BufRead + Seek, format: FileFormat) -> Result<Vec<u8>, Error> {
        input.seek(SeekFrom::Start(self.offset)).map_err(Error::Read)?;
        // The file's length bounds the length of each chunk.
        let mut data = vec![0; self.length as usize];
        input.read_exact(&mut data).map_err(|error| super::failed(error, format))?;
        Ok(data)
    }
}

impl Contents {
    fn lossless_rows(
        &self,
        mut input: impl BufRead + Seek,
        rows: u32,
        budget: &Budget,
        room: Vec<u8>,
    ) -> Result<Vec<u8>, Error> {
        let pixels = u64::from(self.width) * u64::from(rows);
        // The decoder counts its memory exactly, including the tables of codes. This check uses the amount of memory
        // that most pictures take.
        let window = lossless::window(self.width, self.height, rows);
        budget.check_memory((pixels * 4 + pixels / 2).max(pixels * 3 + window))?;
        input.seek(SeekFrom::Start(self.frame.offset)).map_err(Error::Read)?;
        let frame = input.take(self.frame.length.into());
        match lossless::decode(frame, (self.width, self.height), rows, room, Memory::new(budget.most())) {
            // The frame may state that its alpha channel has no meaning.
            Ok(Rows { opaque: false, .. }) if self.alpha => Err(Error::Transparent),
            Ok(Rows { samples, .. }) => Ok(samples),
            Err(Fault::Cut) => Err(Error::Cut(self.format)),
            Err(Fault::Damaged(reason)) => Err(damaged(self.format, reason)),
            Err(Fault::Memory(bytes)) => Err(budget.refusal(bytes)),
            Err(Fault::Read(error)) => Err(super::failed(error, self.format)),
        }
    }

    /// Reads the container. Each returned chunk lies completely in the file.
    fn read(mut input: impl BufRead + Seek) -> Result<Self, Error> {
        // Without a frame, the format may be lossy or lossless: error messages call either format WebP.
        let format = FileFormat::WebPLossless;
        let start = input.stream_position().map_err(Error::Read)?;
        let end = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        input.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
        let [_, _, _, _, length @ .., _, _, _, _] = array::<12>(&mut input, format)?;
        let last = start + 8 + u64::from(u32::from_le_bytes(length));
        if last > end {
            return Err(Error::Cut(format));
        }

        let (mut canvas, mut alpha_plane, mut exif, mut found) = (None, None, None, None);
        let mut offset = start + 12;
        for _ in 0..CHUNKS {
            if offset + 8 > last {
                break;
            }
            input.seek(SeekFrom::Start(offset)).map_err(Error::Read)?;
            let [a, b, c, d, length @ ..] = array::<8>(&mut input, format)?;
            let chunk = Chunk { offset: offset + 8, length: u32::from_le_bytes(length) };
            offset = chunk.offset + u64::from(chunk.length) + u64::from(chunk.length % 2);
            // Some programs do not write the padding of the last chunk.
            if offset > last + u64::from(chunk.length % 2) {
                return Err(Error::Cut(format));
            }
            match &[a, b, c, d] {
                b"VP8X" if canvas.is_none() => canvas = Some(Canvas::read(&mut input, chunk)?),
                b"ANIM" | b"ANMF" => return Err(Error::Animated),
                b"ALPH" => alpha_plane = alpha_plane.or(Some(chunk)),
                b"EXIF" if chunk.length <= EXIF => exif = exif.or(Some(chunk)),
                b"VP8 " if found.is_none() => found = Some(Self::lossy(&mut input, chunk)?),
                b"VP8L" if found.is_none() => found = Some(Self::lossless(&mut input, chunk)?),
                _ => {}
            }
            // Without an extended header, the file contains only the frame.
            if canvas.is_none() && found.is_some() {
                break;
            }
        }
        let Some(found) = found else {
            return Err(damaged(format, "it has no frame"));
        };
        let mut contents = Self { alpha_plane, exif, ..found };
        if let Some(canvas) = canvas {
            if (canvas.width, canvas.height) != (contents.width, contents.height) {
                return Err(damaged(format, "its frame has another size than the picture"));
            }
            // The alpha plane of a lossy frame is used only if the extended header states that there is alpha.
            contents.alpha |= canvas.alpha && contents.format == FileFormat::WebPLossy && alpha_plane.is_some();
        }
        Ok(contents)
    }

    fn lossy(input: impl Read, frame: Chunk) -> Result<Self, Error> {
        let format = FileFormat::WebPLossy;
        let [tag, _, _, sync @ .., a, b, c, d] = short::<10>(input, frame, format)?;
        if tag & 1 != 0 || sync != [0x9d, 0x01, 0x2a] {
            return Err(damaged(format, "its frame is no key frame"));
        }
        // The upper two bits request scaling. All programs ignore these bits.
        let [width, height] = [[a, b], [c, d]].map(|side| u32::from(u16::from_le_bytes(side) & 0x3fff));
        if width == 0 || height == 0 {
            return Err(damaged(format, format!("{width} × {height} pixels")));
        }
        Ok(Self { frame, format, width, height, alpha: false, alpha_plane: None, exif: None })
    }

    fn lossless(input: impl Read, frame: Chunk) -> Result<Self, Error> {
        let format = FileFormat::WebPLossless;
        let [signature, bits @ ..] = short::<5>(input, frame, format)?;
        let bits = u32::from_le_bytes(bits);
        if signature != 0x2f || bits >> 29 != 0 {
            return Err(damaged(format, "its frame has an unknown version"));
        }
        let (width, height) = (1 + (bits & 0x3fff), 1 + (bits >> 14 & 0x3fff));
        Ok(Self { frame, format, width, height, alpha: bits >> 28 & 1 != 0, alpha_plane: None, exif: None })
    }
}

/// The extended header.
struct Canvas {
    width: u32,
    height: u32,
    alpha: bool,
}

impl Canvas {
    fn read(input: impl Read, chunk: Chunk) -> Result<Self, Error> {
        let [flags, _, _, _, a, b, c, d, e, f] = short::<10>(input, chunk, FileFormat::WebPLossless)?;
        if flags & ANIMATION != 0 {
            return Err(Error::Animated);
        }
        let [width, height] = [[a, b, c, 0], [d, e, f, 0]].map(|side| 1 + u32::from_le_bytes(side));
        Ok(Self { width, height, alpha: flags & ALPHA != 0 })
    }
}

/// Reads the first bytes of a chunk, and fails if the chunk is too short.
fn short<const N: usize>(input: impl Read, chunk: Chunk, format: FileFormat) -> Result<[u8; N], Error> {
    if (chunk.length as usize) < N {
        Err(damaged(format, "one of its chunks is too short"))
    } else {
        array(input, format)
    }
}
