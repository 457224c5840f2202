//! How large is the difference, and how large could it be? Intervals that hold together, from the means of groups of batches.

use super::Scale;
use crate::distribution::{exact_rank, normal_quantile, quantile, student_quantile};
use crate::record::{Effect, Interval};

/// Quantiles whose difference is shown. Those above [`BODY`] belong to few calls.
pub(crate) const QUANTILES: [f64; 11] = [0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.98, 0.99, 0.995, 0.999];
/// Up to here a difference counts in full.
pub(crate) const BODY: f64 = 0.95;
/// All statistics: two winsorised means, then the quantiles.
pub(crate) const STATISTICS: usize = 2 + QUANTILES.len();
/// At most so many groups; each has the more batches, the longer the run.
const GROUPS: usize = 64;

const FEWEST: usize = 4;

/// A group has at least so many calls of each class beyond a quantile, or it could not tell that quantile from its maximum.
const BEYOND: f64 = 5.0;

/// The differences group by group, in ticks of a measurement: for each statistic, and last for the raw mean.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    columns: Vec<Vec<f64>>,
}

/// What counts as a leak in the `index`th statistic, where `delta` does in the mean. A quantile beyond 95 % counts by its share of the mean:
/// the slowest thousandth of the calls may differ by fifty times as much as the slowest twentieth.
pub(crate) fn tolerance(index: usize, delta: f64) -> f64 {
    index.checked_sub(2).map_or(delta, |place| delta * ((1.0 - BODY) / (1.0 - QUANTILES[place])).max(1.0))
}

/// Whether a verdict waits for this statistic: of the slowest hundredth only so much is said as the run shows by itself.
pub(crate) fn decides(effect: &Effect) -> bool {
    effect.quantile.is_none_or(|quantile| quantile <= 0.99)
}

/// Whether a statistic belongs to the slowest twentieth of the calls.
fn is_tail(index: usize) -> bool {
    index.checked_sub(2).and_then(|place| QUANTILES.get(place)).is_some_and(|&quantile| quantile > BODY)
}

