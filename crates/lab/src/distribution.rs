//! Distributions and order statistics, from which this crate computes its intervals and p-values.
//!
//! The distribution functions come from the crate `statrs`. Use [`quantile`] for sorted data, and [`median`] and
//! [`mad`] for unsorted data.

use statrs::distribution::{Beta, ContinuousCDF, Normal, StudentsT};

use crate::record::Interval;

/// Returns the quantile at `p` of Student's t distribution with `df` degrees of freedom. The result is infinite if `p`
/// is 0 or 1. A `df` that is zero or negative is replaced by 1.
pub(crate) fn student_quantile(df: f64, p: f64) -> f64 {
    if df > 1e6 || !(0.0 < p && p < 1.0) {
        return normal_quantile(p);
    }
    if p < 0.5 {
        return -student_quantile(df, 1.0 - p);
    }
    let df = if df > 0.0 { df } else { 1.0 };
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |student| student.inverse_cdf(p))
}

/// Returns the quantile at `p` of the standard normal distribution. The result is infinite if `p` is 0 or 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    match p {
        p if p <= 0.0 => f64::NEG_INFINITY,
        p if p >= 1.0 => f64::INFINITY,
        p => Normal::standard().inverse_cdf(p),
    }
}

/// Returns the probability that a standard normal variable is below `x`.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    Normal::standard().cdf(x)
}

/// Returns the exact confidence interval (Clopper and Pearson) for the rate of an event that occurred in `found` of
/// `runs` runs. If `runs` is zero, the interval is 0 to 1.
#[must_use]
pub fn clopper_pearson(found: u64, runs: u64, confidence: f64) -> Interval {
    if runs == 0 {
        return Interval { lower: 0.0, estimate: 0.0, upper: 1.0 };
    }
    let tail = (1.0 - confidence) / 2.0;
    let (found, runs) = (found.min(runs) as f64, runs as f64);
    // If the event occurred in no run or in every run, one bound is exactly 0 or 1, and a formula gives the other bound
    // directly.
    let lower = match found {
        0.0 => 0.0,
        all if all == runs => tail.powf(1.0 / runs),
        some => beta_quantile(some, runs - some + 1.0, tail),
    };
    let upper = match found {
        0.0 => 1.0 - tail.powf(1.0 / runs),
        all if all == runs => 1.0,
        some => beta_quantile(some + 1.0, runs - some, 1.0 - tail),
    };
    Interval { lower, estimate: found / runs, upper }
}

fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    Beta::new(a, b).map_or(f64::NAN, |beta| beta.inverse_cdf(p))
}

/// Returns the quantile at `p` of values in ascending order, with linear interpolation. Returns NaN if there are no
/// values.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// Returns the median of `values` and reorders `values`. Returns NaN if there are no values.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let middle = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if !odd => lower.midpoint(upper),
        _ => upper,
    }
}

/// Returns the median absolute deviation from the median. The result is not scaled to a standard deviation. The
/// function replaces `values` with the deviations.
pub(crate) fn mad(values: &mut [f64]) -> f64 {
    let middle = median(values);
    for value in values.iter_mut() {
        *value = (*value - middle).abs();
    }
    median(values)
}

/// Returns the largest k for which the probability that fewer than k of n fair coins show heads is at most `alpha / 2`.
/// Returns zero if there is no such k.
pub(crate) fn exact_rank(n: usize, alpha: f64) -> usize {
    // Above 500 coins, the error of the normal approximation with continuity correction is less than a tenth of a rank.
    if n > 500 {
        return ((n + 1) as f64 / 2.0 + normal_quantile(alpha / 2.0) * (n as f64).sqrt() / 2.0).floor().max(0.0)
            as usize;
    }
    let (mut chance, mut sum, mut rank) = (0.5_f64.powi(n as i32), 0.0, 0);
    while rank < n {
        sum += chance;
        if sum > alpha / 2.0 {
            break;
        }
        chance *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, known: f64, tolerance: f64) {
        assert!((value - known).abs() <= tolerance, "{value} differs from {known}");
    }

    #[test]
    fn quantiles_of_student_s_distribution_match_published_tables() {
        for (df, p, known) in [
            (1.0, 0.975, 12.706_204_736),
            (5.0, 0.975, 2.570_581_836),
            (30.0, 0.995, 2.749_995_654),
            (9.0, 0.05, -1.833_112_933),
            (1e9, 0.975, 1.959_963_985),
        ] {
            near(student_quantile(df, p), known, 1e-6);
        }
        assert_eq!(student_quantile(4.0, 1.0), f64::INFINITY);
        near(student_quantile(4.0, 0.5), 0.0, 1e-9);
    }

    #[test]
    fn the_normal_distribution_matches_published_tables() {
        near(normal_quantile(0.975), 1.959_963_985, 1e-8);
        near(normal_quantile(1e-9), -5.997_807, 1e-5);
        near(normal_cdf(1.644_853_627), 0.95, 1e-9);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn exact_intervals_match_published_tables() {
        let is = |found, runs, lower, upper| {
            let interval = clopper_pearson(found, runs, 0.95);
            near(interval.lower, lower, 1e-6);
            near(interval.upper, upper, 1e-6);
        };
        is(0, 10, 0.0, 0.308_497_1);
        is(10, 10, 0.691_502_9, 1.0);
        is(5, 10, 0.187_086_0, 0.812_914_0);
        is(1, 100, 0.000_253_146, 0.054_459_4);
        is(0, 1000, 0.0, 0.003_682_083);
        is(0, 0, 0.0, 1.0);
    }

    #[test]
    fn the_exact_interval_converges_for_a_rare_event_in_many_runs() {
        let interval = clopper_pearson(9, 100_000, 0.99);
        assert!(interval.lower > 2e-5 && interval.upper < 2.1e-4, "{interval:?}");
    }

    #[test]
    fn quantiles_lie_on_the_line_between_neighbors() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (p, known) in [(0.0, 1.0), (0.5, 3.0), (1.0, 8.0), (0.25, 1.75), (7.0, 8.0)] {
            near(quantile(&sorted, p), known, 1e-12);
        }
        assert!(quantile(&[], 0.5).is_nan());
        near(quantile(&[3.0], 0.9), 3.0, 0.0);
    }

    #[test]
    fn medians_and_deviations_of_even_and_odd_numbers_of_values() {
        near(median(&mut [3.0, 1.0, 2.0]), 2.0, 0.0);
        near(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5, 0.0);
        near(median(&mut [7.0]), 7.0, 0.0);
        assert!(median(&mut []).is_nan());
        near(mad(&mut [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), 1.0, 0.0);
    }
}
