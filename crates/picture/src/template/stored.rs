//! PNG files without compression, a form in which templates can be written. Only the headers of chunks and blocks are
//! read to find the samples.

use std::fs::File;
use std::io;

use crate::position::{read_at, read_exact_at};
use crate::read::{PNG_HEAD, plain_png};

/// The number of bytes of a chunk's length, type and checksum.
const CHUNK: u64 = 12;
/// The length of the header of a stored block.
const BLOCK: u64 = 5;
/// The minimum number of bytes of a row. Opening the file takes a separate read for each row, so shorter rows are
/// refused.
const LEAST_ROW: u64 = 256;

/// A file whose rows are stored and not filtered, and which has no other chunks.
#[derive(Debug)]
pub(super) struct Stored {
    file: File,
    /// The length of a row, including its filter type.
    row: u64,
    samples: u64,
    /// The blocks with contents, in order.
    blocks: Vec<Block>,
}

/// A stored block.
#[derive(Debug)]
struct Block {
    /// The offset of this block's contents, if the contents of all blocks are joined.
    at: u64,
    /// The offset where the block's contents begin in the file.
    place: u64,
}

impl Stored {
    /// Reads the places of the samples. Returns the file as an error if it is another kind of picture, or damaged. The
    /// checksums of the chunks are not compared.
    pub(super) fn open(file: File) -> Result<Self, File> {
        match Self::places(&file) {
            Some((row, samples, blocks)) => Ok(Self { file, row, samples, blocks }),
            None => Err(file),
        }
    }

    fn places(file: &File) -> Option<(u64, u64, Vec<Block>)> {
        let mut head = [0; PNG_HEAD];
        read_exact_at(file, &mut head, 0).ok()?;
        let header = plain_png(&head)?;
        let row = u64::from(header.width) * header.channels.count() as u64 + 1;
        let length = row.checked_mul(u64::from(header.height))?;
        if row < LEAST_ROW || length > file.metadata().ok()?.len() {
            return None;
        }
        let blocks = blocks(file, length)?;
        let filters = (0..u64::from(header.height)).all(|number| {
            let mut filter = [1];
            read_exact_at(file, &mut filter, place(&blocks, number * row)).is_ok() && filter == [0]
        });
        filters.then_some((row, length - u64::from(header.height), blocks))
    }

    pub(super) fn into_file(self) -> File {
        self.file
    }

    /// Returns the number of samples.
    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    /// Fills `samples` with the samples of the picture, beginning with sample `first`. `room` is memory for the bytes
    /// of the file.
    pub(super) fn read(&self, first: u64, samples: &mut [u8], room: &mut Vec<u8>) -> io::Result<()> {
        if samples.is_empty() {
            return Ok(());
        }
        let last = first + samples.len() as u64 - 1;
        if last >= self.samples {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let width = self.row - 1;
        let contents = |sample: u64| sample / width * self.row + sample % width + 1;
        let (mut at, end) = (contents(first), contents(last) + 1);
        let begin = place(&self.blocks, at);
        room.resize((place(&self.blocks, end - 1) + 1 - begin) as usize, 0);
        read_exact_at(&self.file, room, begin)?;

        let mut rest = samples;
        let mut number = block(&self.blocks, at);
        while at < end {
            // Read up to the end of the block, of the row, or of the requested samples.
            let next = self.blocks.get(number + 1).map_or(u64::MAX, |next| next.at);
            if at == next {
                number += 1;
                continue;
            }
            let in_row = at % self.row;
            if in_row == 0 {
                at += 1;
                continue;
            }
            let length = (next - at).min(self.row - in_row).min(end - at) as usize;
            let from = (self.blocks[number].place + (at - self.blocks[number].at) - begin) as usize;
            let (now, later) = rest.split_at_mut(length);
            now.copy_from_slice(&room[from..from + length]);
            rest = later;
            at += length as u64;
        }
        Ok(())
    }
}

fn block(blocks: &[Block], at: u64) -> usize {
    blocks.partition_point(|block| block.at <= at).saturating_sub(1)
}

/// Returns the offset in the file of byte `at` of the contents.
fn place(blocks: &[Block], at: u64) -> u64 {
    blocks.get(block(blocks, at)).map_or(u64::MAX, |block| block.place + (at - block.at))
}

/// Reads the headers of all chunks and blocks. Returns `None` if the contents do not have this length, or if a header
/// lies partly in one chunk and partly in the next.
fn blocks(file: &File, length: u64) -> Option<Vec<Block>> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut chunk, mut at, mut is_first, mut is_last) = (PNG_HEAD as u64, 0, true, false);
    loop {
        let [a, b, c, d, name @ ..] = array::<8>(file, chunk)?;
        let (mut position, end) = (chunk + 8, chunk + 8 + u64::from(u32::from_be_bytes([a, b, c, d])));
        if is_last {
            // No byte follows: the file ends with this chunk.
            let is_end = name == *b"IEND" && position == end && read_at(file, &mut [0; 5], end).ok()? == 4;
            return (is_end && at == length).then_some(blocks);
        }
        if name != *b"IDAT" {
            return None;
        }
        if is_first {
            // The header of a zlib stream without a dictionary.
            let [method, flags] = array(file, position)?;
            let is_zlib = u16::from_be_bytes([method, flags]).is_multiple_of(31);
            if !is_zlib || method & 15 != 8 || flags & 32 != 0 {
                return None;
            }
            position += 2;
            is_first = false;
        }
        while position < end && !is_last {
            let [kind @ (0 | 1), low, high, not_low, not_high] = array(file, position)? else { return None };
            let stored = u64::from(u16::from_le_bytes([low, high]));
            position += BLOCK;
            // Many short blocks need much memory, so short blocks are refused.
            let is_short = kind == 0 && stored < LEAST_ROW;
            if is_short || [!low, !high] != [not_low, not_high] || position + stored > end || at + stored > length {
                return None;
            }
            if stored > 0 {
                blocks.push(Block { at, place: position });
            }
            at += stored;
            position += stored;
            is_last = kind == 1;
        }
        // The last block is followed by the checksum of the zlib stream, in the same chunk.
        if position + if is_last { 4 } else { 0 } != end {
            return None;
        }
        chunk += CHUNK + (end - chunk - 8);
    }
}

