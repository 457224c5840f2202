//! Moves a buffer and the stack between measurements, so that a result does not depend on one particular placement of
//! the function's data.

use std::hint::black_box;

use crate::random::Random;

/// The size of a page in bytes. The buffer moves only within one page, because the mapping from addresses to positions
/// in the caches repeats with each page.
pub(crate) const PAGE: usize = 4096;

/// A buffer that moves between measurements. Because the buffer moves, the alignment of the data and their position in
/// the caches are random. Without the moves, the alignment and the position would be the same for all measurements.
///
/// All functions of a race (a speed comparison) share one buffer, because the times of the same code on two buffers can
/// differ by several percent.
pub(crate) struct Buffer {
    memory: Vec<u8>,
    past: usize,
}

impl Buffer {
    /// The alignment of inputs in bytes: the same alignment as memory from an allocator. A function may rely on this
    /// alignment.
    pub(crate) const ALIGN: usize = 16;
    /// The size of a cache line in bytes.
    pub(crate) const LINE: usize = 64;

    pub(crate) fn new() -> Self {
        Self { memory: Vec::new(), past: 0 }
    }

    /// Moves the data to another random offset in the page. The offset is a multiple of `align`.
    pub(crate) fn relocate(&mut self, align: usize, random: &mut Random) {
        self.past = random.below((PAGE / align) as u64) as usize * align;
    }

    pub(crate) fn bytes(&mut self, length: usize) -> &mut [u8] {
        if self.memory.len() < length + 2 * PAGE {
            self.memory.resize(length + 2 * PAGE, 0);
        }
        let first = self.memory.as_ptr().align_offset(PAGE).min(PAGE) + self.past;
        &mut self.memory[first..first + length]
    }
}

/// The number of different depths of the stack at which the lab measures.
pub(crate) const DEPTHS: u64 = 128;

/// Calls `run` after adding `levels` frames to the stack. The size of a frame is a multiple of 16 bytes, as the ABI
/// requires.
#[inline(never)]
pub(crate) fn deeper(levels: u32, run: &mut dyn FnMut()) {
    let mut frame = [levels; 4];
    black_box(&mut frame);
    if levels == 0 {
        run();
    } else {
        deeper(levels - 1, run);
    }
    // The frame is used after the recursive call, so the compiler cannot turn the recursion into a loop.
    black_box(&mut frame);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_buffer_moves_over_all_places_of_a_page() {
        let (mut buffer, mut random) = (Buffer::new(), Random::new(1));
        for (align, places) in [(Buffer::LINE, 64), (Buffer::ALIGN, 256)] {
            let mut seen = BTreeSet::new();
            for _ in 0..4000 {
                buffer.relocate(align, &mut random);
                seen.insert(buffer.bytes(10).as_ptr().addr() % PAGE);
            }
            assert!(seen.len() == places && seen.iter().all(|place| place % align == 0), "{}", seen.len());
        }
    }

    #[test]
    fn every_depth_is_another_place_on_the_stack() {
        let mut seen = BTreeSet::new();
        for depth in 0..DEPTHS {
            deeper(depth as u32, &mut || {
                let local = 0_u8;
                seen.insert((&raw const local).addr() % PAGE);
            });
        }
        assert!(seen.len() >= 64, "{}", seen.len());
    }
}
