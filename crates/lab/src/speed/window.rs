//! A window is one timed series of calls of a target on one input.

use crate::clock::Clock;
use crate::random::Random;
use crate::target::{Slots, Target};

/// Maximum number of bytes for the copies of an input that a target changes. This many stay in the second-level cache.
const COPIES: usize = 256 << 10;

/// Returns the maximum number of calls in one window.
pub(crate) fn most(target: &mut Target) -> u64 {
    let length = target.length();
    if target.run().changes() { (COPIES / length).max(1) as u64 } else { u64::MAX }
}

/// A buffer that moves between measurements. The position of the data in the caches and their alignment thereby become
/// random, instead of the same for all measurements.
///
/// All functions of a race share one buffer, because two buffers at different addresses make the same code differ by
/// several percent.
pub(crate) struct Buffer {
    memory: Vec<u8>,
    past: usize,
}

impl Buffer {
    const PAGE: usize = 4096;

    pub(crate) fn new() -> Self {
        Self { memory: Vec::new(), past: 0 }
    }

    /// Moves the buffer's data to another cache line of the page.
    pub(crate) fn relocate(&mut self, random: &mut Random) {
        self.past = random.below((Self::PAGE / 64) as u64) as usize * 64;
    }

    fn bytes(&mut self, length: usize) -> &mut [u8] {
        if self.memory.len() < length + 2 * Self::PAGE {
            self.memory.resize(length + 2 * Self::PAGE, 0);
        }
        let first = self.memory.as_ptr().align_offset(Self::PAGE).min(Self::PAGE) + self.past;
        &mut self.memory[first..first + length]
    }
}

/// Measures `calls` calls, at most [`most`], and returns the ticks. `input` is copied into `buffer` before the clock
/// starts.
pub(crate) fn ticks(target: &mut Target, clock: &dyn Clock, input: &[u8], buffer: &mut Buffer, calls: u64) -> u64 {
    let length = target.length();
    let run = target.run();
    if !run.changes() {
        let bytes = buffer.bytes(length);
        bytes.copy_from_slice(input);
        return run.many(clock, bytes, calls);
    }
    let mut ticks = [0];
    let repeats = calls as usize;
    let buffer = buffer.bytes(length * repeats);
    run.sample(
        clock,
        &mut Slots { inputs: input, length, repeats, dither: &[0], delays: &[], buffer, ticks: &mut ticks },
    );
    ticks[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::System;

    #[test]
    fn each_call_of_a_target_that_changes_its_input_gets_a_fresh_copy() {
        let mut target = Target::in_place("flip", 3, |input| {
            assert_eq!(input, [1, 2, 3]);
            input.fill(0);
        });
        let mut buffer = Buffer::new();
        assert_eq!(most(&mut target), (COPIES / 3) as u64);
        for calls in [1, 2, 500] {
            buffer.relocate(&mut Random::new(calls));
            ticks(&mut target, &System::new(), &[1, 2, 3], &mut buffer, calls);
        }
    }

    #[test]
    fn a_buffer_moves_by_cache_lines() {
        let (mut buffer, mut random) = (Buffer::new(), Random::new(1));
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            buffer.relocate(&mut random);
            seen.insert(buffer.bytes(10).as_ptr().addr() % Buffer::PAGE);
        }
        assert!(seen.len() == 64 && seen.iter().all(|place| place % 64 == 0));
    }
}
