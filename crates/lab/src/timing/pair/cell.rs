//! The data of one comparison: times in the order of measuring, and the scores of the batches.

use crate::timing::Scale;
use crate::timing::cuts::{Cuts, Score};
use crate::timing::effect::Groups;

/// Maximum number of points of the distribution function that are kept for the chart.
const POINTS: usize = 64;
/// Maximum number of lags of the autocorrelation that are kept.
const LAGS: usize = 16;

/// The data of one comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    cuts: Option<Cuts>,
    pub(crate) scores: Vec<Score>,
    /// The times of each side in ticks, in the order of measuring.
    pub(crate) ticks: [Vec<f32>; 2],
    batch: usize,
}

impl Cell {
    /// Chooses the cut points from the times so far and discards these times.
    pub(crate) fn settle(&mut self, step: f32) {
        let mut times = std::mem::take(&mut self.ticks).concat();
        self.cuts = Some(Cuts::new(&mut times, step));
        self.scores.clear();
    }

    /// Creates an empty cell with the same cut points.
    pub(crate) fn fresh(&self) -> Self {
        Self { cuts: self.cuts.clone(), ..Self::default() }
    }

    /// Returns the vectors to which new times are appended.
    pub(crate) fn sides(&mut self) -> [&mut Vec<f32>; 2] {
        let [a, b] = &mut self.ticks;
        [a, b]
    }

    /// Scores the last `pairs` pairs as a batch. Without cut points the times are kept and not scored.
    pub(crate) fn score(&mut self, pairs: usize) {
        self.batch = pairs;
        if let Some(cuts) = &self.cuts {
            let [a, b] = &self.ticks;
            self.scores.push(cuts.score(&a[a.len() - pairs..], &b[b.len() - pairs..]));
        }
    }

    pub(crate) fn batches(&self) -> usize {
        self.scores.len()
    }

    pub(crate) fn pairs(&self) -> usize {
        self.ticks[0].len()
    }

    pub(crate) fn groups(&self, scale: &Scale) -> Groups {
        let delta = scale.delta_ns / scale.per_call(1.0);
        Groups::new(&self.ticks[0], &self.ticks[1], self.batch.max(1), delta)
    }

    /// Returns whether the median of the last quarter of the times lies beyond all cut points.
    pub(crate) fn blind(&self) -> bool {
        let recent = |times: &[f32]| times[times.len() - times.len() / 4..].to_vec();
        let mut times: Vec<f32> = self.ticks.iter().flat_map(|side| recent(side)).collect();
        self.cuts.as_ref().is_some_and(|cuts| cuts.blind(&mut times))
    }

    /// Returns the autocorrelation of the batches' mean times, capped at the 99 % quantile.
    pub(crate) fn autocorrelation(&self) -> Vec<f64> {
        let cap = self.cuts.as_ref().map_or(f32::MAX, |cuts| cuts.caps[1]);
        let mean = |times: &[f32]| times.iter().map(|&time| f64::from(time.min(cap))).sum::<f64>() / times.len() as f64;
        let means: Vec<f64> = self.ticks[0]
            .chunks(self.batch.max(1))
            .zip(self.ticks[1].chunks(self.batch.max(1)))
            .map(|(a, b)| (mean(a) + mean(b)) / 2.0)
            .collect();
        let center = means.iter().sum::<f64>() / means.len().max(1) as f64;
        let product =
            |lag: usize| means.iter().zip(&means[lag..]).map(|(x, y)| (x - center) * (y - center)).sum::<f64>();
        let variance = product(0);
        if variance <= 0.0 {
            return Vec::new();
        }
        (1..=LAGS.min(means.len() / 4)).map(|lag| product(lag) / variance).collect()
    }

    /// Returns the difference of the distribution functions, second side minus first, up to the 99.9 % quantile.
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
