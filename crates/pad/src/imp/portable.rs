//! The portable back end. This back end processes eight bytes at a time in an ordinary register.
//!
//! Lane `i` of a word begins at bit `8 * i`. The code does not compare bytes: it computes flags from carries, and uses
//! the mask of a [`Choice`] for every decision.

use core::marker::PhantomData;

use super::Noise;
use super::row::{Row, Value};
use super::run::Run;
use deadpan_ct::{Choice, CtEq, CtOrd, CtZero};

/// The number of bytes in a word.
const STEP: usize = 8;
/// A one in every lane. If a byte is multiplied by this number, the product contains the byte in every lane.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of every lane.
const HIGH: u64 = ONES << 7;
/// The number of each lane.
const NUMBERS: u64 = 0x0706_0504_0302_0100;

/// Writes a padded block: the bytes of `data`, then the padding that `row` describes. `data` must be shorter than the
/// block. For noisy padding, the block must hold the noise before the call.
#[inline]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8]) {
    let reader = Reader::new(data);
    let last = reader.last();
    write(row, value, data.len(), last, block, |chunk, at| (reader.word(at, chunk.len()), load(chunk)));
}

/// Pads a block whose first `kept` bytes are the data. Uses `noise` if the padding is noisy.
#[inline]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8], kept: usize, noise: &Noise) {
    let last = last_kept(block, kept);
    write(row, value, kept, last, block, |chunk, at| (load(chunk), load(&noise[at..at + chunk.len()])));
}

/// Returns the number of padding bytes in a block, and whether the padding is right for this row. If the padding is
/// wrong, the number has no meaning.
#[inline]
pub fn unpad(row: &Row, block: &[u8]) -> (usize, Choice) {
    debug_assert_eq!(block.len(), usize::from(row.size));
    let last_byte = block[block.len() - 1];
    let expected = splat(last_byte & row.tells_value);
    let marks = splat(row.mark);
    let final_lane = splat(row.size.wrapping_sub(1));
    let mut run = Run::new();
    // The loops in this module use explicit counters. At -O1, an iterator keeps its position on the stack, and there
    // the assembly audit cannot see that the position is public.
    let mut at = 0;
    while at < block.len() {
        let chunk = chunk(block, at);
        let before_end = subtract(final_lane, splat(at as u8) + NUMBERS);
        let text = load(chunk);
        let wanted = subtract(expected, before_end & splat(row.steps));
        let inside = u64::MAX >> (8 * (STEP - chunk.len()));
        let mut checked = inside & !splat((row.unchecked >> 7).cast_unsigned());
        if at + chunk.len() == block.len() {
            checked &= !(u64::from(row.unchecked.cast_unsigned() & 1) << (8 * chunk.len() - 1));
        }
        let marked = !nonzero(text ^ marks) & HIGH & splat(row.mark);
        run.extend::<8>(at, nonzero(text ^ wanted) & checked, marked);
        at += STEP;
    }
    run.verdict(row, last_byte)
}

/// The first `kept` bytes of a block are data. Returns the last data byte, or zero if there are no data. The function
/// reads every byte.
#[inline(always)]
pub fn last_kept(block: &[u8], kept: usize) -> u8 {
    // If the compiler knows that the block has the usual length, it unrolls the loop to two words without a branch.
    match <&[u8; 16]>::try_from(block) {
        Ok(block) => search(block, kept),
        Err(_) => search(block, kept),
    }
}

#[inline(always)]
fn search(block: &[u8], kept: usize) -> u8 {
    // If `kept` is zero, `last` is larger than the index of any lane.
    let last = kept.wrapping_sub(1);
    let (mut found, mut at) = (0, 0);
    while at < block.len() {
        found |= load(chunk(block, at)) & (at / STEP).ct_eq(&(last / STEP)).mask() as u64;
        at += STEP;
    }
    (found >> (8 * (last % STEP))) as u8
}

