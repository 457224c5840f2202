//! PNG as we write it with compression, several times as fast as by a general decoder.
//!
//! Each band of rows is one `IDAT` chunk that refers to no other one: see `write/png.rs`. So several bands are decoded
//! in turns, and the CPU works on all of them at once.

mod packed;

use std::io::Read;

use crc_fast::{CrcAlgorithm, Digest};

use super::{make_room, plain_header};
use crate::Channels;
use crate::write::png::{NONE, STORED, UP, rows_in_band};
use packed::Stream;

/// How many bands are decoded in turns.
const TURNS: usize = 4;

/// Reads a picture whose chunks are bands and nothing else. Returns `None` if anything is different, also if the file
/// is damaged: then the general decoder reads the picture, or tells what is wrong.
pub fn read(mut input: impl Read, width: u32, height: u32, channels: Channels, samples: &mut Vec<u8>) -> Option<()> {
    plain_header(&mut input)?;
    let row = width as usize * channels.count();
    let many = row * rows_in_band(row);
    let mut bands: [Band; TURNS] = std::array::from_fn(|_| Band { stream: Stream::new(), is_packed: false });
    let length = row * height as usize;
    let count = length.div_ceil(many);
    for first in (0..count).step_by(TURNS) {
        let bands = &mut bands[..TURNS.min(count - first)];
        for (at, band) in (first..).zip(&mut *bands) {
            let rows = many.min(length - at * many) / row;
            band.read(&mut input, rows * (row + 1), at == 0, at + 1 == count)?;
        }
        decode(bands)?;
        // Nothing is allocated for a picture that begins otherwise.
        make_room(samples, length);
        for (at, band) in (first..).zip(&*bands) {
            unfilter(band.stream.filtered(), samples, at * many, row)?;
        }
    }
    let mut end = [0; 12];
    let is_end = input.read_exact(&mut end).is_ok() && end == *b"\0\0\0\0IEND\xae\x42\x60\x82";
    is_end.then_some(())
}

/// A band, and room for its bytes.
struct Band {
    stream: Stream,
    is_packed: bool,
}

impl Band {
    /// Reads the chunk of a band that has `length` bytes with the filter types. Bands that are not packed are decoded.
    fn read(&mut self, mut input: impl Read, length: usize, is_first: bool, is_last: bool) -> Option<()> {
        let mut head = [0; 8];
        input.read_exact(&mut head).ok()?;
        let chunk = head[..4].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        // The header of the zlib stream, the headers of stored blocks, and the checksum of the stream.
        let most = 2 + length + 5 * length.div_ceil(STORED) + 4;
        if head[4..] != *b"IDAT" || chunk > most {
            return None;
        }
        let data = self.stream.begin(length, chunk + 4);
        input.read_exact(data).ok()?;
        let (data, crc) = data.split_at(chunk);
        let mut digest = Digest::new(CrcAlgorithm::Crc32IsoHdlc);
        digest.update(b"IDAT");
        digest.update(data);
        if crc != (digest.finalize() as u32).to_be_bytes() || is_first && !data.starts_with(&[0x78, 0x01]) {
            return None;
        }
        let from = if is_first { 2 } else { 0 };
        // The sum of the stream is not compared, as by the general decoder: each chunk has its own.
        let end = chunk.checked_sub(if is_last { 4 } else { 0 }).filter(|end| *end > from)?;
        self.is_packed = data[from] >> 1 & 3 != 0;
        match self.is_packed {
            true => self.stream.packed(from..end, is_last),
            false => self.stream.stored(from..end, is_last),
        }
    }
}

/// Decodes the bands that are packed. Each step waits for the one before in its band, so the CPU works on the steps of
/// several bands at once.
fn decode(bands: &mut [Band]) -> Option<()> {
    let mut left: Vec<&mut Stream> =
        bands.iter_mut().filter(|band| band.is_packed).map(|band| &mut band.stream).collect();
    while !left.is_empty() {
        for stream in &mut left {
            stream.step()?;
        }
        if left.iter().any(|stream| stream.is_done()) {
            left.retain(|stream| !stream.is_done());
        }
    }
    Some(())
}

