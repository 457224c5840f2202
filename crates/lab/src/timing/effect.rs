//! Estimates the difference between two classes and its simultaneous confidence intervals, from the means of groups of
//! batches.

use super::Scale;
use crate::distribution::{exact_rank, normal_quantile, quantile, student_quantile};
use crate::record::{Effect, Interval};

/// Quantiles whose differences are reported. Those above [`BODY`] describe few calls.
pub(crate) const QUANTILES: [f64; 11] = [0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.98, 0.99, 0.995, 0.999];
/// Up to this quantile the tolerance is Δ itself.
pub(crate) const BODY: f64 = 0.95;
/// Number of statistics: two winsorized means, then the quantiles.
pub(crate) const STATISTICS: usize = 2 + QUANTILES.len();
/// Maximum number of groups. A longer run has more batches in each group.
const GROUPS: usize = 64;

/// Minimum number of groups: fewer do not show how much they vary.
const FEWEST: usize = 4;

/// Minimum number of calls of each class beyond a quantile in a group. With fewer calls the quantile would be little
/// else than the maximum.
const BEYOND: f64 = 5.0;

/// The differences of each group in ticks of a measurement, one column for each statistic and a last one for the raw
/// mean.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    columns: Vec<Vec<f64>>,
}

/// Returns the largest difference in the statistic at `index` that is not a leak. For the mean, that is `delta`.
/// Above 95 % the tolerance grows with the inverse of the share of calls beyond the quantile: the slowest thousandth of
/// the calls may differ by fifty times as much as the slowest twentieth.
pub(crate) fn tolerance(index: usize, delta: f64) -> f64 {
    index.checked_sub(2).map_or(delta, |place| delta * ((1.0 - BODY) / (1.0 - QUANTILES[place])).max(1.0))
}

/// Returns whether the verdict depends on this statistic. Quantiles above 99 % are reported with the precision that the
/// run happens to reach.
pub(crate) fn decides(effect: &Effect) -> bool {
    effect.quantile.is_none_or(|quantile| quantile <= 0.99)
}

/// Returns whether a statistic describes the slowest twentieth of the calls.
fn is_tail(index: usize) -> bool {
    index.checked_sub(2).and_then(|place| QUANTILES.get(place)).is_some_and(|&quantile| quantile > BODY)
}

impl Groups {
    /// Computes the differences from the times in the order of measuring. `batch` pairs make a batch. A statistic for
    /// which the data are too few gets no groups.
    pub(crate) fn new(a: &[u32], b: &[u32], batch: usize, caps: [u32; 2], step: u64) -> Self {
        let batches = a.len() / batch;
        let counts: Vec<usize> = (0..=STATISTICS)
            .map(|index| {
                let beyond = (2..STATISTICS).contains(&index).then(|| 1.0 - QUANTILES[index - 2]);
                let most = beyond.map_or(GROUPS, |beyond| ((batches * batch) as f64 * beyond / BEYOND) as usize);
                // Fewer groups do not show how much they vary.
                Some(most.min(batches).min(GROUPS)).filter(|&count| count >= FEWEST).unwrap_or(0)
            })
            .collect();
        let mut columns = vec![Vec::new(); counts.len()];
        // Statistics with the same number of groups share the sorting.
        let mut sizes = counts.clone();
        sizes.sort_unstable();
        sizes.dedup();
        for count in sizes {
            for group in 0..count {
                let bound = |group: usize| group * batches / count * batch;
                let [mut a, mut b] =
                    [&a[bound(group)..bound(group + 1)], &b[bound(group)..bound(group + 1)]].map(<[u32]>::to_vec);
                a.sort_unstable();
                b.sort_unstable();
                for index in (0..counts.len()).filter(|&index| counts[index] == count) {
                    let value = |times: &[u32]| match index {
                        0 | 1 => mean(times, caps[index]),
                        STATISTICS => mean(times, u32::MAX),
                        _ => smooth(times, QUANTILES[index - 2], step),
                    };
                    columns[index].push(value(&b) - value(&a));
                }
            }
        }
        Self { columns }
    }

    /// Returns the difference per call of each statistic that has data. The intervals hold simultaneously at 1 −
    /// `alpha`.
    pub(crate) fn effects(&self, alpha: f64, delta: f64, scale: &Scale) -> Vec<Effect> {
        let known = (0..STATISTICS).filter(|&index| !self.columns[index].is_empty());
        known
            .map(|index| Effect {
                name: name(index),
                quantile: index.checked_sub(2).map(|place| QUANTILES[place]),
                difference: of(index)(&self.columns[index], alpha / STATISTICS as f64).scaled(scale.per_call(1.0)),
                tolerance_ns: tolerance(index, delta),
            })
            .collect()
    }

