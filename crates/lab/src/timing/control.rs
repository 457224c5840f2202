//! What runs between the measurements to show that they can be trusted: the target against itself, the target with a delay, and a function
//! of like cost that is known to leak.

use super::Scale;
use crate::clock::Clock;
use crate::random::Random;
use crate::target::{Run, Slots, dispatch};

/// A comparison that ends at the first byte that differs: the classic leak.
pub(crate) struct Leaky {
    /// Bytes on each side.
    pub(crate) bytes: usize,
}

impl Leaky {
    /// One that takes about as long as the target's call.
    pub(crate) fn like(scale: &Scale) -> Self {
        // About a cycle for each byte, as for each turn of the delay.
        let turns = scale.call * scale.tick_ns * scale.turns_per_ns;
        Self { bytes: (turns as usize).clamp(16, 4096) }
    }

    /// Calls that make a measurement long enough.
    pub(crate) fn repeats(&self, scale: &Scale) -> usize {
        let turns = scale.call * scale.repeats as f64 * scale.tick_ns * scale.turns_per_ns;
        ((turns / self.bytes as f64).ceil() as usize).clamp(1, scale.repeats.max(1))
    }

    /// The first side's inputs are equal, the second's differ in the middle.
    pub(crate) fn fill(&self, second: bool, random: &mut Random, input: &mut [u8]) {
        let (left, right) = input.split_at_mut(self.bytes);
        random.fill(left);
        right.copy_from_slice(left);
        right[self.bytes / 2] ^= u8::from(second);
    }
}

impl Run for Leaky {
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>) {
        let (bytes, repeats) = (self.bytes, slots.repeats);
        // A clock that is not the processor's may stand still while bytes are compared; it is moved by hand.
        let aside = clock.as_counter().is_none();
        let mut calls = |buffer: &mut [u8]| {
            for _ in 0..repeats {
                let (left, right) = std::hint::black_box(&*buffer).split_at(bytes);
                for (left, right) in left.iter().zip(right) {
                    if aside {
                        clock.delay(1);
                    }
                    if std::hint::black_box(left) != right {
                        break;
                    }
                }
            }
        };
        dispatch(clock, slots, 1, &mut calls);
    }

    fn many(&mut self, _clock: &dyn Clock, _input: &mut [u8], _calls: u64) -> u64 {
        0
    }

    fn once(&mut self, _input: &mut [u8]) {}

    fn changes(&self) -> bool {
        false
    }
}
