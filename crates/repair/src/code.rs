//! The Reed–Solomon code of a column. The encoder takes the rows one by one, so that a file is read only once; the
//! decoder keeps what depends only on the places of the missing blocks.
//!
//! Both call the engine of `reed-solomon-simd` as its own encoder and decoder of the high rate do. Those need all rows
//! of a column in memory before they begin, and the decoder computes the erasures anew for each call.

use std::mem;

use reed_solomon_simd::engine::utils::{xor, xor_within};
use reed_solomon_simd::engine::{DefaultEngine, Engine, GF_MODULUS, GF_ORDER, ShardsRefMut};

use crate::grid::Grid;

/// The engine's unit.
const WORD: usize = 64;
/// The memory on which a transform works should fit into the second cache of a core.
const CACHE: usize = 512 << 10;

/// The length of the pieces of a block that are transformed together, if a transform has so many places.
fn slice(places: usize, block: usize) -> usize {
    let fitting = (CACHE / places).max(WORD);
    (1 << fitting.ilog2()).min(block)
}

/// Makes recovery blocks from data blocks.
pub(crate) struct Encoder {
    engine: DefaultEngine,
    /// The number of recovery rows.
    recovery: usize,
    /// The number of places of a transform: recovery rows, rounded up to a power of two.
    places: usize,
    /// The length of a slice. Each transform works on one slice of all places.
    slice: usize,
    /// Slices of the current chunk of rows: all places of the first slice, then all places of the second.
    chunk: Vec<[u8; WORD]>,
    /// The sum of the transformed chunks.
    sum: Vec<[u8; WORD]>,
    /// The number of rows so far.
    rows: usize,
    /// The number of bytes of each row.
    width: usize,
}

impl Encoder {
    /// Makes an encoder for rows of at most `widest` bytes, in whole blocks.
    pub(crate) fn new(grid: &Grid, widest: usize) -> Self {
        let places = usize::from(grid.recovery).next_power_of_two();
        let words = places * widest / WORD;
        Self {
            engine: DefaultEngine::new(),
            recovery: grid.recovery.into(),
            places,
            slice: slice(places, grid.block()),
            chunk: vec![[0; WORD]; words],
            sum: vec![[0; WORD]; words],
            rows: 0,
            width: 0,
        }
    }

    /// Returns the memory for rows of this width.
    pub(crate) fn memory(grid: &Grid, width: usize) -> usize {
        2 * usize::from(grid.recovery).next_power_of_two() * width
    }

    /// Begins new rows of `width` bytes.
    pub(crate) fn begin(&mut self, width: usize) {
        (self.rows, self.width) = (0, width);
    }

    /// Adds the next data row.
    pub(crate) fn add(&mut self, row: &[u8]) {
        let place = self.rows % self.places;
        if place == 0 && self.rows > 0 {
            self.transform(self.places);
        }
        let chunk = self.chunk.as_flattened_mut();
        for (at, bytes) in row.chunks_exact(self.slice).enumerate() {
            let begin = (at * self.places + place) * self.slice;
            chunk[begin..begin + self.slice].copy_from_slice(bytes);
        }
        self.rows += 1;
    }

    /// Transforms the chunk, which has this number of rows, and adds it to the sum.
    fn transform(&mut self, rows: usize) {
        let index = (self.rows - 1) / self.places;
        let (per_place, places) = (self.slice / WORD, self.places);
        let words = per_place * places;
        for slice in 0..self.width / self.slice {
            let chunk = &mut self.chunk[slice * words..][..words];
            chunk[rows * per_place..].fill([0; WORD]);
            let mut shards = ShardsRefMut::new(places, per_place, chunk);
            self.engine.ifft(&mut shards, 0, places, rows, (index + 1) * places);
            if index > 0 {
                xor(&mut self.sum[slice * words..][..words], chunk);
            }
        }
        if index == 0 {
            mem::swap(&mut self.chunk, &mut self.sum);
        }
    }

    /// Ends the rows. Calls `take` with each recovery row: its number and its bytes.
    pub(crate) fn finish<E>(&mut self, mut take: impl FnMut(u64, &[u8]) -> Result<(), E>) -> Result<(), E> {
        self.transform((self.rows - 1) % self.places + 1);
        let (per_place, places) = (self.slice / WORD, self.places);
        let words = per_place * places;
        let slices = self.width / self.slice;
        for sum in self.sum.chunks_exact_mut(words).take(slices) {
            self.engine.fft(&mut ShardsRefMut::new(places, per_place, sum), 0, places, self.recovery, 0);
        }
        // The chunk is not needed any more, and has room for a row.
        let row = &mut self.chunk.as_flattened_mut()[..self.width];
        for number in 0..self.recovery {
            for (bytes, sum) in row.chunks_exact_mut(self.slice).zip(self.sum.chunks_exact(words)) {
                bytes.copy_from_slice(sum[number * per_place..][..per_place].as_flattened());
            }
            take(number as u64, row)?;
        }
        Ok(())
    }
}

