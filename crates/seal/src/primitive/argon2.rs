//! Argon2id, which derives keys from passphrases (RFC 9106, version 0x13).
//!
//! The crate `argon2` uses registers of at most 32 bytes, and waits for memory at every block. This module uses 64-byte
//! registers if the CPU has such registers. A thread with several lanes fills one block of each lane in turn. While the
//! thread computes a block of one lane, the CPU reads the data for the next lane from memory.
//!
//! The matrix of blocks is stored slice by slice, and each slice is stored lane by lane. The segments of one slice are
//! therefore separate parts of memory. Several threads can fill these segments at the same time, and every thread may
//! read all other slices.

mod cost;
mod segment;
mod variable;

pub use cost::Cost;

use parking_lot::Mutex;

use crate::primitive::imp::blocks::{BYTES, Block, Blocks};
use crate::primitive::imp::compress::Compress;
use crate::primitive::threads::{on_threads, workers};
use crate::{Error, Work};
use deadpan_ct::Wiped;
use segment::Slice;

/// The version of Argon2 that RFC 9106 describes.
const VERSION: u32 = 0x13;
/// The type number of Argon2id. Argon2d has the number 0 and Argon2i has the number 1.
const TYPE: u32 = 2;
/// The number of slices in a pass. At the end of each slice, all lanes wait for each other.
const SLICES: usize = 4;
/// The maximum number of lanes that one thread fills in turn. Two lanes hide most of the waiting time for memory, and
/// four lanes hide nearly all of it.
const IN_TURN: usize = 4;
/// The minimum number of blocks that each thread fills in a slice. With fewer blocks, starting a thread takes longer
/// than filling the blocks.
const WORTH_A_THREAD: usize = 512;

/// The inputs of the hash.
#[derive(Clone, Copy, Default)]
pub(crate) struct HashInput<'a> {
    pub(crate) password: &'a [u8],
    pub(crate) salt: &'a [u8],
    /// A secret value: K in the RFC. Sealed files do not use a secret value.
    pub(crate) secret: &'a [u8],
    /// Associated data: X in the RFC. Sealed files do not use associated data.
    pub(crate) data: &'a [u8],
}

/// The sizes of the matrix (section 3.2, step 2).
#[derive(Clone, Copy, Debug)]
struct MatrixShape {
    passes: u32,
    lanes: usize,
    /// The number of blocks of one lane in one slice.
    segment: usize,
}

impl MatrixShape {
    fn new(cost: Cost) -> Self {
        let lanes = cost.lanes as usize;
        Self { passes: cost.passes, lanes, segment: cost.memory as usize / (SLICES * lanes) }
    }

    /// Returns the number of blocks in the matrix: m' in the RFC.
    fn blocks(self) -> usize {
        SLICES * self.lanes * self.segment
    }
}

/// Fills `output` with the hash of `input`, on as many cores as there are lanes.
///
/// May leak: the lengths of the inputs. After the first half of the first pass, Argon2id reads memory at addresses that
/// depend on the password.
///
/// # Errors
/// [`Error::Header`] or [`Error::Limit`] if the cost is out of bounds; [`Error::Invalid`] if an input has 4 GiB or
/// more, or the output has less than 4 bytes; [`Error::System`] if there is not enough memory.
pub(crate) fn hash(cost: Cost, input: HashInput<'_>, output: &mut [u8]) -> Result<(), Error> {
    hash_with(Compress::new(), &Work::default(), cost, input, output)
}

fn hash_with(
    compress: Compress,
    work: &Work<'_>,
    cost: Cost,
    input: HashInput<'_>,
    output: &mut [u8],
) -> Result<(), Error> {
    cost.check()?;
    let length = u32::try_from(output.len()).ok().filter(|length| *length >= 4);
    let length = length.ok_or(Error::Invalid("Argon2 does not make hashes of this length"))?;
    let start = start(cost, input, length)?;
    let shape = MatrixShape::new(cost);
    let mut blocks = Blocks::new(shape.blocks()).ok_or(Error::System("not enough memory for the passphrase"))?;
    first_blocks(&start, shape, &mut blocks);
    let threads = workers(work, 0, shape.lanes.min(shape.lanes * shape.segment / WORTH_A_THREAD) as u64);
    for pass in 0..shape.passes {
        for slice in 0..SLICES {
            fill_slice(compress, threads, shape, [pass as usize, slice], &mut blocks);
        }
    }
    tag(shape, &blocks, output);
    Ok(())
}

