//! One frame: its form, and how one thread compresses and expands it.
//!
//! RFC 8878 specifies frames. This format allows only frames that state the length of their contents, and have neither
//! a checksum nor a dictionary.

use std::io;
use std::ops::Range;

use zstd::bulk;
use zstd::zstd_safe::CParameter;

use crate::table::MOST;
use crate::{Flaw, Level, Table};
use deadpan_ct::Wiped;

/// The number of bytes of data in a frame. Only the last frame is shorter.
pub const FRAME: usize = 4 << 20;

pub(crate) const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// The most data that a block of a frame can hold.
const BLOCK: usize = 128 << 10;

/// A frame without a window descriptor, with a length of four bytes, without a checksum or a dictionary.
const STORED_DESCRIPTOR: u8 = 0xa0;

/// The length of the header of such a frame.
const STORED_HEADER: usize = 9;

/// The number of pieces of a frame that tell whether compressing the frame is worth a try, and the length of a piece.
const SAMPLES: (usize, usize) = (8, 8 << 10);

/// The length of a piece in which repetitions are found that are too far apart for the samples.
const TRIAL: usize = 1 << 20;

/// Returns the length of the longest allowed frame with `length` bytes of data.
pub(crate) const fn longest(length: usize) -> usize {
    length + length / 256 + 64
}

/// Returns the length of a frame with `length` bytes of data as they are. No compressed frame is longer.
pub(crate) const fn stored_length(length: usize) -> usize {
    STORED_HEADER + length.div_ceil(BLOCK) * Block::HEADER + length
}

/// Returns the most stored bytes that a compressor makes from `length` bytes of data, or `None` if the data are too
/// long to be compressed.
#[must_use]
pub fn most_stored(length: u64) -> Option<u64> {
    let (full, rest) = (length / FRAME as u64, length % FRAME as u64);
    let frames = full + u64::from(rest > 0);
    let last = if rest > 0 { stored_length(rest as usize) as u64 } else { 0 };
    (frames <= MOST as u64).then(|| full * stored_length(FRAME) as u64 + last + Table::bytes_for(frames as usize))
}

/// Returns the length of the shortest frame with `length` bytes of data. Its blocks are runs of one byte.
pub(crate) const fn shortest(length: usize) -> usize {
    6 + length.div_ceil(BLOCK) * (Block::HEADER + 1)
}

