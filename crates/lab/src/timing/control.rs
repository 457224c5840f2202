//! What runs between the measurements to show that they can be trusted: the target against itself, the target with a delay, and a function
//! of like cost that is known to leak.

use super::Scale;
use crate::clock::Clock;
use crate::random::Random;
use crate::target::{Run, Slots, dispatch};

/// How many times Δ the known leak is, about.
const LEAK: f64 = 8.0;

/// A comparison that ends at the first byte that differs: the classic leak.
#[derive(Clone, Copy)]
pub(crate) struct Leaky {
    /// Bytes on each side.
    pub(crate) bytes: usize,
    /// So many bytes are not looked at where the sides differ.
    spared: usize,
    /// Calls in a measurement.
    pub(crate) repeats: usize,
}

impl Leaky {
    /// One that takes about as long as the target's calls, and leaks a few times Δ.
    pub(crate) fn like(scale: &Scale) -> Self {
        // About two cycles, turns of the delay loop, for each byte.
        let turns = |ns: f64| ns * scale.turns_per_ns;
        let bytes = (turns(scale.call * scale.tick_ns) / 2.0).clamp(16.0, 4096.0) as usize;
        let all = turns(scale.call * scale.tick_ns) * scale.repeats as f64 / 2.0;
        let repeats = (all / bytes as f64).ceil().clamp(1.0, 1e6) as usize;
        let leak = turns(LEAK * scale.delta_ns * scale.repeats as f64) / 2.0;
        Self { bytes, spared: ((leak / repeats as f64).ceil() as usize).clamp(1, bytes - 1), repeats }
    }

    /// The first side's inputs are equal, the second's differ near the end.
    pub(crate) fn fill(&self, second: bool, random: &mut Random, input: &mut [u8]) {
        let (left, right) = input.split_at_mut(self.bytes);
        random.fill(left);
        right.copy_from_slice(left);
        right[self.bytes - 1 - self.spared] ^= u8::from(second);
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
