//! Bootstrap intervals for a time series whose neighboring values are correlated.
//!
//! The times of one run are correlated: another program on the machine slows down many calls in a row. A bootstrap that
//! draws single values would treat the values as independent. Intervals from single values would be far too narrow, and
//! would lead to reports of changes although nothing has changed. Therefore this module draws whole *blocks* of
//! neighboring values, with the circular block bootstrap of Politis and Romano (1992). The circular block bootstrap
//! joins the end of the series to its start, so that each value is drawn with the same probability.

use crate::distribution::{normal_quantile, quantile, student_quantile};
use crate::random::Random;
use crate::record::Interval;

/// Number of times that the series is resampled.
pub(crate) const DRAWS: usize = 2000;

/// Returns the length of blocks for a series whose values are in the order of time.
///
/// The computation starts with the length `∛(6 n ρ² / (1 - ρ²)²)`. If the correlation of the series decreases
/// geometrically, a bootstrap with this block length has the least error (Politis and White, 2004). The length is a
/// compromise between bias and variance. Only bias makes intervals miss the true value more often, so the function
/// doubles the length. The result is at most a sixth of the length of the series. The result is at least `n^(1/3)`,
/// because the estimate of ρ may be too small by chance even if the true ρ is large.
pub(crate) fn block_length(series: &[f64]) -> usize {
    let n = series.len() as f64;
    let rho = correlation(series).clamp(0.0, 0.95);
    let best = (6.0 * n * rho * rho / (1.0 - rho * rho).powi(2)).cbrt();
    (2.0 * best).max(n.cbrt()).min(n / 6.0).ceil().max(1.0) as usize
}

/// Returns the correlation of neighboring values. In short series, the estimate of the correlation is too low, so the
/// function corrects this bias (Marriott and Pope).
///
/// The function correlates the ranks of the values. Without ranks, a single interrupted measurement that took ten times
/// as long as the rest would hide the correlation of all other measurements.
pub(crate) fn correlation(series: &[f64]) -> f64 {
    let n = series.len();
    if n < 4 {
        return 0.0;
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| series[a].total_cmp(&series[b]));
    let mut ranks = vec![0.0; n];
    for (rank, &index) in order.iter().enumerate() {
        ranks[index] = rank as f64 - (n - 1) as f64 / 2.0;
    }
    let variance: f64 = ranks.iter().map(|rank| rank * rank).sum();
    let rho = ranks.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / variance;
    rho + (1.0 + 3.0 * rho) / n as f64
}

/// Draws `length` indices in blocks of consecutive indices.
pub(crate) fn draw(indices: &mut Vec<usize>, length: usize, block: usize, random: &mut Random) {
    indices.clear();
    while indices.len() < length {
        let first = random.below(length as u64) as usize;
        let some = block.min(length - indices.len());
        indices.extend((first..first + some).map(|index| index % length));
    }
}

/// Computes statistics of a series with their 95 % intervals. The function `figures` computes the statistics from the
/// values at the given indices.
pub(crate) fn intervals<const N: usize>(
    length: usize,
    block: usize,
    random: &mut Random,
    mut figures: impl FnMut(&[usize]) -> [f64; N],
) -> [Interval; N] {
    let estimates = figures(&(0..length).collect::<Vec<_>>());
    let mut drawn: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(DRAWS));
    let mut indices = Vec::with_capacity(length);
    for _ in 0..DRAWS {
        draw(&mut indices, length, block, random);
        for (drawn, figure) in drawn.iter_mut().zip(figures(&indices)) {
            drawn.push(figure);
        }
    }
    let factor = widening(length, block);
    std::array::from_fn(|index| {
        let (drawn, estimate) = (&mut drawn[index], estimates[index]);
        drawn.sort_by(f64::total_cmp);
        let below = (estimate - quantile(drawn, 0.025)).max(0.0);
        let above = (quantile(drawn, 0.975) - estimate).max(0.0);
        Interval { lower: estimate - factor * below, estimate, upper: estimate + factor * above }
    })
}

/// Returns the factor by which intervals must be widened if there are few blocks. Resampled blocks vary around the mean
/// of *the sample*, so their spread is too small. The spread is also only an estimate, so Student's quantile replaces
/// the quantile of the normal distribution.
pub(crate) fn widening(length: usize, block: usize) -> f64 {
    let blocks = length as f64 / block as f64;
    let degrees = (blocks - 1.0).max(1.0);
    student_quantile(degrees, 0.975) / normal_quantile(0.975) * (blocks / degrees).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::median;

    /// Creates a series in which each value is `phi` times the previous value, plus noise. Mean and median are zero.
    fn series(phi: f64, length: usize, random: &mut Random) -> Vec<f64> {
        let mut last = random.normal() / (1.0 - phi * phi).sqrt();
        let mut next = || {
            last = phi * last + random.normal();
            last
        };
        (0..length).map(|_| next()).collect()
    }

    /// Returns how often the intervals of mean and median cover zero.
    fn coverage(phi: f64, length: usize, runs: usize) -> [f64; 2] {
        let mut random = Random::new(11);
        let mut covered = [0_usize; 2];
        for _ in 0..runs {
            let series = series(phi, length, &mut random);
            let mut values = vec![0.0; length];
            let found = intervals(length, block_length(&series), &mut random, |indices| {
                for (value, &index) in values.iter_mut().zip(indices) {
                    *value = series[index];
                }
                [values.iter().sum::<f64>() / length as f64, median(&mut values)]
            });
            for (covered, interval) in covered.iter_mut().zip(found) {
                *covered += usize::from(interval.covers(0.0));
            }
        }
        covered.map(|covered| covered as f64 / runs as f64)
    }

    #[test]
    fn intervals_of_correlated_series_cover_the_truth() {
        for (phi, length, least) in [(0.0, 100, 0.94), (0.5, 100, 0.93), (0.5, 50, 0.92), (0.8, 100, 0.92)] {
            let covered = coverage(phi, length, 1000);
            assert!(covered.iter().all(|&covered| covered >= least), "phi {phi}, n {length}: {covered:?}");
        }
    }

    #[test]
    fn blocks_grow_with_the_correlation_of_the_series() {
        let mut random = Random::new(5);
        let mut length = |phi| block_length(&series(phi, 1000, &mut random));
        let lengths = [length(0.0), length(0.5), length(0.9)];
        assert!(lengths[0] <= 14 && lengths[0] < lengths[1] && lengths[1] < lengths[2], "{lengths:?}");
    }

    #[test]
    fn a_draw_consists_of_blocks_and_wraps_around() {
        let (mut indices, mut random) = (Vec::new(), Random::new(1));
        for _ in 0..50 {
            draw(&mut indices, 10, 4, &mut random);
            assert_eq!(indices.len(), 10);
            assert!(
                indices.chunks(4).all(|block| block.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 10)),
                "{indices:?}"
            );
        }
    }

    #[test]
    fn an_outlier_does_not_hide_the_correlation() {
        let mut series = series(0.8, 400, &mut Random::new(3));
        series[200] = 1e6;
        assert!((correlation(&series) - 0.8).abs() < 0.12, "{}", correlation(&series));
    }
}