/// Returns the hash of all parameters and inputs: H₀ in the RFC.
fn start(cost: Cost, input: HashInput<'_>, length: u32) -> Result<Wiped<[u8; 64]>, Error> {
    let number = |length: usize| {
        let length = u32::try_from(length).map_err(|_| Error::Invalid("Argon2 does not take so long a passphrase"))?;
        Ok::<_, Error>(length.to_le_bytes())
    };
    let parameters = [cost.lanes, length, cost.memory, cost.passes, VERSION, TYPE].map(u32::to_le_bytes);
    let HashInput { password, salt, secret, data } = input;
    let mut start = Wiped::new([0; 64]);
    variable::short(
        &[
            parameters.as_flattened(),
            &number(password.len())?,
            password,
            &number(salt.len())?,
            salt,
            &number(secret.len())?,
            secret,
            &number(data.len())?,
            data,
        ],
        &mut *start,
    );
    Ok(start)
}

/// Computes the first two blocks of each lane (section 3.2, steps 3 and 4).
fn first_blocks(start: &[u8; 64], shape: MatrixShape, blocks: &mut [Block]) {
    let mut bytes = Wiped::new([0; BYTES]);
    for lane in 0..shape.lanes {
        for index in 0..2 {
            let numbers = [index as u32, lane as u32].map(u32::to_le_bytes);
            variable::long(&[start, numbers.as_flattened()], &mut *bytes);
            let words = blocks[lane * shape.segment + index].0.iter_mut();
            for (word, bytes) in words.zip(bytes.as_chunks().0) {
                *word = u64::from_le_bytes(*bytes);
            }
        }
    }
}

/// Fills the segments of one slice. Each thread takes groups of lanes until no group is left.
fn fill_slice(
    compress: Compress,
    threads: usize,
    shape: MatrixShape,
    [pass, number]: [usize; 2],
    blocks: &mut [Block],
) {
    let width = shape.lanes * shape.segment;
    let (before, rest) = blocks.split_at_mut(number * width);
    let (current, after) = rest.split_at_mut(width);
    let mut others = [&[][..]; SLICES];
    for (other, blocks) in others.iter_mut().zip(before.chunks_exact(width)) {
        *other = blocks;
    }
    for (other, blocks) in others[number + 1..].iter_mut().zip(after.chunks_exact(width)) {
        *other = blocks;
    }
    let slice = Slice::new(compress, shape, [pass, number], others);
    let lanes = current.chunks_exact_mut(shape.segment).enumerate();
    let mut segments: Vec<_> = lanes.map(|(lane, blocks)| slice.segment(lane, blocks)).collect();
    let groups = Mutex::new(segments.chunks_mut(shape.lanes.div_ceil(threads).min(IN_TURN)));
    on_threads(threads, &|| {
        loop {
            let taken = groups.lock().next();
            let Some(group) = taken else { return };
            slice.fill(group);
        }
    });
}

/// Adds up the last blocks of all lanes, and writes the hash of the sum to `output` (section 3.2, steps 7 and 8).
fn tag(shape: MatrixShape, blocks: &[Block], output: &mut [u8]) {
    let mut sum = Wiped::new(Block::ZERO);
    let last = &blocks[(SLICES - 1) * shape.lanes * shape.segment..];
    for segment in last.chunks_exact(shape.segment) {
        for (sum, word) in sum.0.iter_mut().zip(segment[shape.segment - 1].0) {
            *sum ^= word;
        }
    }
    let mut bytes = Wiped::new([0; BYTES]);
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(sum.0) {
        *bytes = word.to_le_bytes();
    }
    variable::long(&[&*bytes], output);
}

#[cfg(test)]
mod tests;