impl Groups {
    /// From all times in order of measuring; `batch` pairs belong together. A statistic that so few batches cannot show has no groups.
    pub(crate) fn new(a: &[u32], b: &[u32], batch: usize, caps: [u32; 2], step: u64) -> Self {
        let batches = a.len() / batch;
        let counts: Vec<usize> = (0..=STATISTICS)
            .map(|index| {
                let beyond = (2..STATISTICS).contains(&index).then(|| 1.0 - QUANTILES[index - 2]);
                let most = beyond.map_or(GROUPS, |beyond| ((batches * batch) as f64 * beyond / BEYOND) as usize);
                // From fewer, nothing can be said about their spread.
                Some(most.min(batches).min(GROUPS)).filter(|&count| count >= FEWEST).unwrap_or(0)
            })
            .collect();
        let mut columns = vec![Vec::new(); counts.len()];
        // Statistics with the same groups share the sorting.
        let mut sizes = counts.clone();
        sizes.sort_unstable();
        sizes.dedup();
        for count in sizes {
            for group in 0..count {
                let bound = |group: usize| group * batches / count * batch;
                let [mut a, mut b] = [&a[bound(group)..bound(group + 1)], &b[bound(group)..bound(group + 1)]].map(<[u32]>::to_vec);
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

    /// Every statistic's difference per call, as far as there are data for it, with intervals that hold together at 1 − `alpha`.
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

    /// The raw mean's difference per call, at 1 − `alpha` by itself.
    pub(crate) fn raw_mean(&self, alpha: f64, scale: &Scale) -> Interval {
        interval(&self.columns[STATISTICS], alpha).scaled(scale.per_call(1.0))
    }

    /// Every statistic's difference per call, the raw mean last, each at 1 − `alpha` by itself; none where there are no data for it.
    pub(crate) fn single(&self, alpha: f64, scale: &Scale) -> Vec<Option<Interval>> {
        let one = |(index, column): (usize, &Vec<f64>)| (!column.is_empty()).then(|| of(index)(column, alpha).scaled(scale.per_call(1.0)));
        self.columns.iter().enumerate().map(one).collect()
    }

    /// The shift per call that a test at `alpha` finds nine times in ten.
    pub(crate) fn detectable(&self, alpha: f64, scale: &Scale) -> f64 {
        let values = &self.columns[0];
        if values.is_empty() {
            return 0.0;
        }
        let critical = student_quantile(values.len() as f64 - 1.0, 1.0 - alpha / 2.0 / STATISTICS as f64) + normal_quantile(0.9);
        scale.per_call(critical * standard_error(values))
    }

    /// The mean up to the 90 % quantile, group by group, per call.
    pub(crate) fn series(&self, scale: &Scale) -> Vec<f64> {
        self.columns[0].iter().map(|&value| scale.per_call(value)).collect()
    }
}

/// Whether so many batches can show anything at this level: half of all sign flips of two batches are as extreme as the data. A tenth of the
/// level has to be in reach, or most of a run's power would hang on the last flip.
pub(crate) fn enough(batches: usize, level: f64) -> bool {
    0.5_f64.powi(batches.min(1000) as i32 - 1) <= level / 10.0
}

/// The names of all statistics that [`Groups::single`] gives, in its order.
pub(crate) fn names() -> Vec<String> {
    (0..STATISTICS).map(name).chain(["raw mean".to_owned()]).collect()
}

fn name(index: usize) -> String {
    match index {
        0 => "mean to p90".to_owned(),
        1 => "mean to p99".to_owned(),
        _ => format!("p{}", (QUANTILES[index - 2] * 1000.0).round() / 10.0),
    }
}

/// How a statistic's interval is made.
fn of(index: usize) -> fn(&[f64], f64) -> Interval {
    if is_tail(index) { ranked } else { interval }
}

/// The interval for the median of the groups by the sign test, which asks nothing of their distribution. A group in which the machine was
/// away for a while says nothing about its tail, and would stretch an interval of Student's over all others. Where there are too few groups,
/// Student's all the same.
fn ranked(values: &[f64], alpha: f64) -> Interval {
    let rank = exact_rank(values.len(), alpha);
    if rank == 0 {
        return interval(values, alpha);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Interval { lower: sorted[rank - 1], estimate: quantile(&sorted, 0.5), upper: sorted[sorted.len() - rank] }
}

/// Student's interval for the mean of the groups. Under the null their differences are symmetric, for which it is conservative, however
/// heavy their tails (Benjamini 1983).
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

/// A quantile of sorted times in which every value stands for the step of the clock around it: with a coarse clock, half the calls may share
/// one value, and a quantile that jumps from value to value would see nothing or a whole step.
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
    fn intervals_by_rank_cover_whatever_the_tails_are() {
        let mut random = Random::new(8);
        let missed = (0..2000)
            .filter(|_| {
                let values: Vec<f64> = (0..64).map(|_| random.normal() / random.normal().powi(3)).collect();
                !ranked(&values, 0.05).covers(0.0)
            })
            .count();
        // At most 5 % of 2000, and four standard deviations above it.
        assert!(missed <= 100 + 40, "{missed}");
    }

    #[test]
    fn ranks_are_those_of_the_binomial_distribution() {
        // For ten values, 98.9 % lie between the second and the ninth (the tail of one on a side is 11 / 1024).
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let interval = ranked(&values, 0.022);
        assert_eq!((interval.lower, interval.estimate, interval.upper), (2.0, 5.5, 9.0));
        assert_eq!(ranked(&values, 0.021).lower, 1.0);
    }

    /// So many batches of 256 times around 1000, the second side `shift` later.
    fn groups(batches: usize, shift: u32) -> Groups {
        let mut random = Random::new(3);
        let mut times = |shift: u32| (0..256 * batches).map(|_| 1000 + shift + random.below(100) as u32).collect::<Vec<u32>>();
        let (a, b) = (times(0), times(shift));
        Groups::new(&a, &b, 256, [u32::MAX; 2], 1)
    }

    #[test]
    fn a_group_has_five_calls_beyond_its_quantile_or_there_is_none() {
        let sizes = |batches: usize| groups(batches, 0).columns.iter().map(Vec::len).collect::<Vec<_>>();
        // Of 4096 pairs, 20 are slower than the 99.5 % quantile: four groups of five. Four are slower than the 99.9 %.
        assert_eq!(sizes(16), [16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 8, 4, 0, 16]);
        assert_eq!(sizes(1024), [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 52, 64]);
        // Three batches say nothing about their spread.
        assert!(sizes(3).iter().all(|&size| size == 0));
    }

    #[test]
    fn a_shift_of_all_calls_is_in_every_statistic() {
        let groups = groups(256, 7);
        let intervals: Vec<Interval> = groups.columns.iter().enumerate().map(|(index, column)| of(index)(column, 1e-6)).collect();
        assert_eq!(intervals.len(), STATISTICS + 1);
        for (index, interval) in intervals.iter().enumerate() {
            assert!(interval.covers(7.0) && interval.upper - interval.lower < 14.0, "{index} {interval:?}");
        }
        assert!(!intervals[0].covers(0.0) && intervals[0].upper - intervals[0].lower < 3.0);
    }

    #[test]
    fn every_batch_is_in_one_group_though_their_number_does_not_divide() {
        let (a, b) = (vec![0; 70 * 2], (0..70).flat_map(|batch| [batch; 2]).collect::<Vec<u32>>());
        let groups = Groups::new(&a, &b, 2, [u32::MAX; 2], 1);
        let raw = &groups.columns[STATISTICS];
        assert_eq!(raw.len(), GROUPS);
        // 58 groups of one batch and six of two, in order.
        assert!(raw.is_sorted());
        assert_eq!(raw.iter().filter(|value| value.fract() != 0.0).count(), 6);
    }

    #[test]
    fn tolerances_grow_where_few_calls_are() {
        let of = |quantile: f64| tolerance(2 + QUANTILES.iter().position(|&at| at == quantile).unwrap(), 1.0);
        assert_eq!([tolerance(0, 1.0), tolerance(1, 1.0), of(0.5), of(0.95)], [1.0; 4]);
        assert!((of(0.99) - 5.0).abs() < 1e-9 && (of(0.999) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_quantile_moves_evenly_through_a_step_of_the_clock() {
        let times: Vec<u32> = [vec![20; 50], vec![30; 50]].concat();
        let quantiles = [0.0, 0.25, 0.5, 0.75].map(|level| smooth(&times, level, 10));
        assert_eq!(quantiles, [15.0, 20.0, 25.0, 30.0]);
    }
}
