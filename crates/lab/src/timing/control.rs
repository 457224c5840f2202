//! The controls run between the measurements and show whether the run can be trusted. There are three controls: a
//! comparison of a class with itself, the target with an added delay, and a function of similar duration that is known
//! to leak.

use super::Scale;
use crate::clock::Clock;
use crate::random::Random;
use crate::target::{Run, Slots, dispatch};

/// The approximate size of the known leak, as a multiple of Δ.
const LEAK: f64 = 8.0;

/// A comparison that ends at the first differing byte: the classic leak.
#[derive(Clone, Copy)]
pub(crate) struct Leaky {
    /// Number of bytes on each side.
    pub(crate) bytes: usize,
    /// The number of bytes after the first difference. The comparison does not read the bytes after the first
    /// difference.
    spared: usize,
    /// Number of calls in a measurement.
    pub(crate) repeats: usize,
}

impl Leaky {
    /// Creates a comparison whose duration is about the duration of the target's calls. The leak of the comparison is a
    /// few times Δ.
    pub(crate) fn like(scale: &Scale) -> Self {
        // A compared byte takes about two cycles, and an iteration of the delay loop takes about one cycle.
        let turns = |ns: f64| ns * scale.turns_per_ns;
        let bytes = (turns(scale.call * scale.tick_ns) / 2.0).clamp(16.0, 4096.0) as usize;
        let all = turns(scale.call * scale.tick_ns) * scale.repeats as f64 / 2.0;
        let repeats = (all / bytes as f64).ceil().clamp(1.0, 1e6) as usize;
        let leak = turns(LEAK * scale.delta_ns * scale.repeats as f64) / 2.0;
        Self { bytes, spared: ((leak / repeats as f64).ceil() as usize).clamp(1, bytes - 1), repeats }
    }

    /// Writes an input. In the first class, the two halves of the input are equal. In the second class, the two halves
    /// differ near the end.
    pub(crate) fn fill(&self, second: bool, random: &mut Random, input: &mut [u8]) {
        let (left, right) = input.split_at_mut(self.bytes);
        random.fill(left);
        right.copy_from_slice(left);
        right[self.bytes - 1 - self.spared] ^= u8::from(second);
    }

    /// Returns the number of iterations of the delay loop that take as long as `repeats` comparisons of this input.
    fn turns(&self, input: &[u8], repeats: usize) -> u32 {
        let (left, right) = input.split_at(self.bytes);
        let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        u32::try_from(2 * repeats * (same + 1).min(self.bytes)).unwrap_or(u32::MAX)
    }
}

impl Run for Leaky {
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>) {
        let (bytes, repeats) = (self.bytes, slots.repeats);
        // Comparing bytes does not advance a mock clock, so each comparison advances the mock clock explicitly.
        let aside = clock.as_counter().is_none();
        if aside {
            // If the clock belongs to a worker in another process, the worker runs a delay of two iterations for each
            // byte instead of the comparison.
            let compared = slots.inputs.chunks_exact(2 * bytes).map(|input| self.turns(input, repeats));
            let delays = slots.delays.iter().copied().chain(std::iter::repeat(0));
            let turns: Vec<u32> = compared.zip(delays).map(|(turns, delay)| turns.saturating_add(delay)).collect();
            if clock.delays_elsewhere(slots.dither, &turns, slots.ticks) {
                return;
            }
        }
        let mut calls = |buffer: &mut [u8]| {
            for _ in 0..repeats {
                let (left, right) = std::hint::black_box(&*buffer).split_at(bytes);
                let mut compared = 0;
                for (left, right) in left.iter().zip(right) {
                    compared += 1;
                    if std::hint::black_box(left) != right {
                        break;
                    }
                }
                if aside {
                    clock.delay(compared);
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
