//! Reads PNG, WebP and JPEG pictures as opaque pixels with 8 bits in each sample.
//!
//! The pixels of lossless pictures are returned exactly: color profiles and gamma are ignored. All sizes that a file
//! states are checked against [`Limits`] before memory is allocated. One limit depends on the length of the file. Text,
//! profiles and thumbnails are skipped, whatever their size.

mod alpha;
mod exif;
mod jpeg;
mod limits;
mod note;
mod png;
mod turn;
mod webp;

use std::io::{self, BufRead, Read, Seek};

use self::limits::Budget;
pub use self::limits::Limits;
pub use self::note::Note;
pub(crate) use self::png::{HEAD as PNG_HEAD, plain as plain_png};
use self::turn::Turn;
use crate::{Channels, Error, FileFormat, Pixels};

/// How [`read`] treats a picture whose EXIF data contain an orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Turns the picture upright, as programs show it. For covers.
    Apply,
    /// Returns the pixels in the stored orientation. For pictures that carry data.
    Ignore,
}

/// A picture's properties that are read from its header alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The format of the file.
    pub format: FileFormat,
    /// Pixels in a row, before the picture is turned upright.
    pub width: u32,
    /// Rows, before the picture is turned upright.
    pub height: u32,
    /// The color channels of the picture that [`read`] returns.
    pub channels: Channels,
}

/// A picture that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The pixels.
    pub pixels: Pixels,
    /// The format of the file.
    pub source: FileFormat,
    /// The differences between the returned pixels and the pixels that the file stores.
    pub notes: Vec<Note>,
}

/// Decodes the picture that begins at the input's position.
///
/// ```
/// use std::io::Cursor;
/// use deadpan_picture::{Error, Limits, Orientation, read};
///
/// let error = read(Cursor::new(b"GIF89a"), Orientation::Apply, &Limits::default()).unwrap_err();
/// assert!(matches!(error, Error::OtherFormat("GIF")));
/// ```
///
/// # Errors
/// If the file is no picture, damaged, cut, animated, transparent, larger than the limits, out of proportion to its
/// length, or of an unsupported kind, or if the system cannot read.
pub fn read(input: impl BufRead + Seek, orientation: Orientation, limits: &Limits) -> Result<Decoded, Error> {
    read_into(input, orientation, limits, Vec::new())
}

/// Decodes a picture as [`read`] does. The decoders for PNG and lossless WebP store the pixels in the memory of `room`,
/// so that no new memory is needed for each of many pictures. The contents of `room` do not matter.
///
/// # Errors
/// The errors of [`read`].
pub fn read_into(
    mut input: impl BufRead + Seek,
    orientation: Orientation,
    limits: &Limits,
    room: Vec<u8>,
) -> Result<Decoded, Error> {
    let container = Container::sniff(&mut input)?;
    let budget = limits.budget(length(&mut input)?);
    let stored = match container {
        Container::Png => png::read(input, &budget, room)?,
        Container::WebP => webp::read(input, &budget, room)?,
        Container::Jpeg => jpeg::read(input, &budget)?,
    };
    let DecodedFile { mut pixels, source, turn, mut notes } = stored;
    if orientation == Orientation::Apply && turn != Turn::UPRIGHT {
        budget.check_memory(2 * pixels.samples.len() as u64)?;
        pixels = turn.apply(&pixels);
        notes.push(Note::TurnedUpright);
    }
    Ok(Decoded { pixels, source, notes })
}

/// Decodes only the first rows of a lossless picture in color: enough rows for `pixels` pixels, or all rows if the
/// picture has fewer pixels. Returns `None` if the picture is of another kind, or cannot be decoded row by row.
pub(crate) fn first_rows(
    mut input: impl BufRead + Seek,
    pixels: u32,
    limits: &Limits,
) -> Result<Option<Pixels>, Error> {
    let start = input.stream_position().map_err(Error::Read)?;
    let Header { width, .. } = probe(&mut input)?;
    input.seek(io::SeekFrom::Start(start)).map_err(Error::Read)?;
    let rows = pixels.div_ceil(width);
    let container = Container::sniff(&mut input)?;
    let budget = limits.budget(length(&mut input)?);
    match container {
        Container::Png => png::first_rows(input, rows, &budget),
        Container::WebP => webp::first_rows(input, rows, &budget),
        Container::Jpeg => Ok(None),
    }
}

