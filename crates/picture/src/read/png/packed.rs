//! Reads PNG in the form that this crate compresses. Two bands of a picture are decoded side by side: the core works on
//! the codes of one band while it waits for the codes of the other band. This is nearly twice as fast as a general PNG
//! decoder.

use std::io::Read;

use crc_fast::{CrcAlgorithm, Digest};

use super::super::make_room;
use super::stored::{HEAD, plain};
use crate::Channels;
use crate::write::png_code::{Code, LONGEST, SYMBOLS, codes};
use crate::write::rows_of_band;

/// The number of bands that are decoded side by side. The tables for this number of bands fit into the fastest cache of
/// a CPU core.
const LANES: usize = 2;
/// The symbol that ends a block.
const END: usize = 256;
/// The maximum number of bytes that the decoder may write beyond the end of a band.
const SLACK: usize = 17;
/// The number of zeros after the contents of a chunk. Bits are read in whole words, up to two words beyond the last
/// code.
const PADDING: usize = 16;
/// The maximum number of bytes by which the compressed chunk of a band is longer than the rows of the band.
const AROUND: usize = 16;

/// Reads a picture in the form that [`write`](crate::write()) compresses. Returns `None` if the file has another form
/// or is damaged. If `None` is returned, the general decoder reads the picture, or reports what is wrong.
pub fn read(mut input: impl Read, width: u32, height: u32, channels: Channels, samples: &mut Vec<u8>) -> Option<()> {
    let mut head = [0; HEAD];
    input.read_exact(&mut head).ok()?;
    plain(&head)?;
    let row = width as usize * channels.count();
    let rows = rows_of_band(row);
    if rows == 1 {
        // The memory for bands of very long rows is not counted.
        return None;
    }
    make_room(samples, row * height as usize);
    let mut bands: [PackedRows; LANES] = Default::default();
    let (mut above, mut left): (Option<&[u8]>, _) = (None, samples.as_mut_slice());
    let mut is_first = true;
    while !left.is_empty() {
        let bands = &mut bands[..left.len().div_ceil(rows * row).min(LANES)];
        let mut after = left.len();
        for band in &mut *bands {
            let samples = after.min(rows * row);
            after -= samples;
            band.is_last = after == 0;
            band.read(&mut input, samples / row * (row + 1), std::mem::take(&mut is_first))?;
        }
        decode(bands)?;
        let (mut now, later) = left.split_at_mut(left.len() - after);
        for filtered in bands.iter().flat_map(|band| band.rows[..band.rows.len() - SLACK].chunks_exact(row + 1)) {
            let (target, rest) = now.split_at_mut(row);
            restore(filtered, above, target)?;
            above = Some(target);
            now = rest;
        }
        left = later;
    }
    end(input)
}

/// Reads the last chunk, and checks that no bytes follow.
fn end(input: impl Read) -> Option<()> {
    let mut last = Vec::new();
    input.take(13).read_to_end(&mut last).ok()?;
    (last == *b"\0\0\0\0IEND\xae\x42\x60\x82").then_some(())
}

/// Turns a row into samples. The row may store the differences to the row above. The first row has no row above.
fn restore(filtered: &[u8], above: Option<&[u8]>, samples: &mut [u8]) -> Option<()> {
    match (filtered.split_first()?, above) {
        ((0, filtered), _) => samples.copy_from_slice(filtered),
        ((2, filtered), Some(above)) => {
            for ((sample, difference), above) in samples.iter_mut().zip(filtered).zip(above) {
                *sample = difference.wrapping_add(*above);
            }
        }
        _ => return None,
    }
    Some(())
}

/// Some rows of a picture: one `IDAT` chunk with one block.
#[derive(Default)]
struct PackedRows {
    /// The contents of the chunk from the beginning of the deflate block, followed by zeros.
    data: Vec<u8>,
    /// The rows with their filter types, and unused bytes at the end.
    rows: Vec<u8>,
    table: CodeTable,
    is_last: bool,
}

