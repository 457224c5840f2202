//! Fills the segments of a slice: loops over the blocks, and finds the reference block of each new block.

use super::{MatrixShape, SLICES, TYPE};
use crate::primitive::imp::blocks::{Block, WORDS};
use crate::primitive::imp::compress::{Compress, prefetch};

/// The data of one slice in one pass, for the threads that fill the segments of the slice.
pub(super) struct Slice<'a> {
    compress: Compress,
    shape: MatrixShape,
    pass: usize,
    number: usize,
    /// The blocks of each other slice. The entry of the slice that the threads are filling is empty, because each lane
    /// reads only its own segment of that slice.
    others: [&'a [Block]; SLICES],
}

/// The blocks of one lane in one slice.
pub(super) struct Segment<'a> {
    lane: usize,
    blocks: &'a mut [Block],
    /// The source of the pseudo-random numbers, or `None` if these numbers depend on the data in this slice.
    addresses: Option<Box<Addresses>>,
    /// The position of the reference block for the next block.
    reference: Reference,
}

/// The place of a reference block.
#[derive(Clone, Copy, Default)]
struct Reference {
    slice: usize,
    /// The index of the block in its slice. If the slice is being filled now, this is the index of the block in its
    /// segment.
    index: usize,
}

/// Pseudo-random numbers that depend only on the parameters (section 3.4.1.1). One block holds 128 numbers.
struct Addresses {
    input: Block,
    block: Block,
}

impl Addresses {
    fn new(slice: &Slice<'_>, lane: usize) -> Self {
        let mut input = Block::ZERO;
        let Slice { shape, pass, number, .. } = *slice;
        let numbers = [pass, lane, number, shape.blocks(), shape.passes as usize, TYPE as usize];
        for (word, number) in input.0.iter_mut().zip(numbers) {
            *word = number as u64;
        }
        let mut addresses = Self { input, block: Block::ZERO };
        addresses.advance(slice.compress);
        addresses
    }

    fn advance(&mut self, compress: Compress) {
        self.input.0[6] += 1;
        let mut block = Block::ZERO;
        compress.replace(&Block::ZERO, &self.input, &mut block);
        compress.replace(&Block::ZERO, &block, &mut self.block);
    }

    /// Returns the pseudo-random number for the block at `index`. The caller must request the numbers for all indexes
    /// in ascending order.
    fn number(&mut self, compress: Compress, index: usize) -> u64 {
        if index > 0 && index.is_multiple_of(WORDS) {
            self.advance(compress);
        }
        self.block.0[index % WORDS]
    }
}

impl<'a> Slice<'a> {
    pub(super) fn new(
        compress: Compress,
        shape: MatrixShape,
        [pass, number]: [usize; 2],
        others: [&'a [Block]; SLICES],
    ) -> Self {
        Self { compress, shape, pass, number, others }
    }

    pub(super) fn segment<'b>(&self, lane: usize, blocks: &'b mut [Block]) -> Segment<'b> {
        // Argon2id works like Argon2i in the first half of the first pass, and like Argon2d afterwards.
        let independent = self.pass == 0 && self.number < SLICES / 2;
        let addresses = independent.then(|| Box::new(Addresses::new(self, lane)));
        Segment { lane, blocks, addresses, reference: Reference::default() }
    }

    /// Fills a group of segments. The function fills one block of each segment in turn.
    pub(super) fn fill(&self, group: &mut [Segment<'_>]) {
        let first = if self.pass == 0 && self.number == 0 { 2 } else { 0 };
        for segment in &mut *group {
            self.refer(segment, first);
        }
        for index in first..self.shape.segment {
            for segment in &mut *group {
                self.fill_block(segment, index);
                if index + 1 < self.shape.segment {
                    self.refer(segment, index + 1);
                }
            }
        }
    }

    /// Computes the block at `index` (section 3.2, steps 5 and 6).
    #[inline(always)]
    fn fill_block(&self, segment: &mut Segment<'_>, index: usize) {
        let (done, rest) = segment.blocks.split_at_mut(index);
        let previous = done.last().unwrap_or_else(|| self.before(segment.lane));
        let Reference { slice, index } = segment.reference;
        let reference = if slice == self.number { &done[index] } else { &self.others[slice][index] };
        if self.pass == 0 {
            self.compress.replace(previous, reference, &mut rest[0]);
        } else {
            self.compress.add(previous, reference, &mut rest[0]);
        }
    }

    /// Returns the last block of this lane in the previous slice.
    fn before(&self, lane: usize) -> &Block {
        &self.others[(self.number + SLICES - 1) % SLICES][(lane + 1) * self.shape.segment - 1]
    }

    /// Finds the reference block for the block at `index` (section 3.4), and starts reading the reference block into
    /// the cache.
    #[inline(always)]
    fn refer(&self, segment: &mut Segment<'_>, index: usize) {
        let random = match &mut segment.addresses {
            Some(addresses) => addresses.number(self.compress, index),
            None => index.checked_sub(1).map_or_else(|| self.before(segment.lane), |last| &segment.blocks[last]).0[0],
        };
        let MatrixShape { lanes, segment: length, .. } = self.shape;
        let alone = self.pass == 0 && self.number == 0;
        let lane = if alone { segment.lane } else { ((random >> 32) as u32 % lanes as u32) as usize };
        // A lane may refer to all finished slices, and to the finished blocks of its own segment, but not to the block
        // directly before the new block.
        let finished = length * if self.pass == 0 { self.number } else { SLICES - 1 };
        let area = if lane == segment.lane { finished + index - 1 } else { finished - usize::from(index == 0) };
        let x = (random & 0xffff_ffff).pow(2) >> 32;
        let from_end = (area as u64 * x) >> 32;
        let position = area - 1 - from_end as usize;
        // Positions are counted from the oldest slice. Three comparisons find the slice in less time than a division.
        let behind: usize = (1..SLICES).map(|slice| usize::from(position >= slice * length)).sum();
        let oldest = if self.pass == 0 { 0 } else { self.number + 1 };
        let slice = (oldest + behind) % SLICES;
        let within = position - behind * length;
        let (reference, block) = if slice == self.number {
            (Reference { slice, index: within }, &segment.blocks[within])
        } else {
            let index = lane * length + within;
            (Reference { slice, index }, &self.others[slice][index])
        };
        prefetch(block);
        segment.reference = reference;
    }
}
