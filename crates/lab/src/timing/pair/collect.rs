//! Measures the batches of a comparison and of its controls, in random order.

use std::time::Instant;

use super::cell::Part;
use super::{Bench, FEWEST, Lane};
use crate::imp::processor;
use crate::random::Random;
use crate::timing::batch::Order;
use crate::watch::Watch;

/// A time in seconds. If the time of the run is over and a batch takes longer than this number of seconds, the run
/// measures no more batches. The smallest batches take longer than this time only for slow functions.
const LONG_BATCH: f64 = 0.06;

/// The number of iterations of the delay loop for both classes in the control with an added delay. After very few
/// iterations, the end of the loop takes less time than after more iterations. If the control used fewer iterations
/// than this number, the added delay would be several nanoseconds longer than intended.
const CLEAR: u32 = 32;

/// Whether a batch belongs to the comparison or to one of its controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Main,
    Same,
    Delay,
    Leak,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// The comparison has all requested batches.
    Full,
    /// The time is over.
    Late,
    /// The user stopped the run.
    Stopped,
}

impl Lane {
    /// Measures batches until the comparison has `batches` batches. If the time is over, the run still measures the
    /// minimum number of batches for a result, except if the batches take a long time.
    pub(super) fn fill_up(&mut self, bench: &mut Bench<'_>, batches: usize, watch: &mut dyn Watch) -> Filled {
        while self.main.batches() < batches {
            if watch.stopped() {
                return Filled::Stopped;
            }
            let scale = bench.scale;
            let batch = 2e-9 * scale.pairs as f64 * scale.call * scale.repeats as f64 * scale.tick_ns;
            if self.spent() > self.allowed && (self.main.batches() >= FEWEST || batch > LONG_BATCH) {
                return Filled::Late;
            }
            let pairs = bench.scale.pairs;
            // The smallest batches belong to slow functions, whose controls must not take most of the time.
            let least = if pairs < 8 { 1 } else { 2 };
            // Each control gets a smaller batch than the comparison. Except for slow functions, the controls together
            // get less than a third of the number of pairs of the comparison.
            let mut kinds =
                [(Kind::Main, pairs), (Kind::Same, pairs / 8), (Kind::Delay, pairs / 8), (Kind::Leak, pairs / 16)];
            self.random.shuffle(&mut kinds);
            for (kind, pairs) in kinds {
                self.take(bench, kind, pairs.max(least));
            }
            self.rounds += 1;
        }
        Filled::Full
    }

    /// Measures `pairs` pairs: some of the pairs in a plain batch, and some in a batch from whose times random delays
    /// are subtracted (dither). If a clock step is far shorter than the call, a single batch without dither is used for
    /// the test and for the intervals.
    pub(super) fn take(&mut self, bench: &mut Bench<'_>, kind: Kind, pairs: usize) {
        if bench.scale.is_slow() {
            return self.take_part(bench, kind, Part::Both, pairs);
        }
        // If the threshold is zero, the verdict needs no narrow intervals.
        let dithered = if bench.scale.delta_ns > 0.0 { pairs / 2 } else { pairs / 8 };
        let dithered = dithered.max(1);
        let mut parts = [(Part::Dithered, dithered), (Part::Plain, (pairs - dithered).max(1))];
        self.random.shuffle(&mut parts);
        for (part, pairs) in parts {
            self.take_part(bench, kind, part, pairs);
        }
    }

    /// Measures batches whose times give the intervals of the comparison, until these batches have `pairs` pairs. These
    /// batches make the intervals of a found difference narrower.
    pub(super) fn narrow(&mut self, bench: &mut Bench<'_>, pairs: usize, watch: &mut dyn Watch) -> Filled {
        while self.main.ticks[0].len() < pairs {
            if watch.stopped() {
                return Filled::Stopped;
            }
            if self.spent() > self.allowed {
                return Filled::Late;
            }
            let part = if bench.scale.is_slow() { Part::Both } else { Part::Dithered };
            self.take_part(bench, Kind::Main, part, self.main.batch());
        }
        Filled::Full
    }

    fn take_part(&mut self, bench: &mut Bench<'_>, kind: Kind, part: Part, pairs: usize) {
        let (begin, processor) = (Instant::now(), processor::seconds());
        let [first, second] = self.classes;
        // The control that compares a class with itself alternates between the two classes.
        let one = if self.rounds.is_multiple_of(2) { first } else { second };
        let sides = if kind == Kind::Main { [first, second] } else { [one, one] };
        let delays = if kind == Kind::Delay { [CLEAR, CLEAR + self.delay_turns] } else { [0; 2] };
        let cell = match kind {
            Kind::Main => &mut self.main,
            Kind::Same => &mut self.same,
            Kind::Delay => &mut self.delay,
            Kind::Leak => &mut self.leak,
        };
        let random = &mut self.random;
        let dithered = part == Part::Dithered;
        let out = cell.sides(part);
        if kind == Kind::Leak {
            let order = Order { pairs, repeats: self.leaky.repeats, delays, dithered, scale: bench.scale };
            let leaky = self.leaky;
            let mut fill = |second: bool, random: &mut Random, input: &mut [u8]| leaky.fill(second, random, input);
            self.leaky_batcher.take(&mut self.leaky, bench.clock, &order, random, &mut fill, out);
        } else {
            let order = Order { pairs, repeats: bench.scale.repeats, delays, dithered, scale: bench.scale };
            let (run, classes) = bench.target.parts();
            let mut fill = |second: bool, random: &mut Random, input: &mut [u8]| {
                classes[sides[usize::from(second)]].fill(random, input)
            };
            self.batcher.take(run, bench.clock, &order, random, &mut fill, out);
        }
        cell.end(part, pairs, kind == Kind::Main && bench.settings.keep_times);
        self.measuring += begin.elapsed().as_secs_f64();
        self.processor += processor::seconds() - processor;
    }
}
