//! Reads PNG without compression, a form in which templates (photographs that carry hidden data) can be written. The
//! rows are only copied, so this function is several times as fast as a decoder.

use std::io::Read;

use crc_fast::{CrcAlgorithm, Digest};

use super::super::make_room;
use super::Header;
use crate::Channels;

/// Reads a picture whose rows are all stored and not filtered, and which has no other chunks. Returns `None` if the
/// file has another form or is damaged. If `None` is returned, the general decoder reads the picture, or reports what
/// is wrong.
pub fn read(mut input: impl Read, width: u32, height: u32, channels: Channels, samples: &mut Vec<u8>) -> Option<()> {
    let mut head = [0; HEAD];
    input.read_exact(&mut head).ok()?;
    plain(&head)?;
    let mut idat = [0; 8];
    input.read_exact(&mut idat).ok()?;
    if idat[4..] != *b"IDAT" {
        return None;
    }
    let mut data = Data { input, chunk: number(&idat[..4]), block: 0, is_last: false, crc: fresh() };
    let [cmf, flags] = data.array()?;
    // The header of a zlib stream without a dictionary.
    if cmf & 15 != 8 || flags & 32 != 0 || !u16::from_be_bytes([cmf, flags]).is_multiple_of(31) {
        return None;
    }
    let row = width as usize * channels.count();
    make_room(samples, row * height as usize);
    for row in samples.chunks_exact_mut(row) {
        let mut filter = [0];
        data.fill(&mut filter)?;
        if filter != [0] {
            return None;
        }
        data.fill(row)?;
    }
    data.end().then_some(())
}

/// The number of bytes of signature and header.
pub const HEAD: usize = 8 + 25;

/// Reads signature and header of a gray or color picture with 8 bits in each sample and rows in order. Returns `None`
/// if the picture is of another kind, or if the header is damaged.
pub fn plain(head: &[u8; HEAD]) -> Option<Header> {
    let chunk = &head[8..];
    let crc = crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, &chunk[4..21]) as u32;
    let is_plain = head.starts_with(b"\x89PNG\r\n\x1a\n")
        && matches!(chunk[16..21], [8, 0 | 2, 0, 0, 0])
        && chunk[21..] == crc.to_be_bytes();
    super::header(&head[..]).ok().filter(|_| is_plain)
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

fn fresh() -> Digest {
    let mut crc = Digest::new(CrcAlgorithm::Crc32IsoHdlc);
    crc.update(b"IDAT");
    crc
}

/// The contents of all `IDAT` chunks.
struct Data<R> {
    input: R,
    /// Bytes that are left in the chunk.
    chunk: u32,
    /// The number of unread bytes in the stored block.
    block: usize,
    is_last: bool,
    crc: Digest,
}

impl<R: Read> Data<R> {
    /// Fills the buffer with bytes of stored blocks.
    fn fill(&mut self, mut buffer: &mut [u8]) -> Option<()> {
        while !buffer.is_empty() {
            if self.block == 0 {
                let [kind, low, high, not_low, not_high] = self.array()?;
                let is_stored = matches!(kind, 0 | 1) && !self.is_last && [!low, !high] == [not_low, not_high];
                if !is_stored {
                    return None;
                }
                (self.block, self.is_last) = (u16::from_le_bytes([low, high]).into(), kind == 1);
                continue;
            }
            let (now, later) = buffer.split_at_mut(self.block.min(buffer.len()));
            self.block -= now.len();
            self.raw(now)?;
            buffer = later;
        }
        Some(())
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.raw(&mut bytes)?;
        Some(bytes)
    }

    /// Fills the buffer with bytes of the chunks.
    fn raw(&mut self, mut buffer: &mut [u8]) -> Option<()> {
        while !buffer.is_empty() {
            if self.chunk == 0 {
                let next = self.next()?;
                if next != *b"IDAT" {
                    return None;
                }
                continue;
            }
            let length = usize::try_from(self.chunk).map_or(buffer.len(), |left| left.min(buffer.len()));
            let (now, later) = buffer.split_at_mut(length);
            self.input.read_exact(now).ok()?;
            self.crc.update(now);
            self.chunk -= length as u32;
            buffer = later;
        }
        Some(())
    }

