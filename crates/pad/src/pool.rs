//! The default generator: a pool of random bytes for each thread.
//!
//! AES-256 in counter mode makes 4 KiB at a time. The first 32 bytes become the key of the next refill. The other bytes
//! are output once and then wiped, so that neither the pool nor the key reveals anything about earlier output ("fast
//! key erasure"). After every MiB, the generator mixes in a fresh seed from the operating system. A forked child
//! process takes a new seed at its first refill. Before this refill, the child process repeats at most 4 KiB of its
//! parent's bytes.

use core::cell::RefCell;
use std::thread_local;

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes::{Aes256, Block};

use crate::RandomError;
use deadpan_ct::{Wipe, Wiped};

/// The number of bytes in a refill. Making this number of bytes costs little time compared with the calls that use the
/// bytes.
const SIZE: usize = 4096;
/// The number of bytes in a refill that become the next key.
const KEY: usize = 32;
/// The number of refills between two seeds.
const REFILLS: u32 = 256;

struct Pool {
    /// The contents of the pool: the key, then unused bytes up to `end`, then zeros.
    bytes: [u8; SIZE],
    end: usize,
    refills: u32,
    /// The number of the process that seeded the pool.
    process: u32,
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool::EMPTY) };
}

/// Overwrites `bytes` with random bytes from this thread's pool.
#[inline]
pub fn fill(bytes: &mut [u8]) -> Result<(), RandomError> {
    // While a thread ends, its pool may already be destroyed. In this case, the bytes come from the operating system.
    POOL.try_with(|pool| pool.try_borrow_mut().map_err(|_| RandomError)?.fill(bytes))
        .unwrap_or_else(|_| from_system(bytes))
}

impl Pool {
    const EMPTY: Self = Self { bytes: [0; SIZE], end: KEY, refills: 0, process: 0 };

    #[inline]
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomError> {
        // For blocks of 16 bytes, callers request 8 or 16 random bytes. The code copies these 8 or 16 bytes in
        // registers.
        if let Some(seed) = bytes.as_mut_array::<8>() {
            return self.hand_out(8, |fresh| seed.copy_from_slice(fresh));
        }
        if let Some(block) = bytes.as_mut_array::<16>() {
            return self.hand_out(16, |fresh| block.copy_from_slice(fresh));
        }
        bytes.chunks_mut(SIZE - KEY).try_for_each(|part| self.hand_out(part.len(), |fresh| part.copy_from_slice(fresh)))
    }

    /// Passes the next `length` bytes to `take`, then wipes these bytes in the pool.
    #[inline(always)]
    fn hand_out(&mut self, length: usize, take: impl FnOnce(&[u8])) -> Result<(), RandomError> {
        if self.end - KEY < length {
            self.refill()?;
        }
        let start = self.end - length;
        let fresh = &mut self.bytes[start..self.end];
        take(fresh);
        fresh.wipe();
        self.end = start;
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> Result<(), RandomError> {
        let mut key = Wiped::new([0; KEY]);
        let process = process();
        if self.refills == 0 || self.process != process {
            from_system(&mut *key)?;
            self.refills = REFILLS;
            self.process = process;
        }
        for (mixed, old) in key.iter_mut().zip(&self.bytes) {
            *mixed ^= old;
        }
        let (blocks, _) = self.bytes.as_chunks_mut();
        for (block, number) in blocks.iter_mut().zip(0_u128..) {
            *block = number.to_le_bytes();
        }
        let blocks: &mut [Block] = Array::cast_slice_from_core_mut(blocks);
        Aes256::new(&Array::from(*key)).encrypt_blocks(blocks);
        self.end = SIZE;
        self.refills -= 1;
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.bytes.wipe();
    }
}

/// Returns the process number of this process. WebAssembly has no process numbers and no forks, and `process::id`
/// panics there.
fn process() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}

#[cold]
fn from_system(bytes: &mut [u8]) -> Result<(), RandomError> {
    getrandom::fill(bytes).map_err(|_| RandomError)
}