impl PackedRows {
    /// Reads the chunk. `length` is the length of the rows.
    fn read(&mut self, input: &mut impl Read, length: usize, is_first: bool) -> Option<()> {
        let mut head = [0; 8];
        input.read_exact(&mut head).ok()?;
        let [a, b, c, d, name @ ..] = head;
        let packed = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
        if name != *b"IDAT" || packed > length + AROUND {
            return None;
        }
        self.data.resize(packed, 0);
        input.read_exact(&mut self.data).ok()?;
        let mut sum = [0; 4];
        input.read_exact(&mut sum).ok()?;
        let mut crc = Digest::new(CrcAlgorithm::Crc32IsoHdlc);
        crc.update(b"IDAT");
        crc.update(&self.data);
        if crc.finalize() as u32 != u32::from_be_bytes(sum) {
            return None;
        }
        if is_first {
            let [0x78, 0x01] = *self.data.get(..2)? else { return None };
            self.data.drain(..2);
        }
        self.data.resize(self.data.len() + PADDING, 0);
        self.rows.resize(length + SLACK, 0);
        Some(())
    }
}

/// Decodes the blocks of bands.
fn decode(bands: &mut [PackedRows]) -> Option<()> {
    let mut lanes: Vec<Lane<'_>> = bands.iter_mut().map(Lane::begin).collect::<Option<_>>()?;
    while lanes.iter().any(|lane| !lane.is_done) {
        match lanes.as_mut_array::<LANES>() {
            Some(lanes) if lanes.iter().all(|lane| !lane.is_done) => step(lanes)?,
            _ => lanes.iter_mut().filter(|lane| !lane.is_done).try_for_each(|lane| step(std::array::from_mut(lane)))?,
        }
    }
    lanes.into_iter().all(Lane::ends).then_some(())
}

/// Decodes some symbols of each lane.
#[inline(always)]
fn step<const N: usize>(lanes: &mut [Lane<'_>; N]) -> Option<()> {
    const { assert!(STEP as u32 * LONGEST as u32 <= 56) };
    for lane in &mut *lanes {
        lane.refill()?;
    }
    let mut bits = lanes.each_ref().map(|lane| lane.bits);
    let (mut entries, mut sums) = ([0_u32; N], [0_u32; N]);
    let tables = lanes.each_ref().map(|lane| lane.table);
    // The decoder may write two bytes for each code, so it may write beyond the end of a band, where unused bytes
    // follow.
    let mut rooms =
        lanes.each_mut().map(|lane| lane.rows.get_mut(lane.to..).and_then(<[u8]>::first_chunk_mut::<SLACK>));
    for _ in 0..STEP {
        for lane in 0..N {
            let entry = tables[lane][bits[lane] as usize % ENTRIES];
            // A symbol that is not a literal consumes no bits and writes no bytes. It is handled after the loop.
            let to = (sums[lane] >> 8) as usize % 16;
            rooms[lane].as_mut()?[to..to + 2].copy_from_slice(&((entry >> 16) as u16).to_le_bytes());
            bits[lane] >>= entry & 63;
            sums[lane] = sums[lane].wrapping_add(entry);
            entries[lane] = entry;
        }
    }
    for (at, lane) in lanes.iter_mut().enumerate() {
        lane.bits = bits[at];
        lane.count -= sums[at] & 0xff;
        lane.to += (sums[at] >> 8) as usize & 0xff;
        if entries[at] >> 8 & 3 == 0 {
            lane.special((entries[at] >> 16) as usize)?;
        }
    }
    Some(())
}

/// A table with an entry for each possible value of the next bits of the stream. The lowest byte of an entry holds the
/// number of bits that the decoded codes take. The next byte holds the number of literals, 1 or 2. The upper two bytes
/// hold the literals. For a symbol that is not a literal, the lower bytes are zero, and the upper two bytes hold the
/// symbol.
type CodeTable = Vec<u32>;

/// The number of entries of a table.
const ENTRIES: usize = 1 << LONGEST;
/// The number of codes that are decoded from one word of bits.
const STEP: usize = 5;

/// A block that is being decoded.
struct Lane<'a> {
    data: &'a [u8],
    /// The byte of `data` that is next.
    at: usize,
    /// Bits that were read.
    bits: u64,
    /// The number of bits in `bits`.
    count: u32,
    rows: &'a mut [u8],
    /// The byte of `rows` that is next.
    to: usize,
    table: &'a [u32; ENTRIES],
    lengths: [u8; SYMBOLS],
    is_last: bool,
    is_done: bool,
}

