//! Collects all times of a class for tables and charts. The times come from all pairs that contain the class.

use std::collections::BTreeMap;

use super::Scale;
use crate::distribution::median;
use crate::record::{Class, Histogram, Quantile};

const QUANTILES: [f64; 17] =
    [0.001, 0.01, 0.02, 0.05, 0.10, 0.25, 0.40, 0.50, 0.60, 0.75, 0.90, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999];
/// Maximum number of bins in a histogram.
const STEPS: usize = 64;

/// Counts how often each time was measured. Times are in whole ticks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    counts: BTreeMap<i64, u64>,
}

impl Tally {
    pub(crate) fn add(&mut self, times: &[f32]) {
        let mut times: Vec<i64> = times.iter().map(|time| time.round() as i64).collect();
        times.sort_unstable();
        for run in times.chunk_by(|x, y| x == y) {
            *self.counts.entry(run[0]).or_default() += run.len() as u64;
        }
    }

    pub(crate) fn into_class(self, name: String, scale: &Scale) -> Class {
        let samples = self.counts.values().sum();
        let quantiles =
            QUANTILES.iter().filter_map(|&at| Some(Quantile { at, ns: scale.absolute(self.quantile(at)?) })).collect();
        Class { name, samples, quantiles, histogram: self.histogram(scale), estimates: None }
    }

    /// Returns a quantile in ticks. Each measured value stands for all times within half a tick of the value.
    fn quantile(&self, at: f64) -> Option<f64> {
        let rank = at * self.counts.values().sum::<u64>() as f64;
        let mut below = 0.0;
        for (&value, &count) in &self.counts {
            if below + count as f64 > rank {
                return Some(value as f64 + (rank - below) / count as f64 - 0.5);
            }
            below += count as f64;
        }
        None
    }

    fn histogram(&self, scale: &Scale) -> Histogram {
        let (Some(low), Some(high)) = (self.quantile(0.001), self.quantile(0.99)) else {
            return Histogram::default();
        };
        // The width of a bin is a whole number of ticks. With other widths, some bins would contain more values than
        // their neighbors.
        let width = ((high - low) / STEPS as f64).ceil().max(1.0);
        let start = low.round() - 0.5;
        let mut counts = vec![0; ((high - start) / width).ceil().max(1.0) as usize];
        for (&value, &count) in &self.counts {
            let place = (value as f64 - start) / width;
            if place >= 0.0 && (place as usize) < counts.len() {
                counts[place as usize] += count;
            }
        }
        let per_call = |ticks: f64| scale.per_call(ticks);
        Histogram { start_ns: per_call(start - scale.overhead), step_ns: per_call(width), counts }
    }
}

/// Returns the part of a measurement's duration, in ticks, that does not belong to the calls. An empty measurement
/// takes longer than the part that does not belong to the calls, because the processor starts a call before it has read
/// the clock. For a short call, the error of using an empty measurement would be large. The function therefore chooses
/// the result so that the median time of a call equals [`Scale::call`]. The warm-up computes [`Scale::call`] from the
/// difference between many calls and one call.
pub(super) fn overhead(tallies: &[Tally], scale: &Scale) -> f64 {
    let mut medians: Vec<f64> = tallies.iter().filter_map(|tally| tally.quantile(0.5)).collect();
    if medians.is_empty() {
        return scale.overhead;
    }
    (median(&mut medians) - scale.repeats as f64 * scale.call).clamp(0.0, scale.overhead.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_medians_of_short_calls_are_the_call_and_those_of_long_ones_stay() {
        let scale = |repeats: usize, call: f64| Scale {
            repeats,
            pairs: 1,
            tick_ns: 1.0,
            step: 1,
            dither: 1,
            overhead: 30.0,
            call,
            delta_ns: 0.0,
            turns_per_ns: 1.0,
            measurable: true,
        };
        let median = |time: f32, scale: Scale| {
            let mut tally = Tally::default();
            tally.add(&[time; 5]);
            let scale = Scale { overhead: overhead(std::slice::from_ref(&tally), &scale), ..scale };
            tally.into_class(String::new(), &scale).quantiles.iter().find(|quantile| quantile.at == 0.5).unwrap().ns
        };
        assert_eq!(median(25.0, scale(1, 9.0)), 9.0);
        assert_eq!(median(45.0, scale(3, 9.0)), 9.0);
        // The two checks below are for a machine that was slower or faster during the measurement than in the warm-up.
        assert_eq!(median(1100.0, scale(1, 1000.0)), 1070.0);
        assert_eq!(median(900.0, scale(1, 1000.0)), 900.0);
    }
}