    /// Returns the raw mean's difference per call. The confidence level of this interval alone is 1 − `alpha`.
    pub(crate) fn raw_mean(&self, alpha: f64, scale: &Scale) -> Interval {
        interval(&self.columns[STATISTICS], alpha).scaled(scale.per_call(1.0))
    }

    /// Returns the difference per call of each statistic, the raw mean last. Each interval holds by itself at 1 −
    /// `alpha`. The entry is `None` where a statistic has no data.
    pub(crate) fn single(&self, alpha: f64, scale: &Scale) -> Vec<Option<Interval>> {
        let one = |(index, column): (usize, &Vec<f64>)| {
            (!column.is_empty()).then(|| of(index)(column, alpha).scaled(scale.per_call(1.0)))
        };
        self.columns.iter().enumerate().map(one).collect()
    }

    /// Returns the shift per call that a test at `alpha` detects nine times in ten.
    pub(crate) fn detectable(&self, alpha: f64, scale: &Scale) -> f64 {
        let values = &self.columns[0];
        if values.is_empty() {
            return 0.0;
        }
        let critical =
            student_quantile(values.len() as f64 - 1.0, 1.0 - alpha / 2.0 / STATISTICS as f64) + normal_quantile(0.9);
        scale.per_call(critical * standard_error(values))
    }

    /// Returns the difference of the mean up to the 90 % quantile for each group, per call.
    pub(crate) fn series(&self, scale: &Scale) -> Vec<f64> {
        self.columns[0].iter().map(|&value| scale.per_call(value)).collect()
    }
}

/// Returns whether `batches` are enough for a test at `level`. With n batches, no p-value lies below 2 / 2ⁿ. This
/// minimum must not exceed a tenth of the level. Otherwise most of the run's power would depend on the last possible
/// flip.
pub(crate) fn enough(batches: usize, level: f64) -> bool {
    0.5_f64.powi(batches.min(1000) as i32 - 1) <= level / 10.0
}

/// Returns the names of the statistics in the order of [`Groups::single`].
pub(crate) fn names() -> Vec<String> {
    (0..STATISTICS).map(name).chain(["raw mean".to_owned()]).collect()
}

fn name(index: usize) -> String {
    match index {
        0 => "mean up to the 90 % quantile".to_owned(),
        1 => "mean up to the 99 % quantile".to_owned(),
        _ => format!("{} % quantile", (QUANTILES[index - 2] * 1000.0).round() / 10.0),
    }
}

/// Returns the function that computes the interval of the statistic at `index`.
fn of(index: usize) -> fn(&[f64], f64) -> Interval {
    if is_tail(index) { ranked } else { interval }
}

/// Computes the interval for the median of the groups with the sign test, which assumes nothing about their
/// distribution. A group during which the machine was interrupted says nothing about the tail, and would widen
/// Student's interval for all other groups. With too few groups for the sign test, Student's interval is returned.
fn ranked(values: &[f64], alpha: f64) -> Interval {
    let rank = exact_rank(values.len(), alpha);
    if rank == 0 {
        return interval(values, alpha);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Interval { lower: sorted[rank - 1], estimate: quantile(&sorted, 0.5), upper: sorted[sorted.len() - rank] }
}

/// Computes Student's interval for the mean of the groups. Under the null hypothesis the differences of the groups are
/// symmetric, and for symmetric data the interval is conservative with any tails (Benjamini 1983).
fn interval(values: &[f64], alpha: f64) -> Interval {
    if values.is_empty() {
        return Interval::default();
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let half = student_quantile(values.len().max(2) as f64 - 1.0, 1.0 - alpha / 2.0) * standard_error(values);
    Interval { lower: mean - half, estimate: mean, upper: mean + half }
}

fn standard_error(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0) / count).sqrt()
}

fn mean(times: &[u32], cap: u32) -> f64 {
    times.iter().map(|&time| u64::from(time.min(cap))).sum::<u64>() as f64 / times.len() as f64
}

