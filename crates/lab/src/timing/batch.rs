//! Measures batches. A batch is a group of pairs of measurements. A pair has one measurement of each class, and a
//! random bit decides which class comes first.
//!
//! Each batch uses another position in the buffer and another depth of the stack, so that a result does not depend on
//! one alignment.
//!
//! There are two kinds of batches. In a *plain* batch, each time is the value that the clock measured. Plain times vary
//! least, so the test for a difference uses plain times. However, a clock with long steps distorts the quantiles of
//! plain times. If the call's time changes by half a step, some quantiles change by a whole step and other quantiles do
//! not change. In a *dithered* batch, each measurement ends with a random delay, and the length of the delay is
//! subtracted from the time. After this subtraction, the error of the clock has the same distribution for every
//! duration of a call (subtractive dither). If the call's time changes, every quantile therefore changes by the same
//! amount. The intervals use dithered times.

use super::Scale;
use crate::clock::Clock;
use crate::random::Random;
use crate::target::buffer::{Buffer, DEPTHS};
use crate::target::{Run, Slots};

/// The number of input bytes that the batcher generates together. These bytes fit into the processor's second-level
/// cache.
const POOL: usize = 256 * 1024;

/// Takes batches of one function. The batcher allocates its buffers once and uses the same buffers for each batch.
pub(crate) struct Batcher {
    length: usize,
    inputs: Vec<u8>,
    buffer: Buffer,
    /// The size of the data in `buffer`, in bytes.
    room: usize,
    /// The random delays. In a plain batch, the delay comes before the measurement. In a dithered batch, the random
    /// delay is inside the measurement.
    random: Vec<u32>,
    /// The delays inside the measurements.
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
    /// The delays for the first and for the second class, in iterations of the delay loop, in addition to the random
    /// delay.
    pub(crate) delays: [u32; 2],
    pub(crate) dithered: bool,
    /// The properties of the clock.
    pub(crate) scale: &'o Scale,
}

impl Batcher {
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

    /// Measures a batch and appends the times of each class to `out`, in ticks and without the random delays. `fill`
    /// writes an input. If the first argument of `fill` is true, `fill` writes an input of the second class.
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
                // The delay loop can only wait for a whole number of iterations. To fill the gaps between the possible
                // delays, the code adds a random part of an iteration to the delay that it subtracts.
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

    /// Frees the inputs and the buffer. The next batch allocates the inputs and the buffer again.
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
