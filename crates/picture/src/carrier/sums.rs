//! Checksums of pieces of a carrier. The checksums of adjacent pieces can be combined.

use std::collections::BTreeMap;

use super::layout::Layout;
use super::png;
use crate::Format;
use crate::adler::Adler;
use crate::crc::{crc32, crc64, join32, join64};

/// The checksums of a piece of a carrier, and of the PNG data in which the piece is stored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    /// The number of bytes of the piece.
    pub(crate) length: u64,
    /// The CRC-64 of the bytes of the piece.
    pub(crate) crc64: u64,
    /// The bytes of the zlib stream.
    stream: u64,
    /// The CRC-32 of the bytes of the zlib stream.
    pub(crate) crc32: u32,
    /// The Adler-32 of the rows, filter types included.
    adler: Adler,
}

impl Sums {
    /// Returns the checksums of bytes that are not stored in a zlib stream.
    pub(crate) fn plain(bytes: &[u8]) -> Self {
        Self { length: bytes.len() as u64, crc64: crc64(bytes), ..Self::default() }
    }

    /// Returns the checksums of bytes of a zlib stream that are not part of a row.
    pub(crate) fn structure(bytes: &[u8]) -> Self {
        Self { stream: bytes.len() as u64, crc32: crc32(bytes), ..Self::default() }
    }

    /// Appends the carrier's bytes that begin at byte `at` to `file` in the file format, and returns the checksums of
    /// these bytes.
    pub(crate) fn frame(layout: &Layout, at: u64, bytes: &[u8], file: &mut Vec<u8>) -> Self {
        let (from, mut sums) = (file.len(), Self::plain(bytes));
        match layout.format() {
            Format::Png => {
                png::frame(layout, at, bytes, file, |rows| sums.adler = sums.adler.then(Adler::over(rows)));
                sums.stream = (file.len() - from) as u64;
                sums.crc32 = crc32(&file[from..]);
            }
            Format::WebP => file.extend_from_slice(bytes),
        }
        sums
    }

    /// Returns the Adler-32 of the rows.
    pub(crate) fn adler(&self) -> u32 {
        self.adler.sum()
    }

    pub(crate) fn append(&mut self, next: &Self) {
        self.crc64 = join64(self.crc64, next.crc64, next.length);
        self.length += next.length;
        self.crc32 = join32(self.crc32, next.crc32, next.stream);
        self.stream += next.stream;
        self.adler = self.adler.then(next.adler);
    }
}

/// The known pieces of a part, by the offset of each piece in the part. Adjacent pieces become one piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces(BTreeMap<u64, Sums>);

impl Pieces {
    /// Inserts a piece. Returns `false` and changes nothing if a byte of the piece is already known.
    pub(crate) fn insert(&mut self, mut at: u64, mut sums: Sums) -> bool {
        if sums.length == 0 {
            return true;
        }
        let end = at + sums.length;
        let next = self.0.range(at..).next().map(|(next, _)| *next);
        let before = self.0.range(..at).next_back().map(|(before, sums)| (*before, *sums));
        let meets = before.filter(|(before, sums)| before + sums.length >= at);
        if next.is_some_and(|next| next < end) || meets.is_some_and(|(before, sums)| before + sums.length > at) {
            return false;
        }
        if let Some(next) = next.filter(|next| *next == end).and_then(|next| self.0.remove(&next)) {
            sums.append(&next);
        }
        if let Some((before, mut joined)) = meets {
            joined.append(&sums);
            (at, sums) = (before, joined);
        }
        self.0.insert(at, sums);
        true
    }

    /// Returns the checksums of the only piece, if that piece begins at 0. Returns empty checksums if there is no
    /// piece.
    pub(crate) fn whole(&self) -> Option<Sums> {
        match self.0.len() {
            0 => Some(Sums::default()),
            1 => self.0.get(&0).copied(),
            _ => None,
        }
    }

    /// Returns the number of pieces.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the offset of the first byte that is missing.
    pub(crate) fn end(&self) -> u64 {
        self.0.get(&0).map_or(0, |sums| sums.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 21) as u8).collect()
    }

    #[test]
    fn pieces_in_any_order_have_the_checksums_of_the_whole() {
        let layout = Layout::new(Format::Png, 5, 5000).expect("possible");
        let bytes = bytes(70_000);
        let mut file = Vec::new();
        let whole = Sums::frame(&layout, 0, &bytes, &mut file);
        let mut rows = simd_adler32::Adler32::new();
        for row in bytes.chunks(15) {
            rows.write(&[0]);
            rows.write(row);
        }
        assert_eq!(whole.crc64, crc64(&bytes));
        assert_eq!(whole.crc32, crc32(&file));
        assert_eq!(whole.adler(), rows.finish());
        for step in [1000, 7777, 64, 14, 15, 16] {
            let mut pieces = Pieces::default();
            let count = bytes.len().div_ceil(step);
            for at in (0..count).map(|at| (at * 7919) % count) {
                let (from, to) = (at * step, bytes.len().min(at * step + step));
                let sums = Sums::frame(&layout, from as u64, &bytes[from..to], &mut Vec::new());
                assert!(pieces.insert(from as u64, sums));
                assert!(!pieces.insert(from as u64, sums), "twice");
            }
            let joined = pieces.whole().expect("one piece");
            assert_eq!(
                (joined.crc64, joined.crc32, joined.adler(), joined.length),
                (whole.crc64, whole.crc32, whole.adler(), whole.length)
            );
        }
    }

    #[test]
    fn pieces_that_overlap_are_refused() {
        let mut pieces = Pieces::default();
        assert!(pieces.insert(10, Sums::plain(&[1; 10])));
        for (at, length) in [(0, 11), (0, 30), (10, 1), (15, 1), (19, 5), (5, 6)] {
            assert!(!pieces.insert(at, Sums::plain(&vec![1; length])), "{at} {length}");
        }
        assert!(pieces.whole().is_none());
        assert!(pieces.insert(20, Sums::plain(&[1; 4])));
        assert_eq!(pieces.end(), 0);
        assert!(pieces.insert(0, Sums::plain(&[1; 10])));
        assert_eq!(pieces.whole().map(|sums| sums.crc64), Some(crc64(&[1; 24])));
    }
}