/// Returns a quantile of sorted times, in which each value stands for the whole step of the clock around it. With a
/// coarse clock half the calls may share one value. A quantile that jumps between values would then show either no
/// difference or a whole step.
pub(crate) fn smooth(sorted: &[u32], level: f64, step: u64) -> f64 {
    let rank = level * sorted.len() as f64;
    let value = sorted[(rank as usize).min(sorted.len() - 1)];
    let below = sorted.partition_point(|&time| time < value) as f64;
    let within = sorted.partition_point(|&time| time <= value) as f64 - below;
    f64::from(value) + step as f64 * ((rank - below) / within - 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn intervals_by_rank_keep_their_level_for_heavy_tails() {
        let mut random = Random::new(8);
        let missed = (0..2000)
            .filter(|_| {
                let values: Vec<f64> = (0..64).map(|_| random.normal() / random.normal().powi(3)).collect();
                !ranked(&values, 0.05).covers(0.0)
            })
            .count();
        // The limit is 5 % of 2000 plus four standard deviations.
        assert!(missed <= 100 + 40, "{missed}");
    }

    #[test]
    fn ranks_are_those_of_the_binomial_distribution() {
        // The median lies between the second and the ninth of ten values with probability 1 − 2 · 11 / 1024.
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let interval = ranked(&values, 0.022);
        assert_eq!((interval.lower, interval.estimate, interval.upper), (2.0, 5.5, 9.0));
        assert_eq!(ranked(&values, 0.021).lower, 1.0);
    }

    /// Creates groups from `batches` batches of 256 times around 1000; the times of the second side are `shift` longer.
    fn groups(batches: usize, shift: u32) -> Groups {
        let mut random = Random::new(3);
        let mut times =
            |shift: u32| (0..256 * batches).map(|_| 1000 + shift + random.below(100) as u32).collect::<Vec<u32>>();
        let (a, b) = (times(0), times(shift));
        Groups::new(&a, &b, 256, [u32::MAX; 2], 1)
    }

    #[test]
    fn a_group_has_five_calls_beyond_its_quantile_or_is_left_out() {
        let sizes = |batches: usize| groups(batches, 0).columns.iter().map(Vec::len).collect::<Vec<_>>();
        // Of 4096 pairs, 20 lie beyond the 99.5 % quantile, which makes four groups of five. Four lie beyond the 99.9 %
        // quantile.
        assert_eq!(sizes(16), [16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 8, 4, 0, 16]);
        assert_eq!(sizes(1024), [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 52, 64]);
        // Three batches do not show how much they vary.
        assert!(sizes(3).iter().all(|&size| size == 0));
    }

    #[test]
    fn a_shift_of_all_calls_shows_in_every_statistic() {
        let groups = groups(256, 7);
        let intervals: Vec<Interval> =
            groups.columns.iter().enumerate().map(|(index, column)| of(index)(column, 1e-6)).collect();
        assert_eq!(intervals.len(), STATISTICS + 1);
        for (index, interval) in intervals.iter().enumerate() {
            assert!(interval.covers(7.0) && interval.upper - interval.lower < 14.0, "{index} {interval:?}");
        }
        assert!(!intervals[0].covers(0.0) && intervals[0].upper - intervals[0].lower < 3.0);
    }

    #[test]
    fn every_batch_is_in_one_group_when_the_groups_differ_in_size() {
        let (a, b) = (vec![0; 70 * 2], (0..70).flat_map(|batch| [batch; 2]).collect::<Vec<u32>>());
        let groups = Groups::new(&a, &b, 2, [u32::MAX; 2], 1);
        let raw = &groups.columns[STATISTICS];
        assert_eq!(raw.len(), GROUPS);
        // The columns hold 58 groups of one batch and six of two, in order.
        assert!(raw.is_sorted());
        assert_eq!(raw.iter().filter(|value| value.fract() != 0.0).count(), 6);
    }

    #[test]
    fn tolerances_grow_above_the_95_percent_quantile() {
        let of = |quantile: f64| tolerance(2 + QUANTILES.iter().position(|&at| at == quantile).unwrap(), 1.0);
        assert_eq!([tolerance(0, 1.0), tolerance(1, 1.0), of(0.5), of(0.95)], [1.0; 4]);
        assert!((of(0.99) - 5.0).abs() < 1e-9 && (of(0.999) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_quantile_is_interpolated_within_a_step_of_the_clock() {
        let times: Vec<u32> = [vec![20; 50], vec![30; 50]].concat();
        let quantiles = [0.0, 0.25, 0.5, 0.75].map(|level| smooth(&times, level, 10));
        assert_eq!(quantiles, [15.0, 20.0, 25.0, 30.0]);
    }
}
