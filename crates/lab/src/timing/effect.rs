//! Estimates the differences between two classes, with simultaneous confidence intervals, from the means of groups of
//! batches.

use super::Scale;
use crate::distribution::{self, exact_rank, normal_quantile, student_quantile};
use crate::record::{Effect, Interval};

/// The quantiles whose differences are reported. The quantiles above [`BODY`] describe only few calls.
pub(crate) const QUANTILES: [f64; 11] = [0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.98, 0.99, 0.995, 0.999];
/// For quantiles up to `BODY`, the tolerance is Δ itself.
pub(crate) const BODY: f64 = 0.95;
/// For each mean, the share of the calls from which the mean is computed. These calls are the fastest calls of each
/// class.
const MEANS: [f64; 2] = [0.90, 0.99];
pub(crate) const STATISTICS: usize = MEANS.len() + QUANTILES.len();
/// The number of intervals that are valid at the same time: the intervals of the statistics, and the interval of the
/// raw mean.
const INTERVALS: f64 = STATISTICS as f64 + 1.0;
/// The maximum number of groups. A longer run has more batches in each group. If there are many groups, the intervals
/// by rank depend mainly on the groups that were measured while nothing disturbed the machine.
const GROUPS: usize = 1024;
/// Maximum number of points in a series for charts.
const SERIES: usize = 64;

/// The minimum number of groups. If there were fewer groups than this, the variation between groups could not be
/// estimated.
const FEWEST: usize = 4;

/// In each group, each class must have at least this number of calls beyond a quantile. With fewer calls, the quantile
/// would be almost the same as the maximum.
const BEYOND: f64 = 5.0;

/// For each group, the differences between the two classes, in ticks of a measurement. The table of differences has one
/// column for each statistic, and a last column for the raw mean.
///
/// If every call of one class takes longer by the same amount, each statistic differs by this amount. So that each mean
/// also differs by this amount, the mean excludes a fixed share of the slowest calls of each class, and does not cap
/// all times at one value.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    columns: Vec<Vec<f64>>,
    /// For each quantile, the gap around the quantile, if there is a gap. For a quantile in a gap, the column contains
    /// the share of the calls that change from one side of the gap to the other, multiplied by the width of the gap.
    gaps: [Option<Gap>; STATISTICS],
}

/// A range with hardly any times, and with many times on both sides of the range. A function with two typical times
/// (modes) has a gap of this kind between the modes.
#[derive(Clone, Copy, Debug)]
struct Gap {
    low: f32,
    high: f32,
}

/// Returns the tolerance: the largest difference in the statistic at `index` that is not a leak. For the mean, the
/// tolerance is `delta`. For quantiles above 95 %, the tolerance grows with the inverse of the share of calls beyond
/// the quantile. At the 99.9 % quantile, the allowed difference is fifty times as large as at the 95 % quantile.
pub(crate) fn tolerance(index: usize, delta: f64) -> f64 {
    index.checked_sub(2).map_or(delta, |place| delta * ((1.0 - BODY) / (1.0 - QUANTILES[place])).max(1.0))
}

/// Returns the share of the calls that the statistic at `index` describes. The share consists of the fastest calls.
fn share(index: usize) -> f64 {
    index.checked_sub(2).map_or_else(|| MEANS[index], |place| QUANTILES[place])
}

/// Returns whether a statistic describes calls in the slowest twentieth.
fn is_tail(index: usize) -> bool {
    (2..STATISTICS).contains(&index) && share(index) > BODY
}