/// Writes the data and the padding to the block. The function `sources` is called with each chunk of the block and the
/// index of the chunk's first lane. `sources` returns a word of data, in which the bytes after the data may have any
/// value, and a word of noise.
#[inline(always)]
fn write(
    row: &Row,
    value: Value,
    kept: usize,
    last: u8,
    block: &mut [u8],
    sources: impl Fn(&[u8], usize) -> (u64, u64),
) {
    debug_assert!(kept < block.len() && block.len() == usize::from(row.size));
    let count = row.size.wrapping_sub(kept as u8);
    let value = value.pick(kept) ^ (count & row.counts) ^ (last & row.follows);
    let size = block.len();
    let (border, bits) = (kept / STEP, 8 * (kept % STEP));
    let mut at = 0;
    while at < size {
        let number = at / STEP;
        let chunk = &mut block[at..size.min(at + STEP)];
        let here = number.ct_eq(&border).mask() as u64;
        let data = number.ct_lt(&border).mask() as u64 | (here & !(u64::MAX << bits));
        let steps = subtract(splat(at as u8) + NUMBERS, splat(kept as u8));
        let mut padding = add(splat(value), steps & splat(row.steps)) ^ (here & (u64::from(row.mark) << bits));
        let (old, noise) = sources(chunk, at);
        padding ^= noise & splat(row.noisy);
        if at + chunk.len() == size {
            let shift = 8 * (chunk.len() - 1);
            let counted = u64::from(row.ends_in_count) << shift;
            padding ^= (padding ^ (u64::from(count) << shift)) & counted;
        }
        store(chunk, padding ^ ((padding ^ old) & data));
        at += STEP;
    }
}

/// Returns the chunk of the block that begins at index `at` and has the length of a word. The last word of a block may
/// be shorter.
#[inline(always)]
fn chunk(block: &[u8], at: usize) -> &[u8] {
    &block[at..block.len().min(at + STEP)]
}

/// Reads bytes of a slice at any index, also after the end, although the length is secret. Never accesses memory
/// outside of the slice. For an index after the end, the reader reads the first byte again, or a stand-in byte if the
/// slice is empty.
pub struct Reader<'a> {
    start: *const u8,
    length: usize,
    data: PhantomData<&'a [u8]>,
}

static STAND_IN: u8 = 0;

impl<'a> Reader<'a> {
    #[inline(always)]
    pub fn new(data: &'a [u8]) -> Self {
        let (data, length) = (data.as_ptr().expose_provenance(), data.len());
        let stand_in = core::ptr::from_ref(&STAND_IN).expose_provenance();
        Self {
            start: core::ptr::with_exposed_provenance(length.ct_is_zero().select(stand_in, data)),
            length,
            data: PhantomData,
        }
    }

    #[inline(always)]
    fn byte(&self, index: usize) -> u8 {
        let inside = index.ct_lt(&self.length).mask().cast_unsigned();
        // SAFETY: the index is zero or below the length. `start` points to the first of `length` bytes, or to the
        // stand-in byte if the slice is empty. Both addresses were exposed, and the slice that `new` borrowed stays
        // borrowed as long as `self` exists.
        unsafe { self.start.add(index & inside).read() }
    }

    /// Reads `lanes` bytes, beginning at index `at`.
    #[inline(always)]
    pub fn word(&self, at: usize, lanes: usize) -> u64 {
        (0..lanes).fold(0, |word, lane| word | (u64::from(self.byte(at + lane)) << (8 * lane)))
    }

    /// Returns the last byte of the slice, or zero if the slice is empty.
    #[inline(always)]
    pub fn last(&self) -> u8 {
        self.byte(self.length.wrapping_sub(1))
    }
}

#[inline(always)]
fn splat(byte: u8) -> u64 {
    u64::from(byte) * ONES
}

/// Adds two words lane by lane.
#[inline(always)]
fn add(left: u64, right: u64) -> u64 {
    ((left & !HIGH) + (right & !HIGH)) ^ ((left ^ right) & HIGH)
}

/// Subtracts two words lane by lane.
#[inline(always)]
fn subtract(left: u64, right: u64) -> u64 {
    ((left | HIGH) - (right & !HIGH)) ^ ((left ^ !right) & HIGH)
}

/// Returns a word with flags: in every lane that is not zero, the highest bit is set.
#[inline(always)]
fn nonzero(word: u64) -> u64 {
    (((word & !HIGH) + !HIGH) | word) & HIGH
}

/// Loads up to eight bytes, and fills the rest of the word with zeros.
#[inline(always)]
fn load(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<STEP>() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
    }
}

/// Stores the lowest lanes of the word into `bytes`, as many as fit.
#[inline(always)]
fn store(bytes: &mut [u8], word: u64) {
    match bytes.first_chunk_mut::<STEP>() {
        Some(room) => *room = word.to_le_bytes(),
        None => {
            for (lane, byte) in bytes.iter_mut().enumerate() {
                *byte = (word >> (8 * lane)) as u8;
            }
        }
    }
}