/// Reads the header of the picture that begins at the input's position. Decodes no pixels.
///
/// # Errors
/// If the file is no picture, if its header is cut, damaged or of an unsupported kind, or if the system cannot read.
pub fn probe(mut input: impl BufRead + Seek) -> Result<Header, Error> {
    match Container::sniff(&mut input)? {
        Container::Png => png::header(&mut input),
        Container::WebP => webp::header(&mut input),
        Container::Jpeg => jpeg::header(&mut input),
    }
}

/// A decoded picture in the form that its file stores.
struct DecodedFile {
    pixels: Pixels,
    source: FileFormat,
    turn: Turn,
    notes: Vec<Note>,
}

enum Container {
    Png,
    WebP,
    Jpeg,
}

impl Container {
    /// Recognizes the file format by the first bytes. Does not change the position of the input.
    fn sniff(mut input: impl BufRead + Seek) -> Result<Self, Error> {
        let start = input.stream_position().map_err(Error::Read)?;
        let mut first = Vec::with_capacity(12);
        input.by_ref().take(12).read_to_end(&mut first).map_err(Error::Read)?;
        input.seek(io::SeekFrom::Start(start)).map_err(Error::Read)?;
        match &*first {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Ok(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P'] => Ok(Self::WebP),
            [0xff, 0xd8, 0xff, ..] => Ok(Self::Jpeg),
            first => Err(other_format(first).map_or(Error::NotAPicture, Error::OtherFormat)),
        }
    }
}

/// Recognizes other picture formats by the first 12 bytes of the file, because people may pass such files by mistake.
fn other_format(first: &[u8]) -> Option<&'static str> {
    Some(match first {
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "GIF",
        // In a BMP file, the file's length and four zeros follow the first two bytes.
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => "BMP",
        [b'I', b'I', b'*' | b'+', 0, ..] | [b'M', b'M', 0, b'*' | b'+', ..] => "TIFF",
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f' | b's'] => "AVIF",
        [_, _, _, _, b'f', b't', b'y', b'p', b'h', b'e', b'i' | b'v', _]
        | [_, _, _, _, b'f', b't', b'y', b'p', b'm', b'i' | b's', b'f', b'1'] => "HEIC",
        [0, 0, 0, 12, b'J', b'X', b'L', b' ', ..] | [0xff, 0x0a, ..] => "JPEG XL",
        [0, 0, 0, 12, b'j', b'P', b' ', b' ', ..] => "JPEG 2000",
        _ => return None,
    })
}

/// Makes room for the samples. The system zeroes new memory faster than a loop could write zeros.
fn make_room(samples: &mut Vec<u8>, length: usize) {
    if samples.capacity() < length {
        *samples = vec![0; length];
    } else {
        samples.resize(length, 0);
    }
}

/// Returns the number of bytes from the input's position to its end. Does not change the position.
fn length(mut input: impl Seek) -> Result<u64, Error> {
    let start = input.stream_position().map_err(Error::Read)?;
    let end = input.seek(io::SeekFrom::End(0)).map_err(Error::Read)?;
    input.seek(io::SeekFrom::Start(start)).map_err(Error::Read)?;
    Ok(end.saturating_sub(start))
}

/// Returns a length that the compressed data of these pixels never exceed, for any encoder. A file with more data may
/// be mostly a hole, which takes no space on the disk, but takes memory when it is read.
fn most_data(pixels: u64) -> u64 {
    pixels.saturating_mul(16).saturating_add(1 << 20)
}

/// The error message if a file has more data than [`most_data`] allows.
const LONG_DATA: &str = "it has more data than its pixels need";

/// Returns the error for a failure of the system, or for an input that ends too early.
fn failed(error: io::Error, format: FileFormat) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::Cut(format),
        _ => Error::Read(error),
    }
}

/// The error message if a decoder fails. The decoder's own message is understandable only with the decoder's code.
const UNDECODABLE: &str = "its pixels cannot be decoded";

fn damaged(format: FileFormat, reason: impl Into<String>) -> Error {
    Error::Damaged { format, reason: reason.into() }
}

/// Reads an array. If the input ends too early, returns [`Error::Cut`].
fn array<const N: usize>(mut input: impl Read, format: FileFormat) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map_err(|error| failed(error, format))?;
    Ok(bytes)
}