impl Groups {
    /// Computes the differences from the times, which are in the order of measurement. A batch has `batch` pairs. A
    /// statistic that has too few data gets no groups. A gap between two modes is ignored if it is at most `delta`
    /// ticks wide.
    pub(crate) fn new(a: &[f32], b: &[f32], batch: usize, delta: f64) -> Self {
        let batches = a.len() / batch;
        let counts: Vec<usize> = (0..=STATISTICS)
            .map(|index| {
                let quantile = index.checked_sub(2).and_then(|place| QUANTILES.get(place));
                let beyond = quantile.map(|quantile| quantile.min(1.0 - quantile));
                let most = beyond.map_or(GROUPS, |beyond| ((batches * batch) as f64 * beyond / BEYOND) as usize);
                Some(most.min(batches).min(GROUPS)).filter(|&count| count >= FEWEST).unwrap_or(0)
            })
            .collect();
        let mut gaps = [None; STATISTICS];
        let classes = [selection(a), selection(b)];
        for index in (2..STATISTICS).filter(|&index| counts[index] > 0) {
            let calls = batches * batch / counts[index];
            let [a, b] = [0, 1].map(|class: usize| Gap::find(&classes[class], QUANTILES[index - 2], calls));
            gaps[index] = a.zip(b).and_then(|(a, b)| a.common(b)).filter(|gap| gap.width() > delta);
        }
        let mut columns = vec![Vec::new(); counts.len()];
        let mut sizes = counts.clone();
        sizes.sort_unstable();
        sizes.dedup();
        for count in sizes {
            for group in 0..count {
                let bound = |group: usize| group * batches / count * batch;
                let [mut a, mut b] =
                    [&a[bound(group)..bound(group + 1)], &b[bound(group)..bound(group + 1)]].map(<[f32]>::to_vec);
                a.sort_unstable_by(f32::total_cmp);
                b.sort_unstable_by(f32::total_cmp);
                for index in (0..counts.len()).filter(|&index| counts[index] == count) {
                    let value = |times: &[f32]| match (index, gaps.get(index).copied().flatten()) {
                        (_, Some(gap)) => -gap.width() * gap.below(times),
                        (0 | 1, None) => mean(&times[..(times.len() as f64 * MEANS[index]).round().max(1.0) as usize]),
                        (STATISTICS, None) => mean(times),
                        (_, None) => quantile(times, QUANTILES[index - 2]),
                    };
                    columns[index].push(value(&b) - value(&a));
                }
            }
        }
        Self { columns, gaps }
    }

    /// Returns the difference per call of each statistic that has data. With probability 1 − `alpha`, these intervals
    /// and the interval of the raw mean contain the true differences at the same time.
    pub(crate) fn effects(&self, alpha: f64, delta: f64, scale: &Scale) -> Vec<Effect> {
        let known = (0..STATISTICS).filter(|&index| !self.columns[index].is_empty());
        known
            .map(|index| {
                let gap = self.gaps[index];
                Effect {
                    name: gap.map_or_else(|| name(index), |_| format!("gap at the {}", name(index))),
                    quantile: index.checked_sub(2).filter(|_| gap.is_none()).map(|place| QUANTILES[place]),
                    up_to: share(index),
                    gap_ns: gap.map(|gap| scale.per_call(gap.width())),
                    difference: self.interval(index, alpha / INTERVALS).scaled(scale.per_call(1.0)),
                    tolerance_ns: if gap.is_some() { delta } else { tolerance(index, delta) },
                }
            })
            .collect()
    }

    /// Returns the difference of the raw means per call. With probability 1 − `alpha`, this interval and the intervals
    /// of the effects contain the true differences at the same time.
    pub(crate) fn raw_mean(&self, alpha: f64, scale: &Scale) -> Interval {
        interval(&self.columns[STATISTICS], alpha / INTERVALS).scaled(scale.per_call(1.0))
    }

    /// Returns the difference per call of each statistic, followed by the difference of the raw mean. Each single
    /// interval contains the true difference with probability 1 − `alpha`. The entry of a statistic without data is
    /// `None`.
    pub(crate) fn single(&self, alpha: f64, scale: &Scale) -> Vec<Option<Interval>> {
        let known = |&index: &usize| !self.columns[index].is_empty();
        let one = |index: usize| self.interval(index, alpha).scaled(scale.per_call(1.0));
        (0..self.columns.len()).map(|index| Some(index).filter(known).map(one)).collect()
    }

