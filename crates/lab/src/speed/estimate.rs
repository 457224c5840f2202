//! Estimates the time of one call from many windows (timed series of calls) with different numbers of calls.

use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::distribution::{mad, median, quantile};
use crate::random::Random;
use crate::record::{Estimates, Interval};
use crate::speed::{bootstrap, window};
use crate::target::Target;
use crate::target::buffer::Buffer;
use crate::watch::Watch;

/// Minimum number of measurements.
const FEWEST: usize = 10;
/// If a run takes longer than the intended time multiplied by this number, the run ends early. A run ends early if
/// single calls are so slow that the intended number of measurements does not fit into the time.
const LATE: f64 = 10.0;

/// Settings for the measurement of one target.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Time of the warm-up before the first measurement.
    pub warm_up: Duration,
    /// Intended time of all measurements together.
    pub measurement: Duration,
    /// Number of measurements. Fewer than ten count as ten. If this number of measurements would take more than ten
    /// times the intended time, the run makes fewer measurements, but at least ten.
    pub samples: usize,
    /// The seed of the inputs and of the order of measurements.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { warm_up: Duration::from_secs(1), measurement: Duration::from_secs(3), samples: 100, seed: 1 }
    }
}

impl Options {
    /// Returns settings for a measurement of less than a second.
    #[must_use]
    pub fn quick() -> Self {
        Self { warm_up: Duration::from_millis(100), measurement: Duration::from_millis(500), samples: 50, seed: 1 }
    }

    /// Returns settings for a measurement of a few hundredths of a second. The measurement only tests that the target
    /// runs.
    #[must_use]
    pub fn brief() -> Self {
        Self { warm_up: Duration::from_millis(5), measurement: Duration::from_millis(20), samples: 20, seed: 1 }
    }
}

/// Estimates the time of one call on inputs of one class.
///
/// After the warm-up, the measurements make n, 2n, 3n … calls. The order of the measurements is random, so that a slow
/// change of the machine's speed does not appear as a slope. Each measurement uses a new input at a random position in
/// memory. The intervals come from a bootstrap that draws blocks of neighboring measurements. All estimates are
/// computed from all measurements, including outliers. If `watch` stops the run, the estimates are computed from the
/// measurements that are complete. If there are no measurements, all estimates are zero.
///
/// The intervals show how precisely *this run* measured the time. Another run on another day may give a result outside
/// these intervals.
///
/// # Panics
/// Panics if there is no class with this index.
pub fn estimate(
    target: &mut Target,
    class: usize,
    clock: &dyn Clock,
    options: &Options,
    watch: &mut dyn Watch,
) -> Estimates {
    let nanoseconds = 1e9 / clock.hertz();
    let mut random = Random::new(options.seed);
    let mut buffer = Buffer::new();
    let mut input = vec![0; target.length()];
    let mut measure = |target: &mut Target, calls: u64, random: &mut Random| {
        target.fill(class, random, &mut input);
        buffer.relocate(Buffer::LINE, random);
        window::ticks(target, clock, &input, &mut buffer, calls) as f64 * nanoseconds
    };

    let most = window::most(target, class);
    let name = target.name().to_owned();
    let (per_call, warm) = warm_up(options.warm_up, most, |calls| measure(target, calls, &mut random));
    let mut counts = counts(options, per_call, most);
    random.shuffle(&mut counts);
    let mut points: Vec<[f64; 2]> = Vec::with_capacity(counts.len());
    let mut spent = 0.0;
    for (done, &calls) in counts.iter().enumerate() {
        let late = spent > LATE * options.measurement.as_nanos() as f64;
        if watch.stopped() || (late && done >= FEWEST) {
            break;
        }
        watch.progress(&name, done as u64, counts.len() as u64);
        let took = measure(target, calls, &mut random);
        spent += took;
        points.push([calls as f64, took]);
    }
    Estimates { warm_up_seconds: warm / 1e9, ..estimates(points, &mut random) }
}

/// Measures windows (timed series of calls) until the time is over. The number of calls doubles from window to window.
/// Returns two times in nanoseconds: the time of one call in the last window, and the time of the whole warm-up.
fn warm_up(time: Duration, most: u64, mut measure: impl FnMut(u64) -> f64) -> (f64, f64) {
    let (mut calls, mut total) = (1, 0.0);
    let begin = Instant::now();
    // If the clock does not advance, the maximum number of windows ends the warm-up.
    for _ in 0..100_000 {
        let took = measure(calls);
        total += took;
        // The elapsed time is checked too, because the preparation of inputs can take longer than the calls.
        if total >= time.as_nanos() as f64 || begin.elapsed() >= 10 * time {
            return (took / calls as f64, total);
        }
        // The number of calls stops growing when a window takes a tenth of the time, so that the last windows run on a
        // warm machine.
        if took < time.as_nanos() as f64 / 10.0 {
            calls = (2 * calls).min(most);
        }
    }
    (total / calls as f64, total)
}

/// Returns the numbers of calls of the measurements: n, 2n, 3n … for some n. The number n is chosen so that all
/// measurements together fit into the time.
fn counts(options: &Options, per_call: f64, most: u64) -> Vec<u64> {
    let samples = options.samples.max(FEWEST) as u64;
    let calls = options.measurement.as_nanos() as f64 / per_call.max(0.01);
    let step = (calls / (samples * (samples + 1) / 2) as f64).min(most as f64 / samples as f64);
    (1..=samples).map(|turn| (turn as f64 * step).round().clamp(1.0, 1e12) as u64).collect()
}