fn array<const N: usize>(file: &File, position: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    read_exact_at(file, &mut bytes, position).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::{Channels, Compression, Format, Pixels, write};

    fn pixels(width: u32, height: u32, channels: Channels) -> Pixels {
        let length = width as usize * height as usize * channels.count();
        let samples = (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
        Pixels { width, height, channels, samples }
    }

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        file
    }

    fn stored(pixels: &Pixels) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(pixels, Format::Png, Compression::Stored, 1, &mut bytes).expect("written");
        bytes
    }

    #[test]
    fn samples_are_read_from_any_place() {
        for (width, height) in [(300, 700), (22_000, 30), (70_000, 9), (255, 1), (1000, 800)] {
            for channels in [Channels::Gray, Channels::Rgb] {
                let pixels = pixels(width, height, channels);
                let file = Stored::open(file(&stored(&pixels))).expect("stored");
                assert_eq!(file.samples(), pixels.samples.len() as u64);
                let whole = pixels.samples.len();
                let row = width as usize * channels.count();
                for (first, length) in [
                    (0, whole),
                    (0, 0),
                    (whole, 0),
                    (0, 1),
                    (whole - 1, 1),
                    (row - 1, 2.min(whole + 1 - row)),
                    (whole / 3, whole / 2),
                    (whole.min(65_530), 20.min(whole - whole.min(65_530))),
                    (whole.min(1 << 19), 70_000.min(whole - whole.min(1 << 19))),
                ] {
                    let (mut samples, mut room) = (vec![1; length], Vec::new());
                    file.read(first as u64, &mut samples, &mut room).expect("read");
                    assert!(samples == pixels.samples[first..first + length], "{width} × {height}: {first}, {length}");
                }
                assert!(file.read(whole as u64 - 1, &mut [0; 2], &mut Vec::new()).is_err());
            }
        }
    }

    #[test]
    fn other_files_are_given_back() {
        let pixels = pixels(90, 60, Channels::Rgb);
        let plain = stored(&pixels);
        assert!(Stored::open(file(&plain)).is_ok());
        for length in 0..plain.len() {
            assert!(Stored::open(file(&plain[..length])).is_err(), "{length}");
        }
        assert!(Stored::open(file(&[&plain[..], &[0]].concat())).is_err(), "longer");
        let mut packed = Vec::new();
        write(&pixels, Format::Png, Compression::Fast, 1, &mut packed).expect("written");
        assert!(Stored::open(file(&packed)).is_err(), "compressed");
        // In this file, a row in the middle has a filter.
        let mut one = plain.clone();
        one[33 + 8 + 2 + 5 + 30 * 271] = 1;
        assert!(Stored::open(file(&one)).is_err(), "one row is filtered");
    }

    #[test]
    fn each_changed_byte_of_the_structure_is_found_or_changes_nothing_else() {
        let pixels = pixels(90, 60, Channels::Rgb);
        let plain = stored(&pixels);
        for at in 8..plain.len() {
            let mut bytes = plain.clone();
            bytes[at] ^= 0x10;
            let Ok(file) = Stored::open(file(&bytes)) else { continue };
            let (mut samples, mut room) = (vec![0; pixels.samples.len()], Vec::new());
            file.read(0, &mut samples, &mut room).expect("read");
            let changed = samples.iter().zip(&pixels.samples).filter(|(now, before)| now != before).count();
            assert!(changed <= 1, "{at}");
        }
    }
}
