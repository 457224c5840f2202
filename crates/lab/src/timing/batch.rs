//! A batch is a group of pairs of measurements. A pair has one measurement of each class, and a random bit decides
//! which comes first.

use super::Scale;
use crate::clock::Clock;
use crate::random::Random;
use crate::target::{Run, Slots};

/// Bytes of input that are generated at once. This many fit in the second-level cache.
const POOL: usize = 256 * 1024;

/// Takes batches of one function. The buffers are allocated once and used again for each batch.
pub(crate) struct Batcher {
    length: usize,
    inputs: Vec<u8>,
    buffer: Vec<u8>,
    /// Size of `buffer` in bytes.
    room: usize,
    dither: Vec<u32>,
    delays: Vec<u32>,
    ticks: Vec<u64>,
    second_first: Vec<bool>,
}

/// Describes the batch to take.
pub(crate) struct Order<'o> {
    /// Number of pairs.
    pub(crate) pairs: usize,
    /// Number of calls in one measurement.
    pub(crate) repeats: usize,
    /// Iterations of the delay loop for the first and the second side. An ordinary batch has no delays.
    pub(crate) delays: Option<[u32; 2]>,
    /// The properties of the clock.
    pub(crate) scale: &'o Scale,
}

impl Batcher {
    /// Creates a batcher for inputs of `length` bytes. `changes` tells whether the function changes its input, in which
    /// case each of the `repeats` calls needs its own copy.
    pub(crate) fn new(length: usize, repeats: usize, changes: bool) -> Self {
        let copies = if changes { repeats } else { 1 };
        Self {
            length,
            inputs: Vec::new(),
            buffer: Vec::new(),
            room: length * copies,
            dither: Vec::new(),
            delays: Vec::new(),
            ticks: Vec::new(),
            second_first: Vec::new(),
        }
    }

    /// Takes a batch and appends the times of each side to `out`. `fill` writes an input: of the second side if its
    /// first argument is true.
    pub(crate) fn take(
        &mut self,
        run: &mut dyn Run,
        clock: &dyn Clock,
        order: &Order<'_>,
        random: &mut Random,
        fill: &mut dyn FnMut(bool, &mut Random, &mut [u8]),
        out: [&mut Vec<u32>; 2],
    ) {
        let [out_a, out_b] = out;
        self.buffer.resize(self.room, 0);
        let most = (POOL / (2 * self.length)).clamp(1, order.pairs.max(1));
        let mut left = order.pairs;
        while left > 0 {
            let pairs = left.min(most);
            left -= pairs;
            self.prepare(pairs, order, random, fill);
            run.sample(
                clock,
                &mut Slots {
                    inputs: &self.inputs,
                    length: self.length,
                    repeats: order.repeats,
                    dither: &self.dither,
                    delays: &self.delays,
                    buffer: &mut self.buffer,
                    ticks: &mut self.ticks,
                },
            );
            for (pair, &second_first) in self.ticks.chunks_exact(2).zip(&self.second_first) {
                let [early, late] = [pair[0], pair[1]].map(|ticks| u32::try_from(ticks).unwrap_or(u32::MAX));
                let (a, b) = if second_first { (late, early) } else { (early, late) };
                out_a.push(a);
                out_b.push(b);
            }
        }
    }

    /// Frees the inputs and the buffer. The next batch allocates them again.
    pub(crate) fn release(&mut self) {
        (self.inputs, self.buffer) = (Vec::new(), Vec::new());
    }

    fn prepare(
        &mut self,
        pairs: usize,
        order: &Order<'_>,
        random: &mut Random,
        fill: &mut dyn FnMut(bool, &mut Random, &mut [u8]),
    ) {
        self.inputs.resize(2 * pairs * self.length, 0);
        self.ticks.resize(2 * pairs, 0);
        self.dither.clear();
        self.delays.clear();
        self.second_first.clear();
        let dither = order.scale.dither();
        for pair in self.inputs.chunks_exact_mut(2 * self.length) {
            let coin = random.bits() & 1 == 1;
            let (early, late) = pair.split_at_mut(self.length);
            self.second_first.push(coin);
            for (second, input) in [(coin, early), (!coin, late)] {
                fill(second, random, input);
                self.dither.push(random.below(dither) as u32);
                if let Some(delays) = order.delays {
                    self.delays.push(delays[usize::from(second)]);
                }
            }
        }
    }
}
