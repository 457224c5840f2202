//! One frame: its form, and how one thread compresses and expands it.
//!
//! RFC 8878 specifies frames. This format allows only frames that state the length of their contents, and have neither
//! a checksum nor a dictionary.

use std::io;

use zstd::bulk;

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
const STORED_HEADER: u64 = 9;

/// The number of pieces of a frame that tell whether compressing the frame is worth a try, and the length of a piece.
const SAMPLES: (usize, usize) = (8, 8 << 10);

/// Returns the length of the longest allowed frame with `length` bytes of data.
pub(crate) const fn longest(length: usize) -> usize {
    length + length / 256 + 64
}

/// Returns the length of a frame with `length` bytes of data as they are. No compressed frame is longer.
const fn stored_length(length: u64) -> u64 {
    STORED_HEADER + length.div_ceil(BLOCK as u64) * Block::HEADER as u64 + length
}

/// Returns the most stored bytes that a compressor makes from `length` bytes of data, or `None` if the data are too
/// long to be compressed.
#[must_use]
pub fn most_stored(length: u64) -> Option<u64> {
    let (full, rest) = (length / FRAME as u64, length % FRAME as u64);
    let frames = full + u64::from(rest > 0);
    let last = if rest > 0 { stored_length(rest) } else { 0 };
    (frames <= MOST as u64).then(|| full * stored_length(FRAME as u64) + last + Table::bytes_for(frames as usize))
}

/// Returns the length of the shortest frame with `length` bytes of data. Its blocks are runs of one byte.
pub(crate) const fn shortest(length: usize) -> usize {
    6 + length.div_ceil(BLOCK) * (Block::HEADER + 1)
}

/// Compresses frames on one thread.
pub(crate) struct Press {
    context: bulk::Compressor<'static>,
    quick: Option<bulk::Compressor<'static>>,
}

impl Press {
    pub(crate) fn new(level: Level) -> io::Result<Self> {
        Ok(Self { context: bulk::Compressor::new(i32::from(level.number()))?, quick: None })
    }

    /// Makes a frame of `data` in `frame`, which must have room for the longest frame. Stores data that do not shrink.
    /// With `doubtful`, stores the data at once if a sample of the data does not shrink. Returns the length of the
    /// frame, and whether the data shrank.
    pub(crate) fn press(&mut self, data: &[u8], doubtful: bool, frame: &mut [u8]) -> io::Result<(usize, bool)> {
        if !(doubtful && self.is_dense(data)?) {
            // Zstandard writes the length of the data if it knows the length, which it does here.
            let length = self.context.compress_to_buffer(data, frame)?;
            if length < data.len() - data.len() / 64 {
                return Ok((length, true));
            }
        }
        Ok((store(data, frame), false))
    }

    fn is_dense(&mut self, data: &[u8]) -> io::Result<bool> {
        let (count, length) = SAMPLES;
        if data.len() < count * length {
            return Ok(false);
        }
        let mut sample = Wiped::new(Vec::with_capacity(count * length));
        data.chunks(data.len() / count).take(count).for_each(|piece| sample.extend_from_slice(&piece[..length]));
        let quick = match &mut self.quick {
            Some(quick) => quick,
            none => none.insert(bulk::Compressor::new(1)?),
        };
        let mut pressed = Wiped::new(vec![0; longest(sample.len())]);
        Ok(quick.compress_to_buffer(&sample[..], &mut pressed[..])? > sample.len() - sample.len() / 64)
    }
}

/// Makes a frame with `data` as they are, and returns the length of the frame.
fn store(data: &[u8], frame: &mut [u8]) -> usize {
    let mut end = 0;
    let mut put = |bytes: &[u8]| {
        frame[end..end + bytes.len()].copy_from_slice(bytes);
        end += bytes.len();
    };
    put(&MAGIC);
    put(&[STORED_DESCRIPTOR]);
    put(&(data.len() as u32).to_le_bytes());
    let mut blocks = data.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let is_last = u32::from(blocks.peek().is_none());
        put(&((block.len() as u32) << 3 | is_last).to_le_bytes()[..Block::HEADER]);
        put(block);
    }
    end
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
