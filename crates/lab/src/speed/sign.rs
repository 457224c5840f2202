//! Computes an interval for a median, without assumptions about the distribution and with weak assumptions about
//! independence.
//!
//! The interval follows from the sign test. The interval extends from the k-th smallest to the k-th largest of n
//! values. The interval misses the true median only if fewer than k values are on one side of the true median. Heavy
//! tails and outliers do not make the interval wrong. Correlation between neighboring values increases the variation of
//! the number of values on each side of the median. The module measures this additional variation over blocks of
//! neighboring values.

use crate::distribution::{exact_rank, quantile, student_quantile};
use crate::record::Interval;

/// The module measures the variation of signs over this number of blocks. If a block would have fewer than four values,
/// the module treats the values as independent.
const BLOCKS: usize = 32;

/// Returns the median of `series` with a confidence interval. The probability that the interval does not contain the
/// true median is at most `alpha`. The values of `series` must be in the order of time. If there are too few values for
/// this probability, the bounds are the smallest and the largest value.
pub(crate) fn interval(series: &[f64], alpha: f64) -> Interval {
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let estimate = quantile(&sorted, 0.5);
    let n = sorted.len();
    let mut rank = exact_rank(n, alpha);
    let inflation = inflation(series, estimate);
    if n >= 4 * BLOCKS {
        let reach = student_quantile((BLOCKS - 1) as f64, 1.0 - alpha / 2.0) * (n as f64 * inflation).sqrt() / 2.0;
        rank = rank.min(((n + 1) as f64 / 2.0 - reach).floor().max(1.0) as usize);
    }
    let Some(last) = n.checked_sub(rank.max(1)) else { return Interval::default() };
    Interval { lower: sorted[rank.max(1) - 1], estimate, upper: sorted[last] }
}

/// Returns the factor by which correlation increases the variation of the number of values above the median. The factor
/// is at least one.
fn inflation(series: &[f64], median: f64) -> f64 {
    let block = series.len() / BLOCKS;
    if block < 4 {
        return 1.0;
    }
    let sum = |values: &[f64]| {
        values.iter().map(|&value| f64::from(i8::from(value > median) - i8::from(value < median))).sum::<f64>()
    };
    let squares: f64 = series.chunks_exact(block).take(BLOCKS).map(|values| sum(values).powi(2)).sum();
    (squares / (BLOCKS * block) as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn ranks_agree_with_published_tables() {
        // The ranks for a two-sided error of 1 %. One source is table A.2 of Hollander and Wolfe.
        for (n, rank) in [(7, 0), (8, 1), (10, 1), (15, 3), (20, 4), (30, 8), (50, 16)] {
            assert_eq!(exact_rank(n, 0.01), rank, "{n}");
        }
        assert_eq!(exact_rank(500, 0.01), 221);
        assert_eq!(exact_rank(502, 0.01), 222);
    }

    #[test]
    fn too_few_values_give_their_range() {
        assert_eq!(interval(&[2.0, 1.0, 3.0], 0.01), Interval { lower: 1.0, estimate: 2.0, upper: 3.0 });
        assert_eq!(interval(&[], 0.01), Interval::default());
    }

    #[test]
    fn the_interval_covers_the_median_of_heavy_tails_and_of_correlated_series() {
        let mut random = Random::new(4);
        for phi in [0.0, 0.5, 0.8] {
            let (mut missed, mut last) = (0, 0.0);
            for _ in 0..2000 {
                let series: Vec<f64> = (0..512)
                    .map(|_| {
                        last = phi * last + random.normal();
                        last.powi(3)
                    })
                    .collect();
                missed += u32::from(!interval(&series, 0.05).covers(0.0));
            }
            // The limit is 5 % of 2000 plus three standard deviations. The limit is higher if the correlation extends
            // beyond the blocks of 16 values.
            let most = if phi > 0.6 { 180 } else { 130 };
            assert!(missed < most, "phi {phi}: {missed}");
        }
    }
}