/// Undoes the filters of some rows, the first of which begins at the sample `at`.
fn unfilter(filtered: &[u8], samples: &mut [u8], mut at: usize, row: usize) -> Option<()> {
    for filtered in filtered.chunks_exact(row + 1) {
        let (before, target) = samples.split_at_mut(at);
        let (kind, filtered) = filtered.split_first()?;
        let target = target.get_mut(..row)?;
        match *kind {
            NONE => target.copy_from_slice(filtered),
            UP if at > 0 => {
                for ((target, above), difference) in target.iter_mut().zip(&before[at - row..]).zip(filtered) {
                    *target = above.wrapping_add(*difference);
                }
            }
            _ => return None,
        }
        at += row;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::decode;
    use super::*;
    use crate::read::Limits;
    use crate::{Compression, Format, Pixels, write};

    /// Noise, waves with some noise, flat areas with few lines, all in one color, and all of them one below the other.
    const KINDS: [fn(usize) -> u8; 5] = [noise, waves, flat, |_| 7, |at| KINDS[at >> 19 & 3](at)];

    fn noise(at: usize) -> u8 {
        ((at as u32).wrapping_mul(2_654_435_761).wrapping_mul(at as u32 | 1) >> 23) as u8
    }

    fn waves(at: usize) -> u8 {
        (128.0 + 90.0 * (at as f64 / 5000.0).sin()) as u8 + noise(at) % 6
    }

    fn flat(at: usize) -> u8 {
        (at / 100_003) as u8 | u8::from(at % 1237 == 0) << 4
    }

    fn picture(width: u32, height: u32, channels: Channels, sample: fn(usize) -> u8) -> Pixels {
        let length = width as usize * height as usize * channels.count();
        Pixels { width, height, channels, samples: (0..length).map(sample).collect() }
    }

    fn written(pixels: &Pixels, compression: Compression) -> Vec<u8> {
        let mut file = Vec::new();
        write(pixels, Format::Png, compression, 1, &mut file).expect("written");
        file
    }

    fn ours(file: &[u8], pixels: &Pixels) -> Option<Vec<u8>> {
        // What was in the room does not matter.
        let mut samples = vec![1; pixels.samples.len() / 2];
        read(file, pixels.width, pixels.height, pixels.channels, &mut samples).map(|()| samples)
    }

    fn theirs(file: &[u8]) -> Option<Vec<u8>> {
        let limits = Limits { per_byte: 1 << 20, ..Limits::default() };
        decode(Cursor::new(file), &limits.of(file.len() as u64)).ok().map(|read| read.pixels.samples)
    }

    #[test]
    fn what_we_write_is_read_as_the_general_decoder_reads_it() {
        for (width, height) in [(1, 1), (5, 3), (700, 1100), (1234, 3000), (350_000, 3)] {
            for channels in [Channels::Gray, Channels::Rgb] {
                for kind in KINDS {
                    let pixels = picture(width, height, channels, kind);
                    for compression in [Compression::Fast, Compression::Stored] {
                        let file = written(&pixels, compression);
                        assert_eq!(ours(&file, &pixels).as_ref(), Some(&pixels.samples), "{width} × {height}");
                        assert_eq!(theirs(&file), Some(pixels.samples.clone()), "{width} × {height}");
                    }
                }
            }
        }
    }

    #[test]
    fn damage_is_left_to_the_general_decoder() {
        let pixels = picture(90, 60, Channels::Rgb, waves);
        let file = written(&pixels, Compression::Fast);
        for length in 0..file.len() {
            assert_eq!(ours(&file[..length], &pixels), None, "{length}");
        }
        for at in 8..file.len() {
            let mut file = file.clone();
            file[at] ^= 0x10;
            assert_eq!(ours(&file, &pixels), None, "{at}");
        }
    }

    /// Corrects the checksums of all chunks.
    fn repair(file: &mut [u8]) {
        let mut at = 8;
        while let Some(head) = file.get(at..at + 8) {
            let length = head[..4].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            let Some(data) = file.get(at + 4..at + 8 + length) else { return };
            let crc = crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, data) as u32;
            at += 12 + length;
            let Some(place) = file.get_mut(at - 4..at) else { return };
            place.copy_from_slice(&crc.to_be_bytes());
        }
    }

    #[test]
    fn whatever_the_streams_hold_nobody_else_reads_other_pixels() {
        // Two bands, so that one is not the last. The general decoder may be more generous, but reads the same pixels.
        let mut accepted = 0;
        for (kind, step) in [(flat as fn(usize) -> u8, 1), (waves, 97)] {
            let pixels = picture(9000, 20, Channels::Rgb, kind);
            let file = written(&pixels, Compression::Fast);
            // The first bytes are those of the header and the codes, the last ones end the band.
            let places =
                (41..600.min(file.len())).chain((600..file.len()).step_by(step * 7)).chain(file.len() - 40..file.len());
            for at in places {
                for bit in if at < 300 { 0..8 } else { at as u32 % 8..at as u32 % 8 + 1 } {
                    let mut file = file.clone();
                    file[at] ^= 1 << bit;
                    repair(&mut file);
                    if let Some(read) = ours(&file, &pixels) {
                        accepted += 1;
                        assert_eq!(theirs(&file), Some(read), "bit {bit} of byte {at}");
                    }
                }
            }
        }
        assert!(accepted > 100, "the test changed literals, too: {accepted}");
    }
}
