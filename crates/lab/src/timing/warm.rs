//! The warm-up before the measurements. It finds how long a call takes, how many calls a measurement needs for the
//! clock, and how many pairs make a batch.

use super::{Scale, Settings, facts};
use crate::clock::Clock;
use crate::random::Random;
use crate::target::{Slots, Target};

/// Minimum length of a measurement in ticks. In a shorter one, the clock's steps would be most of the result.
const SHORTEST: u64 = 50;
/// Minimum length of a measurement in steps of the clock.
const STEPS: u64 = 8;
/// Maximum number of calls in one measurement.
const MOST: usize = 4096;
/// Maximum number of bytes that are copied for one measurement of a function that changes its input.
const COPIES: usize = 32 * 1024;
/// Approximate maximum time of a batch in nanoseconds.
const BATCH_NS: f64 = 10e6;

/// Measures the clock and the target, and chooses the number of calls and pairs.
pub(super) fn scale(target: &mut Target, settings: &Settings, clock: &dyn Clock, random: &mut Random) -> Scale {
    let (tick_ns, step) = facts(clock);
    let most = if target.run().changes() { (COPIES / target.length()).clamp(1, MOST) } else { MOST };
    // The first call does the one-time work, and the others fill the caches.
    let _ = typical(target, clock, random, 1, 8);
    let first = typical(target, clock, random, 1, 16);
    let rough = ((50e6 / tick_ns) / first.max(1.0)).clamp(2.0, 64.0) as usize;
    let short = typical(target, clock, random, 1, rough * 4);
    let long = if rough < 8 { short } else { typical(target, clock, random, most.min(rough), rough) };
    let call = if rough < 8 || most == 1 {
        short
    } else {
        ((long - short) / (most.min(rough) - 1) as f64).clamp(short / 1e4, short)
    };
    let overhead = if short < 1e4 { overhead(clock) } else { 0.0 };
    let window = SHORTEST.max(STEPS * step) as f64;
    let repeats = ((window / call).ceil() as usize).clamp(1, most);
    let pair_ns = 2.0 * (call * repeats as f64 + overhead) * tick_ns;
    Scale {
        repeats,
        pairs: ((BATCH_NS / pair_ns) as usize).clamp(8, settings.pairs.max(8)).min(settings.pairs.max(1)),
        tick_ns,
        step,
        overhead,
        call,
        delta_ns: settings.delta_for(call * tick_ns),
        turns_per_ns: turns_per_ns(clock, tick_ns),
        measurable: call * repeats as f64 >= 2.0 * step as f64,
    }
}

/// Takes `count` measurements over all classes and returns the mean of their lower three quarters, in ticks.
fn typical(target: &mut Target, clock: &dyn Clock, random: &mut Random, repeats: usize, count: usize) -> f64 {
    let length = target.length();
    let classes = target.classes().len().max(1);
    let mut ticks = vec![0; count];
    let copies = if target.run().changes() { repeats } else { 1 };
    let (mut input, mut buffer) = (vec![0; length], vec![0; length * copies]);
    for (index, tick) in ticks.iter_mut().enumerate() {
        if !target.classes().is_empty() {
            target.fill(index % classes, random, &mut input);
        }
        let mut slots = Slots {
            inputs: &input,
            length,
            repeats,
            dither: &[1 + (index % 61) as u32],
            delays: &[],
            buffer: &mut buffer[..length * copies],
            ticks: std::slice::from_mut(tick),
        };
        target.run().sample(clock, &mut slots);
    }
    ticks.sort_unstable();
    let kept = (count * 3).div_ceil(4);
    ticks[..kept].iter().sum::<u64>() as f64 / kept as f64
}

/// Returns the time of an empty measurement in ticks.
fn overhead(clock: &dyn Clock) -> f64 {
    crate::clock::facts(clock).overhead_ns * clock.hertz() / 1e9
}

/// Measures how many iterations of the delay loop take a nanosecond.
pub(super) fn turns_per_ns(clock: &dyn Clock, tick_ns: f64) -> f64 {
    const TURNS: u32 = 4000;
    let mut best = u64::MAX;
    for _ in 0..16 {
        let begin = clock.start();
        clock.delay(TURNS);
        best = best.min(clock.stop().wrapping_sub(begin));
    }
    f64::from(TURNS) / (best.max(1) as f64 * tick_ns)
}
