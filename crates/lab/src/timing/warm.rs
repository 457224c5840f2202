//! The warm-up before the measurements. The warm-up determines the duration of a call, the number of calls in a
//! measurement that is long enough for the clock, and the number of pairs in a batch.

use std::time::Instant;

use super::{Scale, Settings, facts};
use crate::clock::Clock;
use crate::random::Random;
use crate::target::buffer::{Buffer, DEPTHS};
use crate::target::{Slots, Target};

/// Minimum length of a measurement in ticks. The result of a shorter measurement would depend mainly on the clock's
/// resolution.
const SHORTEST: u64 = 50;
/// Minimum length of a measurement in clock steps.
const STEPS: u64 = 2;
/// Maximum number of calls in one measurement.
const MOST: usize = 4096;
/// For a function that changes its input, the maximum number of bytes that are copied for one measurement.
const COPIES: usize = 32 * 1024;
/// Approximate maximum time of a batch in nanoseconds.
const BATCH_NS: f64 = 10e6;
/// The approximate maximum time of a batch in nanoseconds, including the preparation of its inputs.
const PREPARED_NS: f64 = 50e6;
/// The minimum number of pairs in a batch. For slow functions, each batch has exactly this number of pairs.
const FEWEST_PAIRS: usize = 2;
/// After this number of seconds, the warm-up makes no more measurements. These seconds do not include the time of the
/// first measurement.
const WARM_SECONDS: f64 = 1.0;

/// The delay of a measurement is the sum of two random numbers. The minimum width of the range of each of the two
/// random numbers, in iterations of the delay loop.
const NARROWEST: u64 = 16;
/// The maximum width of the range of each of the two random numbers whose sum is the delay of a measurement. If a clock
/// step is longer than this width, the random delays do not spread the calls over a whole step. A measurement must then
/// be so long that one step is negligible. Otherwise, the lab refuses to measure.
const WIDEST: u64 = 8192;

/// Measures the clock and the target. Chooses the number of calls in a measurement, and the number of pairs in a batch.
pub(super) fn scale(target: &mut Target, settings: &Settings, clock: &dyn Clock, random: &mut Random) -> Scale {
    let (tick_ns, step) = facts(clock);
    let turns_per_ns = turns_per_ns(clock, tick_ns, step);
    // The number of iterations of the delay loop that take one step of the counter.
    let turns_per_step = (step as f64 * clock.readings() as f64 * tick_ns * turns_per_ns).round() as u64;
    let mut scale = Scale {
        repeats: 1,
        pairs: 1,
        tick_ns,
        step,
        dither: turns_per_step.clamp(NARROWEST, WIDEST),
        overhead: 0.0,
        call: 0.0,
        delta_ns: 0.0,
        turns_per_ns,
        measurable: false,
    };
    // The first call includes work that is done only once, and can take much longer than a normal call. The first call
    // does not count toward the time limit.
    let mut left = f64::INFINITY;
    let once = typical(target, clock, &scale, random, [1, 1], &mut left).unwrap_or(1.0);
    left = WARM_SECONDS;
    // The next calls fill the caches. Even a slow function gets at least one call to fill the caches.
    let cold = typical(target, clock, &scale, random, [1, 7], &mut left).unwrap_or(once);
    let first = typical(target, clock, &scale, random, [1, 16], &mut left).unwrap_or(cold);
    let most = most_calls(target);
    let rough = ((50e6 / tick_ns) / first.max(1.0)).clamp(2.0, 64.0) as usize;
    let short = typical(target, clock, &scale, random, [1, rough * 4], &mut left).unwrap_or(first);
    let several = most.min(rough);
    let long =
        if rough < 8 || most == 1 { None } else { typical(target, clock, &scale, random, [several, rough], &mut left) };
    scale.call = long.map_or(short, |long| ((long - short) / (several - 1) as f64).clamp(short / 1e4, short.max(1e-3)));
    scale.overhead = if short < 1e4 { overhead(clock, &scale, random) } else { 0.0 };
    let window = SHORTEST.max(STEPS * step) as f64;
    scale.repeats = ((window / scale.call).ceil() as usize).clamp(1, most);
    let long_enough = scale.call * scale.repeats as f64 >= STEPS as f64 * step as f64;
    scale.measurable = long_enough && (turns_per_step <= WIDEST || scale.is_slow());
    let pair_ns = 2.0 * (scale.call * scale.repeats as f64 + scale.overhead) * tick_ns;
    let copies = if target.run().changes() { scale.repeats } else { 1 };
    let prepared_ns = pair_ns + 2e9 * target.run().preparation() * copies as f64;
    let pairs = (BATCH_NS / pair_ns).min(PREPARED_NS / prepared_ns) as usize;
    scale.pairs = pairs.max(FEWEST_PAIRS).min(settings.pairs.max(1));
    scale.delta_ns = settings.delta_for(scale.call * tick_ns);
    scale
}

