//! Compresses some rows of a picture to deflate blocks that end at a byte border.

use super::super::Compression;
use super::pack;
use crate::adler::Adler;

/// The maximum length of a stored block.
const STORED: usize = 65_535;

/// The filter types of PNG.
const NONE: u8 = 0;
const UP: u8 = 2;

/// A band, and room for its bytes.
pub(super) struct BandEncoder {
    compression: Compression,
    /// The length of a row, without its filter type.
    row: usize,
    /// The filtered rows, as the zlib stream contains them.
    filtered: Vec<u8>,
    /// The checksum of the filtered rows.
    pub(super) adler: Adler,
    /// The deflate blocks.
    pub(super) data: Vec<u8>,
}

impl BandEncoder {
    pub(super) fn new(compression: Compression, row: usize) -> Self {
        Self { compression, row, filtered: Vec::new(), adler: Adler::default(), data: Vec::new() }
    }

    /// Makes the blocks of the rows in `samples`. `above` is the previous row, and `last` is true if these rows are the
    /// end of the picture.
    pub(super) fn compress(&mut self, above: Option<&[u8]>, samples: &[u8], last: bool) {
        self.data.clear();
        if self.compression == Compression::Fast {
            self.filter(above, samples);
            self.adler = Adler::over(&self.filtered);
            if pack::pack(&self.filtered, last, &mut self.data) {
                return;
            }
            self.data.clear();
        }
        self.store(samples, last);
    }

    fn filter(&mut self, above: Option<&[u8]>, samples: &[u8]) {
        let length = samples.len() / self.row * (self.row + 1);
        self.filtered.resize(length, 0);
        let mut before = above;
        for (filtered, samples) in self.filtered.chunks_exact_mut(self.row + 1).zip(samples.chunks_exact(self.row)) {
            let (kind, filtered) = filtered.split_at_mut(1);
            if let Some(before) = before {
                kind[0] = UP;
                for ((filtered, sample), before) in filtered.iter_mut().zip(samples).zip(before) {
                    *filtered = sample.wrapping_sub(*before);
                }
            } else {
                kind[0] = NONE;
                filtered.copy_from_slice(samples);
            }
            before = Some(samples);
        }
    }

    fn store(&mut self, samples: &[u8], last: bool) {
        let mut left = samples.len() / self.row * (self.row + 1);
        let (mut rows, mut row): (_, &[u8]) = (samples.chunks_exact(self.row), &[]);
        let mut adler = Adler::default();
        while left > 0 {
            let length = left.min(STORED);
            left -= length;
            self.data.push(u8::from(last && left == 0));
            self.data.extend((length as u16).to_le_bytes());
            self.data.extend((!(length as u16)).to_le_bytes());
            let start = self.data.len();
            while self.data.len() < start + length {
                if row.is_empty() {
                    self.data.push(NONE);
                    row = rows.next().unwrap_or_default();
                }
                let (now, later) = row.split_at(row.len().min(start + length - self.data.len()));
                self.data.extend(now);
                row = later;
            }
            adler = adler.then(Adler::over(&self.data[start..]));
        }
        self.adler = adler;
    }
}
