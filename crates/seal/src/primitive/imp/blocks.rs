//! Argon2's memory, on huge pages if the system has huge pages. With pages of 4 KiB, the first access to 256 MiB nearly
//! doubles the time of the hash.

use std::ops::{Deref, DerefMut};
use std::slice;

use memmap2::MmapMut;

use deadpan_ct::Wipe;

/// The number of 64-bit words in a block.
pub(crate) const WORDS: usize = 128;
/// The number of bytes in a block.
pub(crate) const BYTES: usize = 8 * WORDS;

/// A block of Argon2's memory. A block has 1 KiB and begins on a cache line.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [u64; WORDS]);

impl Block {
    pub(crate) const ZERO: Self = Self([0; WORDS]);
}

impl Wipe for Block {
    fn wipe(&mut self) {
        self.0.wipe();
    }
}

/// Blocks that are zero at first. When the value is dropped, the system takes the memory back, and clears the memory
/// before another process sees it.
pub(crate) struct Blocks(MmapMut);

impl Blocks {
    /// Maps `count` blocks. Returns `None` if the system does not have enough memory.
    pub(crate) fn new(count: usize) -> Option<Self> {
        let memory = MmapMut::map_anon(count.checked_mul(BYTES)?).ok()?;
        // Errors are ignored, because without huge pages the hash is only slower.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::DontDump);
        Some(Self(memory))
    }
}

const _: () = assert!(size_of::<Block>() == BYTES && align_of::<Block>() <= 4096);

impl Deref for Blocks {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        let count = self.0.len() / BYTES;
        // SAFETY: the mapping is as long as `count` blocks. The mapping begins on a page, so it is aligned for blocks.
        // The mapping holds zeros or words that were written through `deref_mut`, and zeros and words are valid blocks
        // of integers. The mapping is borrowed for as long as the slice is borrowed.
        unsafe { slice::from_raw_parts(self.0.as_ptr().cast(), count) }
    }
}

impl DerefMut for Blocks {
    fn deref_mut(&mut self) -> &mut [Block] {
        let count = self.0.len() / BYTES;
        // SAFETY: as in `deref`, and the mapping is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}
