//! Reads the segments before a JPEG picture's first scan.

use std::io::{BufRead, Seek};

use super::FORMAT;
use crate::Error;
use crate::read::turn::Turn;
use crate::read::{array, damaged, exif, failed};

/// The maximum number of bytes of tables. An ordinary file has less than 4096 bytes of tables.
const TABLES: usize = 1 << 18;

/// The meaning of the samples of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    Gray,
    YCbCr,
    Rgb,
    /// Inverted inks: 255 means no ink. Most programs treat all inks as inverted, because Adobe's programs write
    /// inverted inks.
    Cmyk,
    Ycck,
}

/// The data that the decoder needs from the segments before the first scan's data.
pub struct Segments {
    pub width: u16,
    pub height: u16,
    pub colors: Colors,
    pub turn: Turn,
    /// The maximum memory that the decoder takes besides the file, including the result.
    pub memory: u64,
    /// The start marker, tables, frame header and scan header, without metadata.
    pub tables: Vec<u8>,
}

/// A frame header.
struct Frame {
    progressive: bool,
    width: u16,
    height: u16,
    /// The name and the sampling factors of each component.
    components: Vec<[u8; 3]>,
}

impl Segments {
    /// Reads up to the first scan's data.
    pub fn read(mut input: impl BufRead + Seek) -> Result<Self, Error> {
        let mut tables = array::<2>(&mut input, FORMAT)?.to_vec();
        let (mut frame, mut turn, mut jfif, mut adobe) = (None, None, false, None);
        loop {
            let marker = marker(&mut input)?;
            if matches!(marker, 0x01 | 0xd0..=0xd7) {
                continue;
            }
            if matches!(marker, 0xd8 | 0xd9) {
                return Err(damaged(FORMAT, "it has no scan"));
            }
            let length = u16::from_be_bytes(array(&mut input, FORMAT)?);
            let Some(rest) = length.checked_sub(2) else {
                return Err(damaged(FORMAT, "one of its segments has no length"));
            };
            // Skip metadata that do not matter.
            if matches!(marker, 0xe2..=0xed | 0xef | 0xf0..=0xfe) {
                input.seek_relative(rest.into()).map_err(Error::Read)?;
                continue;
            }
            let mut data = vec![0; rest.into()];
            input.read_exact(&mut data).map_err(|error| failed(error, FORMAT))?;
            match marker {
                0xe0 => {
                    jfif |= data.starts_with(b"JFIF\0");
                    continue;
                }
                0xe1 => {
                    if turn.is_none() && data.starts_with(b"Exif\0\0") {
                        turn = Some(exif::turn(&data));
                    }
                    continue;
                }
                0xee => {
                    if let [b'A', b'd', b'o', b'b', b'e', _, _, _, _, _, _, transform, ..] = *data {
                        adobe = Some(transform);
                    }
                    continue;
                }
                0xc4 | 0xda | 0xdb | 0xdd => {}
                0xc0..=0xc2 if frame.is_none() => frame = Some(Frame::read(marker, &data)?),
                0xc0..=0xc2 => return Err(damaged(FORMAT, "it has two frames")),
                0xc3 | 0xc5..=0xcf => {
                    let feature = "arithmetic, lossless or hierarchical coding";
                    return Err(Error::Unsupported { format: FORMAT, feature });
                }
                _ => return Err(damaged(FORMAT, format!("it has an unknown marker {marker:#04x}"))),
            }
            tables.extend([0xff, marker]);
            tables.extend(length.to_be_bytes());
            tables.append(&mut data);
            if tables.len() > TABLES {
                return Err(damaged(FORMAT, "it has too many tables"));
            }
            if marker == 0xda {
                break;
            }
        }
        let frame = frame.ok_or_else(|| damaged(FORMAT, "it has no frame"))?;
        let colors = frame.colors(jfif, adobe)?;
        let (width, height, memory) = (frame.width, frame.height, frame.memory());
        Ok(Self { width, height, colors, turn: turn.unwrap_or(Turn::UPRIGHT), memory, tables })
    }
}

/// Reads up to the next marker. As in libjpeg, bytes before the marker are ignored.
fn marker(mut input: impl BufRead) -> Result<u8, Error> {
    loop {
        let skipped = input.skip_until(0xff).map_err(|error| failed(error, FORMAT))?;
        if skipped == 0 {
            return Err(Error::Cut(FORMAT));
        }
        let mut byte = 0xff;
        while byte == 0xff {
            [byte] = array(&mut input, FORMAT)?;
        }
        if byte != 0 {
            return Ok(byte);
        }
    }
}

impl Frame {
    fn read(marker: u8, data: &[u8]) -> Result<Self, Error> {
        let &[bits, a, b, c, d, count, ref components @ ..] = data else {
            return Err(damaged(FORMAT, "its frame header is too short"));
        };
        let (height, width) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        if bits != 8 {
            return Err(Error::Unsupported { format: FORMAT, feature: "samples of more than 8 bits" });
        }
        if width == 0 {
            return Err(damaged(FORMAT, "its width is 0"));
        }
        if height == 0 {
            return Err(Error::Unsupported { format: FORMAT, feature: "a height that comes after the pixels" });
        }
        let (components, rest) = components.as_chunks();
        if components.len() != count.into() || !rest.is_empty() {
            return Err(damaged(FORMAT, "its frame header has a wrong length"));
        }
        Ok(Self { progressive: marker == 0xc2, width, height, components: components.to_vec() })
    }

    /// Decides the color model of the components, as libjpeg does: JFIF has no RGB.
    fn colors(&self, jfif: bool, adobe: Option<u8>) -> Result<Colors, Error> {
        let names: Vec<u8> = self.components.iter().map(|&[name, ..]| name).collect();
        match (self.components.len(), adobe) {
            (1, _) => Ok(Colors::Gray),
            (3, _) if jfif => Ok(Colors::YCbCr),
            (3, Some(0)) => Ok(Colors::Rgb),
            (3, None) if names == *b"RGB" => Ok(Colors::Rgb),
            (3, _) => Ok(Colors::YCbCr),
            (4, Some(2)) => Ok(Colors::Ycck),
            (4, _) => Ok(Colors::Cmyk),
            _ => Err(Error::Unsupported { format: FORMAT, feature: "an unusual number of color components" }),
        }
    }

    /// Returns the maximum memory for decoding: the result, a plane for each component, and all coefficients. The
    /// decoder passes coefficients to other threads in a queue. If the other threads are slow, the queue can contain
    /// all coefficients. For a progressive picture, the coefficients are stored twice.
    fn memory(&self) -> u64 {
        let factor = |shift: u8| self.components.iter().map(|&[_, factors, _]| u64::from(factors >> shift & 15)).max();
        let (across, down) = (factor(4).unwrap_or(1).max(1), factor(0).unwrap_or(1).max(1));
        let units = u64::from(self.width).div_ceil(8 * across) * u64::from(self.height).div_ceil(8 * down);
        let blocks = |&[_, factors, _]: &[u8; 3]| units * u64::from(factors >> 4) * u64::from(factors & 15);
        let planes = self.components.iter().map(blocks).sum::<u64>() * 64;
        let coefficients = planes * if self.progressive { 4 } else { 2 };
        let pixels = u64::from(self.width) * u64::from(self.height);
        planes + coefficients + pixels * self.components.len() as u64
    }
}
