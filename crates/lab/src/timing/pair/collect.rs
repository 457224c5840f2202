//! Takes the batches of a comparison and of its controls, in random order.

use std::time::Instant;

use super::{Bench, FEWEST, Lane};
use crate::random::Random;
use crate::timing::batch::Order;
use crate::watch::Watch;

/// Whether a batch belongs to the comparison or to one of its controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Main,
    Same,
    Delay,
    Leak,
}

/// Why [`Lane::fill_up`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// All batches are there.
    Full,
    /// The time is over.
    Late,
    /// The user stopped the run.
    Stopped,
}

impl Lane {
    /// Takes batches until the comparison has this number of them. A run that is late still takes the fewest batches
    /// that can show anything.
    pub(super) fn fill_up(&mut self, bench: &mut Bench<'_>, batches: usize, watch: &mut dyn Watch) -> Filled {
        while self.main.batches() < batches {
            if watch.stopped() {
                return Filled::Stopped;
            }
            if self.measuring > self.allowed && self.main.batches() >= FEWEST {
                return Filled::Late;
            }
            let pairs = bench.scale.pairs;
            // Each control gets a part of a batch. Together, the controls get less than a third of the pairs of the
            // comparison itself.
            let mut kinds =
                [(Kind::Main, pairs), (Kind::Same, pairs / 8), (Kind::Delay, pairs / 8), (Kind::Leak, pairs / 16)];
            self.random.shuffle(&mut kinds);
            for (kind, pairs) in kinds {
                self.take(bench, kind, pairs.max(2));
            }
            self.rounds += 1;
        }
        Filled::Full
    }

    pub(super) fn take(&mut self, bench: &mut Bench<'_>, kind: Kind, pairs: usize) {
        let begin = Instant::now();
        let [first, second] = self.classes;
        // The control of the target against itself alternates between the two classes.
        let one = if self.rounds.is_multiple_of(2) { first } else { second };
        let sides = if kind == Kind::Main { [first, second] } else { [one, one] };
        let delays = if kind == Kind::Delay { [0, self.delay_turns] } else { [0; 2] };
        let cell = match kind {
            Kind::Main => &mut self.main,
            Kind::Same => &mut self.same,
            Kind::Delay => &mut self.delay,
            Kind::Leak => &mut self.leak,
        };
        let random = &mut self.random;
        if kind == Kind::Leak {
            let order = Order { pairs, repeats: self.leaky.repeats, delays, scale: bench.scale };
            let leaky = self.leaky;
            let mut fill = |second: bool, random: &mut Random, input: &mut [u8]| leaky.fill(second, random, input);
            self.leaky_batcher.take(&mut self.leaky, bench.clock, &order, random, &mut fill, cell.sides());
        } else {
            let order = Order { pairs, repeats: bench.scale.repeats, delays, scale: bench.scale };
            let (run, classes) = bench.target.parts();
            let mut fill = |second: bool, random: &mut Random, input: &mut [u8]| {
                classes[sides[usize::from(second)]].fill(random, input)
            };
            self.batcher.take(run, bench.clock, &order, random, &mut fill, cell.sides());
        }
        cell.score(pairs);
        self.measuring += begin.elapsed().as_secs_f64();
    }
}
