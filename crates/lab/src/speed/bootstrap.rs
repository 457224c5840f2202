//! Intervals for figures of a time series whose values are not independent of their neighbours.
//!
//! Timings of one run come in spells: a busy neighbour slows down many in a row. Drawing single values again, as if each were a witness of
//! its own, gives intervals far too narrow, and changes are reported where nothing changed. Here whole *blocks* of neighbours are drawn
//! (the circular block bootstrap of Politis and Romano, 1992: the series is closed to a ring, so that each value is as likely as
//! any other).

use crate::distribution::{normal_quantile, quantile, student_quantile};
use crate::random::Random;
use crate::record::Interval;

/// How often the series is drawn again.
pub(crate) const DRAWS: usize = 2000;

/// The length of blocks for a series, in order of time.
///
/// The length at which the variance of a mean is estimated with the least error, for a series whose correlation falls off geometrically
/// (Politis and White, 2004): the cube root of `6 n ρ² / (1 - ρ²)²`. That length trades bias for variance, while coverage suffers from
/// bias alone; so it is doubled. At least `n^(1/3)`, as a small ρ may be a large one by bad luck, at most a sixth of the series.
pub(crate) fn block_length(series: &[f64]) -> usize {
    let n = series.len() as f64;
    let rho = correlation(series).clamp(0.0, 0.95);
    let best = (6.0 * n * rho * rho / (1.0 - rho * rho).powi(2)).cbrt();
    (2.0 * best).max(n.cbrt()).min(n / 6.0).ceil().max(1.0) as usize
}

/// The correlation of neighbours, without the downward bias that it has in short series (Marriott and Pope).
///
/// Of ranks, not of values: one interrupted measurement, ten times as long as the rest, would hide the correlation of all others.
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

/// Draws a series of `length` indices again, in blocks of neighbours.
pub(crate) fn draw(indices: &mut Vec<usize>, length: usize, block: usize, random: &mut Random) {
    indices.clear();
    while indices.len() < length {
        let first = random.below(length as u64) as usize;
        let some = block.min(length - indices.len());
        indices.extend((first..first + some).map(|index| index % length));
    }
}

/// The figures of a series with their 95 % intervals. `figures` computes them from the values at the given indices.
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

/// By how much intervals from so few blocks are too narrow: what is drawn has the spread of `n / b` blocks around *their* mean, and
/// Student's quantile instead of the normal one pays for not knowing that spread.
pub(crate) fn widening(length: usize, block: usize) -> f64 {
    let blocks = length as f64 / block as f64;
    let degrees = (blocks - 1.0).max(1.0);
    student_quantile(degrees, 0.975) / normal_quantile(0.975) * (blocks / degrees).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::median;

    /// A series in which each value remembers `phi` of the one before; mean and median are zero.
    fn series(phi: f64, length: usize, random: &mut Random) -> Vec<f64> {
        let mut last = random.normal() / (1.0 - phi * phi).sqrt();
        let mut next = || {
            last = phi * last + random.normal();
            last
        };
        (0..length).map(|_| next()).collect()
    }

    /// How often the intervals of mean and median cover zero.
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
    fn blocks_grow_with_the_memory_of_the_series() {
        let mut random = Random::new(5);
        let mut length = |phi| block_length(&series(phi, 1000, &mut random));
        let lengths = [length(0.0), length(0.5), length(0.9)];
        assert!(lengths[0] <= 14 && lengths[0] < lengths[1] && lengths[1] < lengths[2], "{lengths:?}");
    }

    #[test]
    fn a_draw_consists_of_blocks_and_closes_the_ring() {
        let (mut indices, mut random) = (Vec::new(), Random::new(1));
        for _ in 0..50 {
            draw(&mut indices, 10, 4, &mut random);
            assert_eq!(indices.len(), 10);
            assert!(indices.chunks(4).all(|block| block.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 10)), "{indices:?}");
        }
    }

    #[test]
    fn correlation_is_seen_past_an_outlier() {
        let mut series = series(0.8, 400, &mut Random::new(3));
        series[200] = 1e6;
        assert!((correlation(&series) - 0.8).abs() < 0.12, "{}", correlation(&series));
    }
}