    fn interval(&self, index: usize, alpha: f64) -> Interval {
        let gap = self.gaps.get(index).is_some_and(Option::is_some);
        let of = match index {
            _ if gap => interval,
            1 | STATISTICS => interval,
            _ if is_tail(index) => ranked,
            _ => narrower,
        };
        of(&self.columns[index], alpha)
    }

    /// Returns the shift per call that a test at the level `alpha` detects with a probability of 90 %.
    pub(crate) fn detectable(&self, alpha: f64, scale: &Scale) -> f64 {
        let values = &self.columns[0];
        if values.is_empty() {
            return 0.0;
        }
        let critical =
            student_quantile(values.len() as f64 - 1.0, 1.0 - alpha / 2.0 / STATISTICS as f64) + normal_quantile(0.9);
        scale.per_call(critical * standard_error(values))
    }

    /// Returns a series of the differences between the means of the fastest 90 % of the calls, per call.
    pub(crate) fn series(&self, scale: &Scale) -> Vec<f64> {
        let values = &self.columns[0];
        values
            .chunks(values.len().div_ceil(SERIES).max(1))
            .map(|part| scale.per_call(part.iter().sum::<f64>() / part.len() as f64))
            .collect()
    }
}

/// Returns whether `batches` batches are enough for a test at the significance level `level`. With n batches, no
/// p-value is less than 2 / 2ⁿ. The smallest possible p-value must be at most a tenth of the level. If the smallest
/// possible p-value were larger, the test would detect a leak only if almost no sign flip gave a result as extreme as
/// the data.
pub(crate) fn enough(batches: usize, level: f64) -> bool {
    0.5_f64.powi(batches.min(1000) as i32 - 1) <= level / 10.0
}

/// Returns the names of the statistics in the order of [`Groups::single`].
pub(crate) fn names() -> Vec<String> {
    (0..STATISTICS).map(name).chain(["raw mean".to_owned()]).collect()
}

fn name(index: usize) -> String {
    match index {
        0 | 1 => format!("mean of the fastest {} %", MEANS[index] * 100.0),
        _ => format!("{} % quantile", (QUANTILES[index - 2] * 1000.0).round() / 10.0),
    }
}

/// Computes Student's interval and the interval by rank, each with the error probability `alpha / 2`, and returns the
/// intersection of the two intervals. Student's interval is narrower if the groups vary evenly. The interval by rank is
/// narrower if the machine was disturbed in some groups.
fn narrower(values: &[f64], alpha: f64) -> Interval {
    let (even, robust) = (interval(values, alpha / 2.0), ranked(values, alpha / 2.0));
    let (lower, upper) = (even.lower.max(robust.lower), even.upper.min(robust.upper));
    if lower > upper {
        return robust;
    }
    Interval { lower, estimate: robust.estimate.clamp(lower, upper), upper }
}

