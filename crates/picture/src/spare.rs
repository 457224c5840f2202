//! Spare pictures: a Reed–Solomon code over the parts of a set. Any pictures may be lost, but not more pictures than
//! there are spare pictures.
//!
//! The parts are worked on in stripes, so the memory does not depend on the length of the data.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

use crate::Error;
use crate::threads::together;

/// The maximum number of pictures in a set that has spare pictures.
pub const MOST: u32 = 32_768;

/// Returns how many spare pictures are allowed in a set with `count` pictures that carry data. The number is 64 plus 16
/// for each picture that carries data, but the set has at most [`MOST`] pictures in total.
///
/// The work of the code grows with the number of spare pictures in the set, even if these pictures are missing. Because
/// of this limit, the work is in proportion to the pictures that are present: a reader begins only if at least `count`
/// pictures are present. Without the limit, a forged label could state that a tiny picture is one of 32 768 pictures,
/// and a reader would work for hours.
#[must_use]
pub fn most_spares(count: u32) -> u32 {
    MOST.saturating_sub(count).min(count.saturating_mul(16).saturating_add(64))
}

/// Checks that a set can have `count` pictures that carry data and `spares` spare pictures.
///
/// # Errors
/// [`Error::TooManyPictures`] if there are more than [`MOST`] pictures, [`Error::TooManySpares`] if there are more
/// spare pictures than [`most_spares`] allows.
pub fn check(count: u32, spares: u32) -> Result<(), Error> {
    let most = most_spares(count);
    match count.checked_add(spares) {
        Some(all) if all <= MOST && spares <= most => Ok(()),
        Some(all) if all <= MOST => Err(Error::TooManySpares { count, spares, most }),
        _ => Err(Error::TooManyPictures),
    }
}

/// The maximum number of bytes of all stripes together. Only a set with very many pictures takes more bytes, because
/// stripes have a minimum length.
const MEMORY: usize = 16 << 20;
/// The shortest stripe. At each offset, the 64 bytes of all parts form a separate code word.
const WORD: usize = 64;

/// Makes the parts of `spares` spare pictures from the parts of `count` pictures. All parts have `length` bytes, a
/// multiple of 64.
///
/// `read(index, buffer, position)` reads the part with this index from `position` into the buffer, and adds zeros after
/// the end of the part. `write(spare, bytes, position)` writes to a position of a spare part; the spare parts are
/// counted from 0. Several threads call `read` and `write` at the same time.
///
/// # Errors
/// The errors of [`check`], and [`Error::Read`] and [`Error::Write`] if a function fails.
pub fn encode(
    count: u32,
    spares: u32,
    length: u64,
    read: &(impl Fn(u32, &mut [u8], u64) -> io::Result<()> + Sync),
    write: &(impl Fn(u32, &[u8], u64) -> io::Result<()> + Sync),
) -> Result<(), Error> {
    check(count, spares)?;
    let (originals, recovery) = (count as usize, spares as usize);
    stripes(count + spares, length, |stripe, next| {
        let mut encoder = ReedSolomonEncoder::new(originals, recovery, stripe).map_err(impossible)?;
        let mut buffer = vec![0; stripe];
        while let Some((position, bytes)) = next() {
            encoder.reset(originals, recovery, bytes).map_err(impossible)?;
            for index in 0..count {
                read(index, &mut buffer[..bytes], position).map_err(Error::Read)?;
                encoder.add_original_shard(&buffer[..bytes]).map_err(impossible)?;
            }
            let result = encoder.encode().map_err(impossible)?;
            for (spare, shard) in (0..spares).zip(result.recovery_iter()) {
                write(spare, shard, position).map_err(Error::Write)?;
            }
        }
        Ok(())
    })
}

/// Makes the missing parts, which are the parts of pictures that carry data and are not in `present`, from the parts of
/// the pictures in `present`. Pictures whose index is `count` or higher are spare pictures. All parts have `length`
/// bytes, a multiple of 64.
///
/// `read(index, buffer, position)` reads the part with this index from `position` into the buffer, and adds zeros after
/// the end of the part. `write(index, bytes, position)` writes to a position of a missing part. Several threads call
/// `read` and `write` at the same time.
///
/// # Errors
/// The errors of [`check`], [`Error::MissingPictures`] if fewer than `count` pictures are present, and [`Error::Read`]
/// and [`Error::Write`] if a function fails.
pub fn recover(
    count: u32,
    spares: u32,
    length: u64,
    present: &BTreeSet<u32>,
    read: &(impl Fn(u32, &mut [u8], u64) -> io::Result<()> + Sync),
    write: &(impl Fn(u32, &[u8], u64) -> io::Result<()> + Sync),
) -> Result<(), Error> {
    check(count, spares)?;
    let missing = count - present.range(..count).count() as u32;
    let spare: Vec<u32> = present.range(count..count + spares).copied().collect();
    if missing == 0 {
        return Ok(());
    }
    if spare.len() < missing as usize {
        return Err(Error::MissingPictures { missing, spares: spare.len() as u32, damaged: Vec::new() });
    }
    let (originals, recovery) = (count as usize, spares as usize);
    stripes(count + spares, length, |stripe, next| {
        let mut decoder = ReedSolomonDecoder::new(originals, recovery, stripe).map_err(impossible)?;
        let mut buffer = vec![0; stripe];
        while let Some((position, bytes)) = next() {
            let buffer = &mut buffer[..bytes];
            decoder.reset(originals, recovery, bytes).map_err(impossible)?;
            for &index in present.range(..count) {
                read(index, buffer, position).map_err(Error::Read)?;
                decoder.add_original_shard(index as usize, &*buffer).map_err(impossible)?;
            }
            for &index in &spare[..missing as usize] {
                read(index, buffer, position).map_err(Error::Read)?;
                decoder.add_recovery_shard((index - count) as usize, &*buffer).map_err(impossible)?;
            }
            let result = decoder.decode().map_err(impossible)?;
            for (index, shard) in result.restored_original_iter() {
                write(index as u32, shard, position).map_err(Error::Write)?;
            }
        }
        Ok(())
    })
}

/// The code refuses only invalid counts and lengths, which were already checked.
fn impossible(_: reed_solomon_simd::Error) -> Error {
    Error::TooManyPictures
}

/// Calls `work` on several threads with the length of a stripe, and with a function that returns the place and the
/// length of the next stripe.
fn stripes(
    pictures: u32,
    length: u64,
    work: impl Fn(usize, &dyn Fn() -> Option<(u64, usize)>) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(4);
    // The code works on a number of pieces (shards) that is a power of two.
    let shards = (pictures as usize).next_power_of_two() * 2;
    let stripe = (MEMORY / threads / shards / WORD * WORD).clamp(WORD, 256 << 10);
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let take = || {
        let position = next.fetch_add(stripe as u64, Ordering::Relaxed);
        let left = length.checked_sub(position).filter(|left| *left > 0 && !failed.load(Ordering::Relaxed))?;
        Some((position, usize::try_from(left).map_or(stripe, |left| left.min(stripe))))
    };
    let worker = || work(stripe, &take).inspect_err(|_| failed.store(true, Ordering::Relaxed));
    together(threads, worker).into_iter().collect()
}