    /// Checks the checksum of the chunk, and begins the next chunk. Returns the type of the next chunk.
    fn next(&mut self) -> Option<[u8; 4]> {
        let mut bytes = [0; 12];
        self.input.read_exact(&mut bytes).ok()?;
        let crc = std::mem::replace(&mut self.crc, fresh()).finalize() as u32;
        self.chunk = number(&bytes[4..8]);
        (bytes[..4] == crc.to_be_bytes()).then(|| bytes[8..].try_into().ok()).flatten()
    }

    /// Returns whether all data were read and the file has no further bytes.
    fn end(mut self) -> bool {
        while self.block == 0 && !self.is_last {
            // The last block may be empty.
            let Some([kind @ (0 | 1), 0, 0, 255, 255]) = self.array() else { return false };
            self.is_last = kind == 1;
        }
        // As in the general decoder, the checksum of the zlib stream is not compared, because each chunk has a
        // checksum.
        let sum: Option<[u8; 4]> = self.array();
        let is_whole = self.block == 0 && sum.is_some() && self.chunk == 0;
        let is_end = is_whole && self.next() == Some(*b"IEND") && self.chunk == 0;
        let mut crc = [0; 4];
        is_end && matches!(self.input.read_exact(&mut crc), Ok(())) && crc == [0xae, 0x42, 0x60, 0x82]
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use crate::read::{Limits, Orientation, read as read_any};
    use crate::{Channels, Compression, Format, Pixels, write};

    fn stored(pixels: &Pixels, threads: usize) -> Vec<u8> {
        let mut file = Vec::new();
        write(pixels, Format::Png, Compression::Stored, threads, &mut file).expect("written");
        file
    }

    #[test]
    fn stored_pictures_are_read_as_the_general_decoder_reads_them() {
        for (width, height) in [(1, 1), (5, 3), (300, 700), (22_000, 9), (70_000, 2)] {
            for channels in [Channels::Gray, Channels::Rgb] {
                let length = width as usize * height as usize * channels.count();
                let samples = (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
                let pixels = Pixels { width, height, channels, samples };
                let file = stored(&pixels, 2);
                for length in [0, 10, 1 << 21] {
                    let mut ours = vec![1; length];
                    assert_eq!(super::read(Cursor::new(&file), width, height, channels, &mut ours), Some(()));
                    assert_eq!(ours, pixels.samples);
                }
                let mut decoder = png::Decoder::new(Cursor::new(&file)).read_info().expect("read");
                let mut theirs = vec![0; length];
                decoder.next_frame(&mut theirs).expect("read");
                assert_eq!(theirs, pixels.samples);
            }
        }
    }

    #[test]
    fn damage_is_left_to_the_general_decoder() {
        let samples = (0..90 * 60).map(|at| (at * 7 / 3) as u8).collect();
        let pixels = Pixels { width: 90, height: 60, channels: Channels::Gray, samples };
        let file = stored(&pixels, 1);
        let read = |file: &[u8]| super::read(Cursor::new(file), 90, 60, Channels::Gray, &mut Vec::new());
        for length in 0..file.len() {
            assert_eq!(read(&file[..length]), None, "{length}");
        }
        for at in 0..file.len() {
            let mut file = file.clone();
            file[at] ^= 0x40;
            // The signature has no checksum, and `read` ignores it. The checksums of the chunks find all other changes.
            let found = read(&file);
            assert!(found.is_none() || at < 8, "{at}");
            let read = read_any(Cursor::new(&file), Orientation::Ignore, &Limits::default());
            assert!(read.is_err() || read.is_ok_and(|read| read.pixels == pixels), "{at}");
        }
    }
}