fn most_calls(target: &mut Target) -> usize {
    let length = target.length();
    let run = target.run();
    let room = if run.changes() { (COPIES / length).max(1) } else { MOST };
    MOST.min(room).min(run.most())
}

/// Makes `count` measurements, each with `repeats` calls. The measurements use all classes. Returns the mean of the
/// lower three quarters of the measured times in ticks, or `None` if no time is left. `left` is the number of seconds
/// that the measurements may take. The function subtracts its own duration from `left`.
fn typical(
    target: &mut Target,
    clock: &dyn Clock,
    scale: &Scale,
    random: &mut Random,
    [repeats, count]: [usize; 2],
    left: &mut f64,
) -> Option<f64> {
    let length = target.length();
    let classes = target.classes().len().max(1);
    let copies = if target.run().changes() { repeats } else { 1 };
    let (mut input, mut buffer) = (vec![0; length], Buffer::new());
    let mut times = Vec::with_capacity(count);
    while times.len() < count && *left > 0.0 {
        let begin = Instant::now();
        if !target.classes().is_empty() {
            target.fill(times.len() % classes, random, &mut input);
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
        times.push(ticks as f64 - f64::from(dither) * scale.turn());
        // The code uses the larger of the real duration and the duration on the clock. The clock of a test can be
        // faster than real time, and the clock does not include the preparation of inputs.
        *left -= begin.elapsed().as_secs_f64().max(ticks as f64 / clock.hertz());
    }
    (!times.is_empty()).then(|| low_mean(&mut times))
}

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

fn low_mean(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    let kept = (times.len() * 3).div_ceil(4);
    times[..kept].iter().sum::<f64>() / kept as f64
}

/// Measures how many iterations of the delay loop take a nanosecond. The delays last many clock steps, because the
/// clock rounds each time to a step.
pub(super) fn turns_per_ns(clock: &dyn Clock, tick_ns: f64, step: u64) -> f64 {
    const STEPS: u64 = 64;
    const FEWEST: u32 = 4000;
    const MOST: u32 = FEWEST << 10;
    let mut turns = FEWEST;
    loop {
        let mut best = u64::MAX;
        for _ in 0..16 {
            let begin = clock.start();
            clock.delay(turns);
            best = best.min(clock.stop().wrapping_sub(begin));
        }
        if best >= STEPS * step || turns >= MOST {
            return f64::from(turns) / (best.max(1) as f64 * tick_ns);
        }
        turns *= 2;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::clock::Mock;

    /// Runs the warm-up with a function that takes `seconds` on a mock clock. The first call takes `first` seconds.
    /// Returns the number of calls that the warm-up makes, and the scale.
    fn warm(first: f64, seconds: f64) -> (usize, Scale) {
        let clock = Mock::new(1);
        let (inner, calls) = (clock.clone(), Rc::new(Cell::new(0)));
        let counted = Rc::clone(&calls);
        let mut target = Target::new("t", 1, move |_| {
            counted.set(counted.get() + 1);
            inner.advance(1e9 * if counted.get() == 1 { first } else { seconds });
        })
        .fixed("a", &[0])
        .fixed("b", &[1]);
        let scale = scale(&mut target, &Settings::default(), &clock, &mut Random::new(1));
        (calls.get(), scale)
    }

    #[test]
    fn a_warm_up_takes_about_a_second_after_the_first_call() {
        for (seconds, most) in [(3.0, 2), (1.0, 2), (0.3, 5), (0.05, 21), (0.001, 1100)] {
            let (calls, scale) = warm(seconds, seconds);
            assert!((2..=most).contains(&calls), "{seconds} s: {calls} calls");
            assert!((scale.call / 1e9 / seconds - 1.0).abs() < 0.01 && scale.repeats == 1, "{scale:?}");
        }
    }

    #[test]
    fn one_time_work_in_the_first_call_does_not_count() {
        let (_, scale) = warm(5.0, 20e-9);
        assert!((15.0..25.0).contains(&scale.call), "{scale:?}");
    }

    #[test]
    fn a_batch_of_a_slow_function_has_two_pairs() {
        assert_eq!(warm(0.02, 0.02).1.pairs, 2);
        assert_eq!(warm(1e-6, 1e-6).1.pairs, 256);
    }
}
