//! The data of one comparison: the times in the order of measurement, and the scores of the batches.

use crate::record::Found;
use crate::timing::Scale;
use crate::timing::cuts::{Cuts, Score};
use crate::timing::effect::Groups;
use crate::timing::flips;

/// The maximum number of points of the distribution function that the chart keeps.
const POINTS: usize = 64;
/// Maximum number of lags for which the autocorrelation is stored.
const LAGS: usize = 16;

/// The purpose of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The batch serves only the test.
    Plain,
    /// The batch is used only for the intervals.
    Dithered,
    /// The batch is used for the test and for the intervals. The batch is plain (no delays are subtracted), and belongs
    /// to a function that takes far longer than a clock step.
    Both,
}

/// The data of one comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    cuts: Option<Cuts>,
    pub(crate) scores: Vec<Score>,
    /// The times from which no delays are subtracted, if the settings keep these times.
    plain: [Vec<f32>; 2],
    /// The times of the warm-up without subtracted delays, relative to the centers of their batches.
    warm: [Vec<f32>; 2],
    /// The times for the intervals, in ticks and in the order of measurement.
    pub(crate) ticks: [Vec<f32>; 2],
    /// The center of each batch in `ticks`. Batches differ in the address of the buffer and in the speed of the
    /// machine. The statistics use times relative to the center of their batch, so the address and the speed do not
    /// affect the statistics. Both classes have the same center, so the center does not change the difference between
    /// the classes.
    centers: Vec<f32>,
    /// The number of pairs in each batch in `ticks`.
    batch: usize,
    /// The total number of pairs.
    pairs: usize,
}

impl Cell {
    /// Chooses the cut points from the times so far and discards all times.
    pub(crate) fn settle(&mut self, step: f32) {
        let mut times = if self.warm[0].is_empty() { self.centered().concat() } else { self.warm.concat() };
        let cuts = Cuts::new(&mut times, step);
        *self = Self { cuts: Some(cuts), ..Self::default() };
    }

    /// Creates an empty cell with the same cut points as this cell.
    pub(crate) fn fresh(&self) -> Self {
        Self { cuts: self.cuts.clone(), ..Self::default() }
    }

    /// Returns the vectors to which new times are appended.
    pub(crate) fn sides(&mut self, part: Part) -> [&mut Vec<f32>; 2] {
        let [a, b] = if part == Part::Plain { &mut self.plain } else { &mut self.ticks };
        [a, b]
    }

    /// Completes a batch, which consists of the last `pairs` pairs of measurements. Computes the score of the batch if
    /// the batch is used for the test and there are cut points. If `keep` is false, the times of plain batches are
    /// discarded.
    pub(crate) fn end(&mut self, part: Part, pairs: usize, keep: bool) {
        self.pairs += pairs;
        let times = if part == Part::Plain { &self.plain } else { &self.ticks };
        let [a, b] = times.each_ref().map(|times| &times[times.len() - pairs..]);
        let center = center(a, b);
        let centered = |times: &[f32]| times.iter().map(|time| time - center).collect::<Vec<f32>>();
        match &self.cuts {
            Some(cuts) if part != Part::Dithered => self.scores.push(cuts.score(&centered(a), &centered(b))),
            None if part == Part::Plain => {
                let (a, b) = (centered(a), centered(b));
                self.warm[0].extend(a);
                self.warm[1].extend(b);
            }
            _ => {}
        }
        if part != Part::Plain {
            self.batch = pairs;
            self.centers.push(center);
        } else if !keep {
            self.plain.iter_mut().for_each(Vec::clear);
        }
    }

    /// Returns the times of each class relative to the centers of their batches.
    fn centered(&self) -> [Vec<f32>; 2] {
        [0, 1].map(|side: usize| {
            let batches = self.ticks[side].chunks(self.batch.max(1)).zip(&self.centers);
            batches.flat_map(|(times, center)| times.iter().map(move |time| time - center)).collect()
        })
    }

    /// Returns the index, the sign and the description of the strongest statistic.
    pub(crate) fn strongest(&self) -> ((usize, f32), Option<Found>) {
        let (place, sign) = flips::strongest(&self.scores);
        ((place, sign), self.cuts.as_ref().map(|cuts| cuts.found(place, sign)))
    }

    pub(crate) fn batches(&self) -> usize {
        self.scores.len()
    }

    /// Returns the number of pairs in a batch that is used for the intervals.
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// Returns the times as the clock showed them.
    pub(crate) fn raw(&self) -> [Vec<f32>; 2] {
        if self.plain[0].is_empty() { self.ticks.clone() } else { self.plain.clone() }
    }

    pub(crate) fn pairs(&self) -> usize {
        self.pairs
    }

    pub(crate) fn groups(&self, scale: &Scale) -> Groups {
        let delta = scale.delta_ns / scale.per_call(1.0);
        let [a, b] = self.centered();
        Groups::new(&a, &b, self.batch.max(1), delta)
    }

    pub(crate) fn autocorrelation(&self) -> Vec<f64> {
        let means: Vec<f64> = self.centers.iter().map(|&center| f64::from(center)).collect();
        let center = means.iter().sum::<f64>() / means.len().max(1) as f64;
        let product =
            |lag: usize| means.iter().zip(&means[lag..]).map(|(x, y)| (x - center) * (y - center)).sum::<f64>();
        let variance = product(0);
        if variance <= 0.0 {
            return Vec::new();
        }
        (1..=LAGS.min(means.len() / 4)).map(|lag| product(lag) / variance).collect()
    }

    /// Returns the distribution function of the second class minus the distribution function of the first class, up to
    /// the 99.9 % quantile.
    pub(crate) fn ecdf(&self, scale: &Scale) -> Vec<[f64; 2]> {
        let [a, b] = [0, 1].map(|side: usize| {
            let mut times = self.ticks[side].clone();
            times.sort_unstable_by(f32::total_cmp);
            times
        });
        if a.is_empty() {
            return Vec::new();
        }
        let values = &a[..(a.len() * 999 / 1000).max(1)];
        let stride = values.len().div_ceil(POINTS);
        let share =
            |times: &[f32], value: f32| times.partition_point(|&time| time <= value) as f64 / times.len() as f64;
        values
            .iter()
            .step_by(stride)
            .map(|&value| [scale.absolute(f64::from(value)), share(&b, value) - share(&a, value)])
            .collect()
    }
}

/// Returns the center of a batch. The function computes the mean of the faster half of the times of each class, and
/// returns the mean of the two results. The two classes contribute equally. If the center depended only on the faster
/// class, the times of this class would vary less around the center than the times of the other class. If the center
/// depended only on the faster class, a shift of all times would appear as a difference in the shape of the
/// distributions. This mean is stable even if the median is between two groups of times.
fn center(a: &[f32], b: &[f32]) -> f32 {
    let of = |times: &[f32]| {
        let mut times = times.to_vec();
        let half = times.len() / 2;
        if half == 0 {
            return times.first().map_or(0.0, |&time| f64::from(time));
        }
        times.select_nth_unstable_by(half, f32::total_cmp);
        times[..half].iter().map(|&time| f64::from(time)).sum::<f64>() / half as f64
    };
    ((of(a) + of(b)) / 2.0) as f32
}