/// Computes the interval for the median of the groups with the sign test, which assumes nothing about the distribution
/// of the groups. If the machine was interrupted during a group, the group contains no information about the tail, and
/// would make Student's interval for all groups wider. If there are too few groups for the sign test, returns Student's
/// interval.
fn ranked(values: &[f64], alpha: f64) -> Interval {
    let rank = exact_rank(values.len(), alpha);
    if rank == 0 {
        return interval(values, alpha);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Interval {
        lower: sorted[rank - 1],
        estimate: distribution::quantile(&sorted, 0.5),
        upper: sorted[sorted.len() - rank],
    }
}

/// Computes Student's interval for the mean of the groups. Under the null hypothesis, the differences of the groups are
/// symmetric. For symmetric data, the interval is conservative, even if the tails are heavy (Benjamini 1983).
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

/// The maximum number of a class's times that are used in the search for gaps.
const SELECTED: usize = 1 << 16;
/// The minimum number of times around a quantile for which gaps are searched. With fewer times, a gap cannot be
/// distinguished from chance.
const AROUND: usize = 64;

/// Returns an evenly spaced selection of the times of a class, in sorted order.
fn selection(times: &[f32]) -> Vec<f32> {
    let stride = times.len().div_ceil(SELECTED).max(1);
    let mut selection: Vec<f32> = times.iter().step_by(stride).copied().collect();
    selection.sort_unstable_by(f32::total_cmp);
    selection
}

impl Gap {
    /// Searches sorted times for a gap around the quantile `level`. The function searches the ranks that the quantile
    /// of a group of `calls` calls can reach by chance. A gap must be wider than half of the range of times at these
    /// ranks.
    fn find(sorted: &[f32], level: f64, calls: usize) -> Option<Self> {
        let edge = level.min(1.0 - level);
        let reach = (4.0 * (level * (1.0 - level) / calls as f64).sqrt()).max((edge / 4.0).min(0.01));
        if reach > edge * 0.75 {
            return None;
        }
        let rank = |level: f64| ((sorted.len() as f64 * level) as usize).min(sorted.len() - 1);
        let around = &sorted[rank(level - reach)..=rank(level + reach)];
        if around.len() < AROUND {
            return None;
        }
        let gaps = around.windows(2).map(|pair| Self { low: pair[0], high: pair[1] });
        let widest = gaps.max_by(|x, y| x.width().total_cmp(&y.width()))?;
        let range = f64::from(around[around.len() - 1]) - f64::from(around[0]);
        (widest.width() > range / 2.0).then_some(widest)
    }

    /// Returns the common part of two gaps. If the intersection is too narrow, the classes differ in the times of their
    /// modes, not in the share of calls in each mode.
    fn common(self, other: Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.width() > self.width().max(other.width()) / 2.0).then_some(both)
    }

    fn width(self) -> f64 {
        f64::from(self.high) - f64::from(self.low)
    }

    /// Returns the share of the sorted times that are below the gap.
    fn below(self, sorted: &[f32]) -> f64 {
        sorted.partition_point(|&time| time <= self.low.midpoint(self.high)) as f64 / sorted.len() as f64
    }
}

fn mean(times: &[f32]) -> f64 {
    times.iter().map(|&time| f64::from(time)).sum::<f64>() / times.len() as f64
}