/// Compresses frames on one thread.
pub(crate) struct Press(bulk::Compressor<'static>);

impl Press {
    pub(crate) fn new(level: Level) -> io::Result<Self> {
        let mut context = bulk::Compressor::new(i32::from(level.number()))?;
        // At their full size, the tables of these levels take up to 64 MiB, and make the data less than 1 % shorter.
        let (chain, hash) = match level.number() {
            ..10 => return Ok(Self(context)),
            10..13 => (21, 21),
            13.. => (21, 20),
        };
        context.set_parameter(CParameter::ChainLog(chain))?;
        context.set_parameter(CParameter::HashLog(hash))?;
        Ok(Self(context))
    }

    /// Returns the most memory that [`Press::new`] takes for a level.
    pub(crate) fn memory(level: Level) -> usize {
        let mebibytes = match level.number() {
            ..5 => 3,
            5..9 => 7,
            9.. => 14,
        };
        mebibytes << 20
    }

    /// Makes a frame of `data` in `frame`, which must have room for the longest frame. Returns the length of the frame,
    /// or `None` if the data do not shrink.
    pub(crate) fn press(&mut self, data: &[u8], frame: &mut [u8]) -> io::Result<Option<usize>> {
        // Zstandard writes the length of the data if it knows the length, which it does here.
        let length = self.0.compress_to_buffer(data, frame)?;
        Ok(shrinks(data.len(), length).then_some(length))
    }
}

/// Returns whether compressing made the data so much shorter that it was worth it.
fn shrinks(length: usize, compressed: usize) -> bool {
    compressed < length - length / 64
}

/// Reads the data of a frame at a position until the buffer is full.
pub(crate) type ReadFrame<'r> = dyn FnMut(&mut [u8], usize) -> io::Result<()> + 'r;

/// Looks at parts of frames.
#[derive(Default)]
pub(crate) struct Sampler {
    context: Option<bulk::Compressor<'static>>,
    sample: Wiped<Vec<u8>>,
    pressed: Wiped<Vec<u8>>,
}

impl Sampler {
    /// Returns whether small pieces of `length` bytes of data do not shrink. Short data are not sampled.
    pub(crate) fn is_dense(&mut self, length: usize, read: &mut ReadFrame<'_>) -> io::Result<bool> {
        let (count, piece) = SAMPLES;
        if length < count * piece {
            return Ok(false);
        }
        if self.sample.is_empty() {
            self.sample = Wiped::new(vec![0; count * piece]);
            self.pressed = Wiped::new(vec![0; longest(count * piece)]);
        }
        for (number, bytes) in self.sample.chunks_mut(piece).enumerate() {
            read(bytes, number * (length / count))?;
        }
        let context = match &mut self.context {
            Some(context) => context,
            none => none.insert(bulk::Compressor::new(1)?),
        };
        let pressed = context.compress_to_buffer(&self.sample[..], &mut self.pressed[..])?;
        Ok(!shrinks(self.sample.len(), pressed))
    }
}

/// Returns whether one long piece of `length` bytes of data shrinks.
pub(crate) fn trial(length: usize, read: &mut ReadFrame<'_>) -> io::Result<bool> {
    let all = length.min(TRIAL);
    let mut piece = Wiped::new(vec![0; all]);
    read(&mut piece, (length - all) / 2)?;
    let mut pressed = Wiped::new(vec![0; longest(all)]);
    let mut context = bulk::Compressor::new(i32::from(Level::default().number()))?;
    Ok(shrinks(all, context.compress_to_buffer(&piece[..], &mut pressed[..])?))
}

/// A stretch of a frame that holds data as they are.
pub(crate) enum Stretch {
    /// A part of these bytes, which are the header of the frame or of a block.
    Header([u8; STORED_HEADER], Range<usize>),
    /// A part of the data.
    Data(Range<usize>),
}

/// Returns the stretch that begins at position `at` of a frame with `length` bytes of data as they are.
pub(crate) fn stretch(length: usize, at: usize) -> Stretch {
    let mut header = [0; STORED_HEADER];
    let Some(at) = at.checked_sub(STORED_HEADER) else {
        header[..4].copy_from_slice(&MAGIC);
        header[4] = STORED_DESCRIPTOR;
        header[5..].copy_from_slice(&(length as u32).to_le_bytes());
        return Stretch::Header(header, at..STORED_HEADER);
    };
    let (block, at) = (at / (Block::HEADER + BLOCK), at % (Block::HEADER + BLOCK));
    let begin = block * BLOCK;
    let end = length.min(begin + BLOCK);
    let Some(at) = at.checked_sub(Block::HEADER) else {
        let is_last = u32::from(end == length);
        header[..4].copy_from_slice(&((end - begin) as u32 * 8 + is_last).to_le_bytes());
        return Stretch::Header(header, at..Block::HEADER);
    };
    Stretch::Data(begin + at..end)
}

/// Expands frames on one thread.
pub(crate) struct Expand(bulk::Decompressor<'static>);

impl Expand {
    pub(crate) fn new() -> io::Result<Self> {
        bulk::Decompressor::new().map(Self)
    }

    /// Expands a whole frame into `data`, which is as long as the frame's header states.
    pub(crate) fn expand(&mut self, number: u64, frame: &[u8], data: &mut [u8]) -> Result<(), Flaw> {
        match self.0.decompress_to_buffer(frame, data) {
            Ok(length) if length == data.len() => Ok(()),
            _ => Err(Flaw::Contents(number)),
        }
    }
}

/// What the beginning of a frame states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The length of the header.
    pub(crate) header: usize,
    /// The length of the data.
    pub(crate) length: usize,
}

impl Start {
    /// The length of the longest header.
    pub(crate) const LONGEST: usize = 4 + 1 + 1 + 8;

    /// Reads the header of a frame. Returns `None` if `bytes` ends within the header.
    pub(crate) fn read(number: u64, bytes: &[u8]) -> Result<Option<Self>, Flaw> {
        let Some((magic, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
        let Some((&descriptor, rest)) = rest.split_first() else { return Ok(None) };
        let flaw = Flaw::Header(number);
        // Bits 0 and 1 ask for a dictionary, bit 2 for a checksum. Bit 3 is reserved, and bit 4 has no meaning.
        if *magic != MAGIC || descriptor & 0x1f != 0 {
            return Err(flaw);
        }
        let is_single = descriptor & 0x20 != 0;
        let window = usize::from(!is_single);
        if !is_single {
            let Some(&window) = rest.first() else { return Ok(None) };
            // The decoder checks the window only of streams.
            let base = 1_u64 << (10 + (window >> 3));
            if base + base / 8 * u64::from(window & 7) > FRAME as u64 {
                return Err(flaw);
            }
        }
        let field = match descriptor >> 6 {
            0 if is_single => 1,
            0 => return Err(flaw),
            log => 1 << log,
        };
        let Some(stated) = rest.get(window..window + field) else { return Ok(None) };
        let mut wide = [0; 8];
        wide[..field].copy_from_slice(stated);
        let length = u64::from_le_bytes(wide) + if field == 2 { 256 } else { 0 };
        if length == 0 || length > FRAME as u64 {
            return Err(flaw);
        }
        Ok(Some(Self { header: 5 + window + field, length: length as usize }))
    }
}

/// The header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The number of bytes after the header.
    pub(crate) stored: usize,
    pub(crate) is_last: bool,
}

impl Block {
    pub(crate) const HEADER: usize = 3;

    pub(crate) fn read(number: u64, header: [u8; 3]) -> Result<Self, Flaw> {
        let [a, b, c] = header;
        let value = u32::from_le_bytes([a, b, c, 0]);
        let size = (value >> 3) as usize;
        let stored = match value >> 1 & 3 {
            _ if size > BLOCK => return Err(Flaw::Blocks(number)),
            1 => 1,
            3 => return Err(Flaw::Blocks(number)),
            _ => size,
        };
        Ok(Self { stored, is_last: value & 1 == 1 })
    }
}
