//! The warm-up before the measurements. It finds how long a call takes, how many calls a measurement needs for the
//! clock, and how many pairs make a batch.

use super::{Scale, Settings, facts};
use crate::clock::Clock;
use crate::random::Random;
use crate::target::buffer::{Buffer, DEPTHS};
use crate::target::{Slots, Target};

/// Minimum length of a measurement in ticks. In a shorter one, the clock's steps would be most of the result.
const SHORTEST: u64 = 50;
/// Minimum length of a measurement in steps of the clock.
const STEPS: u64 = 2;
/// Maximum number of calls in one measurement.
const MOST: usize = 4096;
/// Maximum number of bytes that are copied for one measurement of a function that changes its input.
const COPIES: usize = 32 * 1024;
/// Approximate maximum time of a batch in nanoseconds.
const BATCH_NS: f64 = 10e6;

/// Minimum width of the random numbers that make up the delay of a measurement, in iterations of the delay loop.
const NARROWEST: u64 = 16;
/// Maximum of this width. A clock whose steps are longer needs calls that are much longer than a step.
const WIDEST: u64 = 8192;

/// Measures the clock and the target, and chooses the number of calls and pairs.
pub(super) fn scale(target: &mut Target, settings: &Settings, clock: &dyn Clock, random: &mut Random) -> Scale {
    let (tick_ns, step) = facts(clock);
    let turns_per_ns = turns_per_ns(clock, tick_ns);
    let hardware_step = step as f64 * clock.readings() as f64;
    let mut scale = Scale {
        repeats: 1,
        pairs: 1,
        tick_ns,
        step,
        dither: ((hardware_step * tick_ns * turns_per_ns).round() as u64).clamp(NARROWEST, WIDEST),
        overhead: 0.0,
        call: 0.0,
        delta_ns: 0.0,
        turns_per_ns,
        measurable: false,
    };
    let most = if target.run().changes() { (COPIES / target.length()).clamp(1, MOST) } else { MOST };
    // The first call does the one-time work, and the others fill the caches.
    let _ = typical(target, clock, &scale, random, 1, 8);
    let first = typical(target, clock, &scale, random, 1, 16);
    let rough = ((50e6 / tick_ns) / first.max(1.0)).clamp(2.0, 64.0) as usize;
    let short = typical(target, clock, &scale, random, 1, rough * 4);
    let long = if rough < 8 { short } else { typical(target, clock, &scale, random, most.min(rough), rough) };
    scale.call = if rough < 8 || most == 1 {
        short
    } else {
        ((long - short) / (most.min(rough) - 1) as f64).clamp(short / 1e4, short.max(1e-3))
    };
    scale.overhead = if short < 1e4 { overhead(clock, &scale, random) } else { 0.0 };
    let window = SHORTEST.max(STEPS * step) as f64;
    scale.repeats = ((window / scale.call).ceil() as usize).clamp(1, most);
    scale.measurable = scale.call * scale.repeats as f64 >= 2.0 * step as f64;
    let pair_ns = 2.0 * (scale.call * scale.repeats as f64 + scale.overhead) * tick_ns;
    scale.pairs = ((BATCH_NS / pair_ns) as usize).clamp(8, settings.pairs.max(8)).min(settings.pairs.max(1));
    scale.delta_ns = settings.delta_for(scale.call * tick_ns);
    scale
}

/// Takes `count` measurements over all classes and returns the mean of their lower three quarters, in ticks.
fn typical(
    target: &mut Target,
    clock: &dyn Clock,
    scale: &Scale,
    random: &mut Random,
    repeats: usize,
    count: usize,
) -> f64 {
    let length = target.length();
    let classes = target.classes().len().max(1);
    let copies = if target.run().changes() { repeats } else { 1 };
    let (mut input, mut buffer) = (vec![0; length], Buffer::new());
    let mut times: Vec<f64> = (0..count)
        .map(|index| {
            if !target.classes().is_empty() {
                target.fill(index % classes, random, &mut input);
            }
            buffer.relocate(Buffer::ALIGN, random);
            let dither = scale.dither(random);
            let mut ticks = 0;
            let mut slots = Slots {
                inputs: &input,
                length,
                repeats,
                dither: &[1],
                delays: &[dither],
                depth: random.below(DEPTHS) as u32,
                buffer: buffer.bytes(length * copies),
                ticks: std::slice::from_mut(&mut ticks),
            };
            target.run().sample(clock, &mut slots);
            ticks as f64 - f64::from(dither) * scale.turn()
        })
        .collect();
    low_mean(&mut times)
}

/// Returns the time of an empty measurement in ticks.
fn overhead(clock: &dyn Clock, scale: &Scale, random: &mut Random) -> f64 {
    let mut times: Vec<f64> = (0..4096)
        .map(|_| {
            let dither = scale.dither(random);
            let begin = clock.start();
            clock.settle();
            clock.delay(dither);
            clock.stop().wrapping_sub(begin) as f64 - f64::from(dither) * scale.turn()
        })
        .collect();
    low_mean(&mut times)
}

/// Returns the mean of the lower three quarters.
fn low_mean(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    let kept = (times.len() * 3).div_ceil(4);
    times[..kept].iter().sum::<f64>() / kept as f64
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