/// Returns a quantile of sorted times, interpolated between two neighboring times.
fn quantile(sorted: &[f32], level: f64) -> f64 {
    let rank = level * (sorted.len() - 1) as f64;
    let [low, high] = [rank.floor(), rank.ceil()].map(|rank| f64::from(sorted[rank as usize]));
    low + (high - low) * rank.fract()
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

    /// Creates groups from `batches` batches. Each batch has 256 times around 1000. The times of the second class are
    /// longer by `shift`.
    fn groups(batches: usize, shift: f64) -> Groups {
        let mut random = Random::new(3);
        let mut times = |shift: f64| {
            (0..256 * batches).map(|_| (1000.0 + shift + 100.0 * random.fraction()) as f32).collect::<Vec<f32>>()
        };
        let (a, b) = (times(0.0), times(shift));
        Groups::new(&a, &b, 256, 1.0)
    }

    #[test]
    fn a_group_has_five_calls_beyond_its_quantile_or_is_left_out() {
        let sizes = |batches: usize| groups(batches, 0.0).columns.iter().map(Vec::len).collect::<Vec<_>>();
        // Of 4096 pairs, 20 pairs are beyond the 99.5 % quantile: this number suffices for four groups with five of
        // these pairs each. Only four pairs are beyond the 99.9 % quantile, and four pairs are too few for a group.
        assert_eq!(sizes(16), [16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 8, 4, 0, 16]);
        assert_eq!(sizes(1024), [1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 524, 262, 52, 1024]);
        // With three batches, the variation between batches cannot be estimated.
        assert!(sizes(3).iter().all(|&size| size == 0));
    }

    #[test]
    fn a_shift_of_all_calls_shows_in_every_statistic() {
        let groups = groups(256, 7.0);
        let intervals: Vec<Interval> = (0..groups.columns.len()).map(|index| groups.interval(index, 1e-6)).collect();
        assert_eq!(intervals.len(), STATISTICS + 1);
        for (index, interval) in intervals.iter().enumerate() {
            assert!(interval.covers(7.0) && interval.upper - interval.lower < 14.0, "{index} {interval:?}");
        }
        assert!(!intervals[0].covers(0.0) && intervals[0].upper - intervals[0].lower < 3.0);
    }

    #[test]
    fn every_batch_is_in_one_group_when_the_groups_differ_in_size() {
        let (a, b) = (vec![0.0; 1100 * 2], (0_u16..1100).flat_map(|batch| [f32::from(batch); 2]).collect::<Vec<f32>>());
        let groups = Groups::new(&a, &b, 2, 1.0);
        let raw = &groups.columns[STATISTICS];
        assert_eq!(raw.len(), GROUPS);
        // The columns contain 948 groups of one batch and 76 groups of two batches, in order.
        assert!(raw.is_sorted());
        assert_eq!(raw.iter().filter(|value| value.fract() != 0.0).count(), 76);
    }

    #[test]
    fn tolerances_grow_above_the_95_percent_quantile() {
        let of = |quantile: f64| tolerance(2 + QUANTILES.iter().position(|&at| at == quantile).unwrap(), 1.0);
        assert_eq!([tolerance(0, 1.0), tolerance(1, 1.0), of(0.5), of(0.95)], [1.0; 4]);
        assert!((of(0.99) - 5.0).abs() < 1e-9 && (of(0.999) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_quantile_is_interpolated_between_neighbors() {
        let quantiles = [0.0, 0.25, 0.5, 1.0].map(|level| quantile(&[10.0, 20.0, 40.0], level));
        assert_eq!(quantiles, [10.0, 15.0, 20.0, 40.0]);
    }

    /// Creates times that are close to one of the two modes in `modes`. The function chooses the mode of each time at
    /// random, with probability `first` for the first mode.
    fn modes(random: &mut Random, count: usize, first: f64, modes: [f64; 2]) -> Vec<f32> {
        (0..count).map(|_| (modes[usize::from(random.fraction() >= first)] + random.normal().abs()) as f32).collect()
    }

    #[test]
    fn a_quantile_between_two_modes_is_judged_by_the_calls_that_cross() {
        let mut random = Random::new(5);
        let effects = |random: &mut Random, share: f64| {
            let (a, b) = (modes(random, 1 << 18, 0.5, [100.0, 200.0]), modes(random, 1 << 18, share, [100.0, 200.0]));
            let groups = Groups::new(&a, &b, 256, 1.0);
            let gaps: Vec<(usize, f64)> = groups
                .gaps
                .iter()
                .enumerate()
                .filter_map(|(index, gap)| Some((index, gap.as_ref()?.width())))
                .collect();
            (gaps, groups.interval(5, 1e-4))
        };
        let (gaps, same) = effects(&mut random, 0.5);
        assert!(gaps.len() == 1 && gaps[0].0 == 5 && (gaps[0].1 - 96.0).abs() < 4.0, "{gaps:?}");
        assert!(same.covers(0.0) && same.upper - same.lower < 2.0, "{same:?}");
        // In the second class, three more calls in a hundred are in the slow mode, which takes 96 ns longer.
        let (_, moved) = effects(&mut random, 0.47);
        assert!(moved.lower > 2.0 && moved.upper < 4.0, "{moved:?}");
    }

    #[test]
    fn a_wide_distribution_has_no_gap() {
        let mut random = Random::new(6);
        let mut times: Vec<f32> = (0..1 << 16).map(|_| (100.0 + 40.0 * random.normal().powi(3)) as f32).collect();
        times.sort_unstable_by(f32::total_cmp);
        for level in QUANTILES {
            assert!(Gap::find(&times, level, 4096).is_none(), "{level}");
        }
    }
}
