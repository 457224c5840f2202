//! Argon2's memory, on huge pages where there are any: touching 256 MiB in pages of 4 KiB takes a third of the whole hash.

use argon2::Block;
use memmap2::MmapMut;
use std::slice;

/// Zeroed blocks. They go back to the system, which clears them before anybody else sees them.
pub(crate) struct Blocks(MmapMut);

impl Blocks {
    /// So many of them, or nothing if the system has not so much memory.
    pub(crate) fn new(count: usize) -> Option<Self> {
        let memory = MmapMut::map_anon(count.checked_mul(Block::SIZE)?).ok()?;
        // Without them it is only slower.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::DontDump);
        Some(Self(memory))
    }
}

const _: () = assert!(size_of::<Block>() == Block::SIZE && align_of::<Block>() <= 4096);

impl AsMut<[Block]> for Blocks {
    fn as_mut(&mut self) -> &mut [Block] {
        let count = self.0.len() / Block::SIZE;
        // SAFETY: the mapping is as long as `count` blocks, begins on a page and so is aligned for them, holds zeros or what was written
        // through this slice, both of which are valid blocks of integers, and is borrowed for as long as the slice.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}