impl<'a> Lane<'a> {
    /// Reads the head of the block.
    fn begin(band: &'a mut PackedRows) -> Option<Self> {
        let PackedRows { data, rows, table, is_last } = band;
        let lengths = [0; SYMBOLS];
        let mut lane = Lane {
            data,
            at: 0,
            bits: 0,
            count: 0,
            rows,
            to: 0,
            table: &[0; ENTRIES],
            lengths,
            is_last: *is_last,
            is_done: false,
        };
        let head = lane.take(3)? | lane.take(14)? << 3;
        if head != u64::from(lane.is_last) | 2 << 1 | (SYMBOLS as u64 - 257) << 3 | 15 << 13 {
            return None;
        }
        for at in 0..19 {
            let length = lane.take(3)?;
            if length != if at < 3 { 0 } else { 4 } {
                return None;
            }
        }
        for at in 0..SYMBOLS {
            lane.lengths[at] = lane.length()?;
        }
        if lane.length()? != 1 {
            return None;
        }
        fill(table, &lane.lengths)?;
        lane.table = table.as_slice().try_into().ok()?;
        Some(lane)
    }

    fn length(&mut self) -> Option<u8> {
        Some((self.take(4)? as u8).reverse_bits() >> 4)
    }

    /// Makes at least 56 bits available.
    #[inline(always)]
    fn refill(&mut self) -> Option<()> {
        let word = self.data.get(self.at..)?.first_chunk()?;
        self.bits |= u64::from_le_bytes(*word) << self.count;
        self.at += (63 - self.count as usize) / 8;
        self.count |= 56;
        Some(())
    }

    /// Takes at most 16 bits.
    fn take(&mut self, count: u32) -> Option<u64> {
        self.refill()?;
        let bits = self.bits & ((1 << count) - 1);
        self.bits >>= count;
        self.count -= count;
        Some(bits)
    }

    /// Decodes the end of the block, or a repetition of the previous byte.
    #[cold]
    fn special(&mut self, symbol: usize) -> Option<()> {
        self.take(self.lengths[symbol].into())?;
        let (base, extra) = match symbol {
            END => {
                self.is_done = true;
                return Some(());
            }
            257..265 => (symbol - 254, 0),
            265..285 => {
                let extra = (symbol - 261) / 4;
                ((((symbol - 261) % 4 + 4) << extra) + 3, extra)
            }
            _ => (258, 0),
        };
        // The code of the distance is one bit.
        let length = base + self.take(extra as u32)? as usize;
        if self.take(1)? != 0 {
            return None;
        }
        let byte = *self.rows.get(self.to.checked_sub(1)?)?;
        self.rows.get_mut(self.to..self.to + length)?.fill(byte);
        self.to += length;
        Some(())
    }

    /// Returns whether the rows are full and the chunk has the correct end.
    fn ends(mut self) -> bool {
        if !self.is_last && self.take(3) != Some(0) {
            return false;
        }
        // Unused bits fill up the last byte.
        let padding = self.count % 8;
        if self.take(padding) != Some(0) {
            return false;
        }
        let at = self.at - self.count as usize / 8;
        let rest = self.data.get(at..self.data.len() - PADDING);
        let is_whole = rest.is_some_and(|rest| if self.is_last { rest.len() == 4 } else { rest == [0, 0, 0xff, 0xff] });
        is_whole && self.to == self.rows.len() - SLACK
    }
}

