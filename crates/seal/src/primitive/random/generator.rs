//! The generator of bulk random bytes.

use std::fmt;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use super::health;
use crate::Error;
use crate::primitive::entropy::Entropy;
use crate::primitive::imp::hkdf;
use crate::primitive::imp::keystream::{self, BLOCK, Counter};
use crate::primitive::imp::transient::Transient;
use deadpan_ct::{Wipe, Wiped};

const KEY: usize = 32;
/// The layout of the page: first the key, then a byte that shows whether there is a key, and, during a change of the
/// key, the seed.
const SEEDED: usize = KEY;
const SEED: std::ops::Range<usize> = 512..512 + health::SAMPLE;
/// The maximum number of output bytes from one key: one mebibyte, because this amount fits into the caches.
pub(super) const PIECE: usize = 1 << 20;
/// The length of the first part of a keystream, which holds the next key and the first output bytes. The fastest back
/// end computes 512 bytes at once.
pub(super) const FIRST: usize = 512;
/// The number of output bytes after which the generator takes a new seed.
pub(super) const BETWEEN: u64 = 64 << 20;
/// The time between two seeds.
const AGE: Duration = Duration::from_secs(60);

/// A generator of random bytes; see [the module](super). Each thread should have its own generator.
pub struct Generator {
    /// The page with the key. In the child of a fork, the page is empty.
    page: Transient,
    entropy: Entropy,
    process: u32,
    /// The number of bytes until the next seed.
    left: u64,
    /// The time of the last seed. On a system without a clock, the time of the last seed is `None`. On a system without
    /// a clock, only the number of bytes determines when a new seed is due.
    seeded: Option<Instant>,
    seeds: u64,
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Generator(..)")
    }
}

impl Generator {
    /// Makes a generator with a fresh seed, and tests the generator. Making a generator takes a few microseconds.
    ///
    /// # Errors
    /// [`Error::System`] if the system has no random bytes, or if a test fails.
    pub fn new() -> Result<Self, Error> {
        Self::with_entropy(Entropy::System)
    }

    pub(super) fn with_entropy(entropy: Entropy) -> Result<Self, Error> {
        health::known_answer()?;
        let mut generator =
            Self { page: Transient::new(), entropy, process: process(), left: 0, seeded: now(), seeds: 0 };
        generator.seed()?;
        Ok(generator)
    }

    /// Fills `bytes` with random bytes. No byte is ever returned twice.
    ///
    /// # Errors
    /// [`Error::System`] if a new seed is due and the system has no random bytes. After this error, do not use the
    /// contents of `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.chunks_mut(PIECE).try_for_each(|piece| self.fill_piece(piece))
    }

    /// Takes a fresh seed immediately.
    ///
    /// # Errors
    /// [`Error::System`] if the system has no random bytes, or if a test fails.
    pub fn reseed(&mut self) -> Result<(), Error> {
        self.seed()
    }

    #[cfg(test)]
    pub(super) fn seeds(&self) -> u64 {
        self.seeds
    }

    fn fill_piece(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        if self.is_stale(piece.len()) {
            self.seed()?;
        }
        let (begin, rest) = piece.split_at_mut(piece.len().min(FIRST - KEY));
        let mut first = Wiped::new([0; FIRST]);
        let key = key_in(self.page.bytes_mut());
        let counter = |block: usize| -> Counter { (block as u128).to_be_bytes() };
        if !rest.is_empty() {
            keystream::fill(key, &counter(FIRST / BLOCK), rest);
        }
        keystream::fill(key, &counter(0), &mut *first);
        let (next, output) = first.split_at(KEY);
        key.copy_from_slice(next);
        begin.copy_from_slice(&output[..begin.len()]);
        self.left = self.left.saturating_sub(begin.len() as u64 + rest.len() as u64);
        Ok(())
    }

    /// Returns whether the generator must take a new seed before it returns `bytes` more bytes.
    fn is_stale(&self, bytes: usize) -> bool {
        // The page is empty in the child of a fork. On systems without pages that a fork clears, a changed process
        // number shows a fork.
        self.page.bytes()[SEEDED] == 0
            || self.process != process()
            || self.left < bytes as u64
            || self.seeded.is_some_and(|seeded| seeded.elapsed() >= AGE)
    }

    fn seed(&mut self) -> Result<(), Error> {
        let page = self.page.bytes_mut();
        page[SEEDED] = 0;
        let seed = self
            .entropy
            .fill("generator's seed", self.seeds, &mut page[SEED])
            .and_then(|()| health::check(&page[SEED]));
        let mixed = seed.and_then(|()| {
            let mut key = Wiped::new([0; KEY]);
            hkdf::extract(&page[..KEY], &page[SEED], &mut key)?;
            page[..KEY].copy_from_slice(&*key);
            Ok(())
        });
        page[SEED].wipe();
        mixed?;
        page[SEEDED] = 1;
        (self.left, self.process, self.seeded) = (BETWEEN, process(), now());
        self.seeds += 1;
        Ok(())
    }
}

/// Returns the number of this process. WebAssembly has no process numbers and no forks, and `process::id` panics there.
fn process() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}

/// Returns the time, or `None` in WebAssembly without a system, where `Instant::now` panics.
fn now() -> Option<Instant> {
    (!cfg!(all(target_family = "wasm", target_os = "unknown"))).then(Instant::now)
}

fn key_in(page: &mut [u8; 4096]) -> &mut [u8; KEY] {
    page.first_chunk_mut().expect("a page is longer")
}

/// Reads random bytes. The stream never ends.
impl Read for Generator {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill(buffer).map_err(Error::into_io)?;
        Ok(buffer.len())
    }
}