pub(crate) fn estimates(points: Vec<[f64; 2]>, random: &mut Random) -> Estimates {
    if points.is_empty() {
        return Estimates::default();
    }
    let per_call: Vec<f64> = points.iter().map(|[calls, time]| time / calls).collect();
    let mut values = vec![0.0; points.len()];
    let figures = |indices: &[usize]| {
        let (mut products, mut squares) = (0.0, 0.0);
        for (value, &index) in values.iter_mut().zip(indices) {
            let [calls, time] = points[index];
            products += calls * time;
            squares += calls * calls;
            *value = per_call[index];
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        [products / squares, mean, median(&mut values), mad(&mut values)]
    };
    let block = bootstrap::block_length(&per_call);
    let intervals = bootstrap::intervals(points.len(), block, random, figures);
    // A time is never negative.
    let [slope, mean, median, mad] = intervals.map(|interval| Interval { lower: interval.lower.max(0.0), ..interval });
    let r_squared = r_squared(&points, slope.estimate);
    Estimates { slope, mean, median, mad, r_squared, outliers: outliers(&per_call), warm_up_seconds: 0.0, points }
}

/// Returns the share of the variation of times that the line through the origin explains.
fn r_squared(points: &[[f64; 2]], slope: f64) -> f64 {
    let mean = points.iter().map(|point| point[1]).sum::<f64>() / points.len() as f64;
    let total: f64 = points.iter().map(|point| (point[1] - mean).powi(2)).sum();
    let rest: f64 = points.iter().map(|[calls, time]| (time - slope * calls).powi(2)).sum();
    if total > 0.0 { (1.0 - rest / total).clamp(0.0, 1.0) } else { f64::from(u8::from(rest == 0.0)) }
}

/// Counts the values that are more than three interquartile ranges below the lower quartile or above the upper
/// quartile.
fn outliers(values: &[f64]) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (first, third) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let fence = 3.0 * (third - first);
    values.iter().filter(|&&value| value < first - fence || value > third + fence).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Mock;
    use crate::watch::Silent;

    #[test]
    fn without_noise_all_figures_are_exact() {
        let clock = Mock::new(1);
        let hand = clock.clone();
        let mut target = Target::new("t", 8, move |_| hand.advance(120.0)).fixed("one", &[0; 8]);
        let found = estimate(&mut target, 0, &clock, &Options::quick(), &mut Silent);
        for interval in [found.slope, found.mean, found.median] {
            assert!(
                (interval.estimate - 120.0).abs() < 1e-9 && (interval.upper - interval.lower).abs() < 1e-9,
                "{interval:?}"
            );
        }
        assert!(found.r_squared > 1.0 - 1e-12 && found.outliers == 0 && found.points.len() == 50);
        assert!(found.mad.reach() < 1e-9 && found.warm_up_seconds >= 0.1);
        let total: f64 = found.points.iter().map(|point| point[1]).sum();
        assert!((total / 5e8 - 1.0).abs() < 0.05, "{total}");
    }

    #[test]
    fn measurements_come_in_random_order_with_evenly_growing_counts() {
        let clock = Mock::new(1);
        let hand = clock.clone();
        let mut target = Target::new("t", 1, move |_| hand.advance(1000.0)).fixed("one", &[0]);
        let found = estimate(&mut target, 0, &clock, &Options::quick(), &mut Silent);
        let mut calls: Vec<f64> = found.points.iter().map(|point| point[0]).collect();
        assert!(calls.windows(2).any(|pair| pair[0] > pair[1]));
        calls.sort_by(f64::total_cmp);
        assert!(calls.windows(2).all(|pair| (pair[1] - pair[0] - calls[0]).abs() <= 1.0), "{calls:?}");
    }

    #[test]
    fn a_slow_target_is_measured_call_by_call() {
        let clock = Mock::new(1);
        let hand = clock.clone();
        let mut target = Target::new("t", 1, move |_| hand.advance(1e9)).fixed("one", &[0]);
        let found = estimate(&mut target, 0, &clock, &Options::quick(), &mut Silent);
        assert!(found.points.iter().all(|point| point[0] == 1.0));
        assert_eq!((found.slope.estimate, found.points.len()), (1e9, FEWEST));
    }

    #[test]
    fn outliers_are_counted_and_kept() {
        let mut random = Random::new(9);
        let mut points: Vec<[f64; 2]> =
            (1..=60).map(|calls| [f64::from(calls), f64::from(calls) * (100.0 + random.normal())]).collect();
        points[30][1] *= 50.0;
        let found = estimates(points, &mut random);
        assert_eq!(found.outliers, 1);
        assert!(found.mean.estimate > 150.0 && found.median.estimate < 101.0, "{found:?}");
    }

    #[test]
    fn every_measurement_gets_a_fresh_input() {
        let clock = Mock::new(1);
        let hand = clock.clone();
        let fills = std::rc::Rc::new(std::cell::Cell::new(0));
        let counted = fills.clone();
        let mut target = Target::new("t", 1, move |_| hand.advance(1e6))
            .class("counted", move |_, _| counted.set(counted.get() + 1));
        estimate(&mut target, 0, &clock, &Options::brief(), &mut Silent);
        assert!(fills.get() > 20);
    }
}