/// Fills the table. Returns `None` if the lengths do not form a complete code.
fn fill(table: &mut CodeTable, lengths: &[u8; SYMBOLS]) -> Option<()> {
    let room: u32 = lengths
        .iter()
        .filter(|length| **length > 0)
        .map(|length| 1_u32.checked_shl(LONGEST.checked_sub(*length)?.into()))
        .sum::<Option<_>>()?;
    if room != 1 << LONGEST {
        return None;
    }
    let mut single = [(0_u16, 0_u8); 1 << LONGEST];
    for (symbol, Code { bits, length }) in (0..).zip(codes(lengths)).filter(|(_, code)| code.length > 0) {
        single[usize::from(bits)..].iter_mut().step_by(1 << length).for_each(|entry| *entry = (symbol, length));
    }
    table.clear();
    table.extend((0..1_usize << LONGEST).map(|at| {
        let (first, length) = single[at];
        let (second, more) = single[at >> length];
        match (first, second) {
            (256.., _) => u32::from(first) << 16,
            (_, ..256) if length + more <= LONGEST => {
                u32::from(length + more) | 2 << 8 | u32::from(first) << 16 | u32::from(second) << 24
            }
            _ => u32::from(length) | 1 << 8 | u32::from(first) << 16,
        }
    }));
    Some(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use crate::read::{Limits, Orientation, read as read_any};
    use crate::{Channels, Compression, Format, Pixels, write};

    fn packed(pixels: &Pixels, threads: usize) -> Vec<u8> {
        let mut file = Vec::new();
        write(pixels, Format::Png, Compression::Fast, threads, &mut file).expect("written");
        file
    }

    /// Returns similar rows, with repetitions and with noise of `bits` bits.
    fn pixels(width: u32, height: u32, channels: Channels, bits: u32) -> Pixels {
        let length = width as usize * height as usize * channels.count();
        let row = width * channels.count() as u32;
        let sample = |at: u32| {
            let noise = at.wrapping_mul(2_654_435_761) >> 7 & ((1 << bits) - 1);
            (at % row / 7 + if (at / 900).is_multiple_of(3) { 0 } else { noise }) as u8
        };
        Pixels { width, height, channels, samples: (0..length as u32).map(sample).collect() }
    }

    #[test]
    fn packed_pictures_are_read_as_the_general_decoder_reads_them() {
        for (width, height) in [(90, 60), (300, 700), (1000, 1777), (22_000, 70), (70_000, 20)] {
            for channels in [Channels::Gray, Channels::Rgb] {
                for bits in [0, 1, 3, 5] {
                    let pixels = pixels(width, height, channels, bits);
                    let file = packed(&pixels, 2);
                    let mut ours = vec![1; 10];
                    let found = super::read(Cursor::new(&file), width, height, channels, &mut ours);
                    assert_eq!(found, Some(()), "{width} × {height}, {bits}");
                    assert!(ours == pixels.samples);
                    let mut decoder = png::Decoder::new(Cursor::new(&file)).read_info().expect("read");
                    let mut theirs = vec![0; ours.len()];
                    decoder.next_frame(&mut theirs).expect("read");
                    assert!(theirs == pixels.samples);
                }
            }
        }
    }

    #[test]
    fn damage_is_left_to_the_general_decoder() {
        let pixels = pixels(90, 60, Channels::Gray, 3);
        let file = packed(&pixels, 1);
        let read = |file: &[u8]| super::read(Cursor::new(file), 90, 60, Channels::Gray, &mut Vec::new());
        assert_eq!(read(&file), Some(()));
        assert_eq!(read(&[&file[..], &[0]].concat()), None);
        for length in 0..file.len() {
            assert_eq!(read(&file[..length]), None, "{length}");
        }
        for at in 0..file.len() {
            let mut file = file.clone();
            file[at] ^= 0x40;
            assert_eq!(read(&file), None, "{at}");
            let read = read_any(Cursor::new(&file), Orientation::Ignore, &Limits::default());
            assert!(read.is_err() || read.is_ok_and(|read| read.pixels == pixels), "{at}");
        }
    }

    /// The checksum of the chunk is correct, so only the decoder can find the damage.
    #[test]
    fn damaged_blocks_are_no_other_pictures_than_those_of_the_general_decoder() {
        let pixels = pixels(90, 60, Channels::Gray, 3);
        let file = packed(&pixels, 1);
        let end = file.len() - 12 - 4;
        for at in 33 + 8..end {
            for bit in 0..8 {
                let mut file = file.clone();
                file[at] ^= 1 << bit;
                let crc = crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, &file[33 + 4..end]) as u32;
                file[end..end + 4].copy_from_slice(&crc.to_be_bytes());
                let mut ours = Vec::new();
                if super::read(Cursor::new(&file), 90, 60, Channels::Gray, &mut ours).is_none() {
                    continue;
                }
                // The checksum of the zlib stream is not compared.
                let mut decoder = png::Decoder::new(Cursor::new(&file));
                decoder.ignore_checksums(true);
                let mut theirs = vec![0; ours.len()];
                let mut reader = decoder.read_info().expect("read");
                reader.next_frame(&mut theirs).expect("read");
                assert!(ours == theirs, "{at}, bit {bit}");
            }
        }
    }
}