/// Restores missing data blocks of a column.
pub(crate) struct Decoder {
    engine: DefaultEngine,
    rows: usize,
    /// The place of the first data row.
    first: usize,
    /// The number of places of a transform.
    places: usize,
    slice: usize,
    /// Which places have a block. The last places and those between recovery rows and data rows have none.
    present: Vec<bool>,
    /// The logarithms of the factors of all places, for the places that are now present.
    factors: Box<[u16; GF_ORDER]>,
    work: Vec<[u8; WORD]>,
}

impl Decoder {
    pub(crate) fn new(grid: &Grid) -> Self {
        let (rows, first) = (usize::from(grid.rows), usize::from(grid.recovery).next_power_of_two());
        let places = (first + rows).next_power_of_two();
        let slice = slice(places / 2, grid.block());
        Self {
            engine: DefaultEngine::new(),
            rows,
            first,
            places,
            slice,
            present: Vec::new(),
            factors: Box::new([0; GF_ORDER]),
            work: vec![[0; WORD]; places * slice / WORD],
        }
    }

    /// Returns the memory that a decoder takes.
    #[cfg(test)]
    pub(crate) fn memory(grid: &Grid) -> usize {
        let decoder = Self::new(grid);
        size_of_val(&*decoder.factors) + size_of_val(&*decoder.work) + decoder.places
    }

    /// Returns the place of a data row in a column.
    pub(crate) fn place_of_row(&self, row: usize) -> usize {
        self.first + row
    }

    /// Returns the number of places up to the last data row. Recovery rows have the first places.
    pub(crate) fn end(&self) -> usize {
        self.first + self.rows
    }

    /// Sets the places that have a block. At least as many as there are data rows must have one.
    pub(crate) fn set_present(&mut self, present: &[bool]) {
        if self.present == present {
            return;
        }
        self.present = present.to_vec();
        self.factors.fill(0);
        for (factor, _) in self.factors.iter_mut().zip(present).filter(|(_, present)| !**present) {
            *factor = 1;
        }
        DefaultEngine::eval_poly(&mut self.factors, present.len());
    }

