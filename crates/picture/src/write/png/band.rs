//! Some rows of a picture as deflate blocks that end at a border of bytes.

use super::super::Compression;
use super::adler::Adler;
use super::pack;

/// The longest stored block.
const STORED: usize = 65_535;

/// The filter types of PNG.
const NONE: u8 = 0;
const UP: u8 = 2;

/// A band, and room for its bytes.
pub(super) struct Band {
    compression: Compression,
    /// The length of a row, without filter type.
    row: usize,
    /// The rows as the zlib stream holds them.
    filtered: Vec<u8>,
    /// The checksum of the filtered rows.
    pub(super) adler: Adler,
    /// The deflate blocks.
    pub(super) data: Vec<u8>,
}

impl Band {
    pub(super) fn new(compression: Compression, row: usize) -> Self {
        Self { compression, row, filtered: Vec::new(), adler: Adler::default(), data: Vec::new() }
    }

    /// Makes the blocks of the rows in `samples`. `above` is the row before, and `last` tells whether the picture ends.
    pub(super) fn compress(&mut self, above: Option<&[u8]>, samples: &[u8], last: bool) {
        self.filter(above, samples);
        self.adler = Adler::of(&self.filtered);
        self.data.clear();
        let packed = self.compression == Compression::Fast && pack::pack(&self.filtered, last, &mut self.data);
        if !packed {
            self.data.clear();
            self.store(last);
        }
    }

    fn filter(&mut self, above: Option<&[u8]>, samples: &[u8]) {
        let length = samples.len() / self.row * (self.row + 1);
        self.filtered.resize(length, 0);
        let mut before = above;
        for (filtered, samples) in self.filtered.chunks_exact_mut(self.row + 1).zip(samples.chunks_exact(self.row)) {
            let (kind, filtered) = filtered.split_at_mut(1);
            match (self.compression, before) {
                (Compression::Fast, Some(before)) => {
                    kind[0] = UP;
                    for ((filtered, sample), before) in filtered.iter_mut().zip(samples).zip(before) {
                        *filtered = sample.wrapping_sub(*before);
                    }
                }
                _ => {
                    kind[0] = NONE;
                    filtered.copy_from_slice(samples);
                }
            }
            before = Some(samples);
        }
    }

    fn store(&mut self, last: bool) {
        let count = self.filtered.len().div_ceil(STORED);
        for (at, block) in (1..).zip(self.filtered.chunks(STORED)) {
            let length = block.len() as u16;
            self.data.push(u8::from(last && at == count));
            self.data.extend(length.to_le_bytes());
            self.data.extend((!length).to_le_bytes());
            self.data.extend(block);
        }
    }
}
