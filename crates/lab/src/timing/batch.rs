//! A batch: pairs of measurements, one of each class, in an order that a coin decides for each pair.

use super::Scale;
use crate::clock::Clock;
use crate::random::Random;
use crate::target::{Run, Slots};

/// Inputs are generated for so many bytes of measurements at once: they stay in the second-level cache.
const POOL: usize = 256 * 1024;

/// Takes batches of one function; its buffers are made once.
pub(crate) struct Batcher {
    length: usize,
    inputs: Vec<u8>,
    buffer: Vec<u8>,
    /// Bytes that the buffer needs.
    room: usize,
    dither: Vec<u32>,
    delays: Vec<u32>,
    ticks: Vec<u64>,
    second_first: Vec<bool>,
}

/// What a batch is of.
pub(crate) struct Order<'o> {
    /// How many pairs.
    pub(crate) pairs: usize,
    /// Calls in one measurement.
    pub(crate) repeats: usize,
    /// Turns of delay for the two sides; none at all for an ordinary batch.
    pub(crate) delays: Option<[u32; 2]>,
    /// What the clock is like.
    pub(crate) scale: &'o Scale,
}

impl Batcher {
    /// For inputs of this length.
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

    /// Takes a batch and appends the times of each side; `fill` writes an input of one side.
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

    /// Gives its memory back until the next batch.
    pub(crate) fn release(&mut self) {
        (self.inputs, self.buffer) = (Vec::new(), Vec::new());
    }

    fn prepare(&mut self, pairs: usize, order: &Order<'_>, random: &mut Random, fill: &mut dyn FnMut(bool, &mut Random, &mut [u8])) {
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