    /// Restores the missing data blocks of a column. `blocks` has the block of each place, one after the other, each
    /// with `block` bytes; the bytes of missing places are ignored. Missing data blocks are written there.
    pub(crate) fn restore(&mut self, blocks: &mut [u8], block: usize) {
        let (per_place, end) = (self.slice / WORD, self.end());
        for begin in (0..block).step_by(self.slice) {
            let place_of = |place: usize| place * block + begin..place * block + begin + self.slice;
            for place in 0..end {
                let work = &mut self.work[place * per_place..][..per_place];
                if self.present[place] {
                    work.as_flattened_mut().copy_from_slice(&blocks[place_of(place)]);
                    self.engine.mul(work, self.factors[place]);
                } else {
                    work.fill([0; WORD]);
                }
            }
            self.work[end * per_place..].fill([0; WORD]);
            let mut shards = ShardsRefMut::new(self.places, per_place, &mut self.work);
            self.engine.ifft(&mut shards, 0, self.places, end, 0);
            // The formal derivative.
            for place in 1..self.places {
                let width = 1 << place.trailing_zeros();
                xor_within(&mut shards, place - width, place, width);
            }
            self.engine.fft(&mut shards, 0, self.places, end, 0);
            for place in (self.first..end).filter(|place| !self.present[*place]) {
                let work = &mut self.work[place * per_place..][..per_place];
                self.engine.mul(work, GF_MODULUS - self.factors[place]);
                blocks[place_of(place)].copy_from_slice(work.as_flattened());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use reed_solomon_simd::rate::{HighRateEncoder, RateEncoder};

    use super::*;

    fn grid(rows: u16, recovery: u16, block: u32) -> Grid {
        let length = u64::from(rows) * u64::from(block);
        let grid = Grid { length, block, columns: 1, rows, recovery };
        assert!(grid.is_valid(), "{grid:?}");
        grid
    }

    fn data(grid: &Grid) -> Vec<Vec<u8>> {
        let byte = |row: usize, at: usize| ((row * 7919 + at * 104_729) ^ (row * at) >> 3) as u8;
        (0..grid.rows.into()).map(|row| (0..grid.block()).map(|at| byte(row, at)).collect()).collect()
    }

    fn encoded(grid: &Grid, data: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut encoder = Encoder::new(grid, grid.block());
        let mut recovery = Vec::new();
        encoder.begin(grid.block());
        data.iter().for_each(|row| encoder.add(row));
        let taken: Result<(), ()> = encoder.finish(|number, row| {
            assert_eq!(number, recovery.len() as u64);
            recovery.push(row.to_vec());
            Ok(())
        });
        assert_eq!(taken, Ok(()));
        recovery
    }

    const SHAPES: [(u16, u16); 16] = [
        (1, 1),
        (2, 1),
        (2, 2),
        (3, 2),
        (5, 3),
        (8, 8),
        (9, 8),
        (63, 7),
        (64, 9),
        (130, 64),
        (500, 1),
        (512, 512),
        (768, 200),
        (895, 90),
        (896, 128),
        (1023, 1),
    ];

    #[test]
    fn rows_one_by_one_give_what_the_library_gives_for_all() {
        for (rows, recovery) in SHAPES {
            for block in [512, 2048] {
                let grid = grid(rows, recovery, block);
                let data = data(&grid);
                let (rows, recovery, block) = (rows.into(), recovery.into(), grid.block());
                let engine = DefaultEngine::new();
                let mut reference = HighRateEncoder::new(rows, recovery, block, engine, None).unwrap();
                data.iter().for_each(|row| reference.add_original_shard(row).unwrap());
                let expected: Vec<_> = reference.encode().unwrap().recovery_iter().map(<[u8]>::to_vec).collect();
                assert!(encoded(&grid, &data) == expected, "{grid:?}");
            }
        }
    }

    #[test]
    fn as_many_blocks_may_be_missing_as_there_are_recovery_rows() {
        for (rows, recovery) in SHAPES {
            let grid = grid(rows, recovery, 1024);
            let data = data(&grid);
            let rows = encoded(&grid, &data);
            let mut decoder = Decoder::new(&grid);
            let end = decoder.end();
            // Other blocks are missing in each round, recovery blocks among them.
            for round in 0..3 {
                let missing = |place: usize| (place * 31 + round * 17) % end;
                let mut present = vec![true; end];
                present[rows.len()..decoder.place_of_row(0)].fill(false);
                let places = (0..end).map(missing).filter(|place| {
                    (*place < rows.len() || *place >= decoder.place_of_row(0)) && !end.is_multiple_of(31)
                });
                places.take(rows.len()).for_each(|place| present[place] = false);
                let mut column = vec![0xee; end * grid.block()];
                let places = (0..rows.len()).chain(decoder.place_of_row(0)..end);
                for (place, block) in places.zip(rows.iter().chain(&data)).filter(|(place, _)| present[*place]) {
                    column[place * grid.block()..][..grid.block()].copy_from_slice(block);
                }
                decoder.set_present(&present);
                decoder.restore(&mut column, grid.block());
                for (row, block) in data.iter().enumerate() {
                    let place = decoder.place_of_row(row);
                    assert!(column[place * grid.block()..][..grid.block()] == **block, "{grid:?}, row {row}");
                }
            }
        }
    }

    /// The definition of the code on the page of the format, by Lagrange's formula.
    #[test]
    fn the_code_is_the_one_that_the_page_defines() {
        const BASIS: [u16; 16] = [
            0x0001, 0xacca, 0x3c0e, 0x163e, 0xc582, 0xed2e, 0x914c, 0x4012, 0x6c98, 0x10d8, 0x6a72, 0xb900, 0xfdb8,
            0xfb34, 0xff38, 0x991e,
        ];
        let element = |symbol: usize| (0..16).filter(|bit| symbol >> bit & 1 == 1).fold(0, |sum, bit| sum ^ BASIS[bit]);
        let times = |a: u16, b: u16| {
            let product = (0..16).filter(|bit| a >> bit & 1 == 1).fold(0u32, |sum, bit| sum ^ u32::from(b) << bit);
            (16..32).rev().fold(product, |sum, bit| if sum >> bit & 1 == 1 { sum ^ 0x1002d << (bit - 16) } else { sum })
                as u16
        };
        let inverse = |a: u16| {
            (0..15)
                .fold((1, a), |(product, power), _| {
                    let power = times(power, power);
                    (times(product, power), power)
                })
                .0
        };
        let symbol_of = |value: u16| (0..1 << 16).find(|symbol| element(*symbol) == value).unwrap();
        for (rows, recovery) in [(1, 1), (3, 1), (5, 3), (9, 4), (10, 2)] {
            let grid = grid(rows, recovery, 512);
            let data = data(&grid);
            let recovered = encoded(&grid, &data);
            let places = usize::from(recovery).next_power_of_two();
            let symbol = |block: &[u8], at: usize| usize::from(block[at]) + 256 * usize::from(block[32 + at]);
            for (number, row) in recovered.iter().enumerate() {
                for at in [0, 5, 31] {
                    let mut sum = 0;
                    for (index, block) in data.iter().enumerate() {
                        let chunk = index / places;
                        let point = |k| element((chunk + 1) * places + k);
                        let own = index % places;
                        let others = (0..places).filter(|k| *k != own);
                        let factor = others.fold(1, |product, k| {
                            let quotient = times(element(number) ^ point(k), inverse(point(own) ^ point(k)));
                            times(product, quotient)
                        });
                        sum ^= times(factor, element(symbol(block, at)));
                    }
                    assert_eq!(symbol(row, at), symbol_of(sum), "{grid:?}");
                }
            }
        }
    }
}
