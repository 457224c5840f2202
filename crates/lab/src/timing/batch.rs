//! A batch is a group of pairs of measurements. A pair has one measurement of each class, and a random bit decides
//! which comes first.
//!
//! Each batch has another place of the buffer and another depth of the stack, so that a result does not depend on one
//! alignment.
//!
//! There are two kinds of batches. In a *plain* batch a time is what the clock shows. Plain times scatter least, so
//! they serve the test for a difference. However, a clock that moves in steps distorts their quantiles: a shift of the
//! call's time by half a step moves some quantiles by a step and others not at all. In a *dithered* batch each
//! measurement ends with a random delay, whose length is subtracted from the time. The clock's error then has the same
//! distribution whatever the call's time is (subtractive dither), so a shift of the call's time shifts every quantile
//! by as much. Dithered times serve the intervals.

use super::Scale;
use crate::clock::Clock;
use crate::random::Random;
use crate::target::buffer::{Buffer, DEPTHS};
use crate::target::{Run, Slots};

/// Bytes of input that are generated at once. This many fit in the second-level cache.
const POOL: usize = 256 * 1024;

/// Takes batches of one function. The buffers are allocated once and used again for each batch.
pub(crate) struct Batcher {
    length: usize,
    inputs: Vec<u8>,
    buffer: Buffer,
    /// Size of the data in `buffer`, in bytes.
    room: usize,
    /// Random delays: before the measurements of a plain batch, in those of a dithered batch.
    random: Vec<u32>,
    /// The delays in the measurements.
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
    /// Iterations of the delay loop for the first and the second side, in addition to the random part.
    pub(crate) delays: [u32; 2],
    /// Whether the measurements are dithered.
    pub(crate) dithered: bool,
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
            buffer: Buffer::new(),
            room: length * copies,
            random: Vec::new(),
            delays: Vec::new(),
            ticks: Vec::new(),
            second_first: Vec::new(),
        }
    }

    /// Takes a batch and appends the times of each side to `out`, in ticks and without the random delays. `fill` writes
    /// an input: of the second side if its first argument is true.
    pub(crate) fn take(
        &mut self,
        run: &mut dyn Run,
        clock: &dyn Clock,
        order: &Order<'_>,
        random: &mut Random,
        fill: &mut dyn FnMut(bool, &mut Random, &mut [u8]),
        out: [&mut Vec<f32>; 2],
    ) {
        let [out_a, out_b] = out;
        self.buffer.relocate(Buffer::ALIGN, random);
        let depth = random.below(DEPTHS) as u32;
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
                    dither: &self.random,
                    delays: &self.delays,
                    depth,
                    buffer: self.buffer.bytes(self.room),
                    ticks: &mut self.ticks,
                },
            );
            let turn = order.scale.turn();
            let mut time = |ticks: u64, delay: u32| {
                // The delay loop has a step of its own. A random part of an iteration fills the gaps between its
                // lengths.
                let part = if order.dithered { f64::from(delay) + random.fraction() - 0.5 } else { 0.0 };
                (ticks as f64 - part * turn) as f32
            };
            for ((ticks, delays), &second_first) in
                self.ticks.chunks_exact(2).zip(self.random.chunks_exact(2)).zip(&self.second_first)
            {
                let (early, late) = (time(ticks[0], delays[0]), time(ticks[1], delays[1]));
                let (a, b) = if second_first { (late, early) } else { (early, late) };
                out_a.push(a);
                out_b.push(b);
            }
        }
    }

    /// Frees the inputs and the buffer. The next batch allocates them again.
    pub(crate) fn release(&mut self) {
        (self.inputs, self.buffer) = (Vec::new(), Buffer::new());
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
        self.random.clear();
        self.delays.clear();
        self.second_first.clear();
        for pair in self.inputs.chunks_exact_mut(2 * self.length) {
            let coin = random.bits() & 1 == 1;
            let (early, late) = pair.split_at_mut(self.length);
            self.second_first.push(coin);
            for (second, input) in [(coin, early), (!coin, late)] {
                fill(second, random, input);
                let delay = order.scale.dither(random);
                self.random.push(delay);
                let added = order.delays[usize::from(second)];
                if order.dithered {
                    self.delays.push(delay + added);
                } else if order.delays != [0; 2] {
                    self.delays.push(1 + added);
                }
            }
        }
    }
}
