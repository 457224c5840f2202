//! Settings of a timing run: how much to measure, and which difference is a leak.

use std::time::Duration;

/// Settings of a timing run: how much to measure, and which difference is a leak.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The probability of a false alarm for a target, over all its pairs of classes and all looks.
    pub alpha: f64,
    /// The threshold Δ, in nanoseconds per call: a smaller difference is not a leak. With zero, every real difference
    /// is a leak. `None` leaves the threshold to `delta_share`.
    pub delta_ns: Option<f64>,
    /// The threshold Δ as a share of the call's time, if `delta_ns` is `None`. If both are `None`, the threshold is 1
    /// ns or a thousandth of the call, whichever is larger. It is a tenth of the call for calls of less than 10 ns.
    pub delta_share: Option<f64>,
    /// Minimum of the threshold Δ in nanoseconds, where neither `delta_ns` nor `delta_share` states it.
    pub delta_least_ns: f64,
    /// How often the data are tested. Each look has twice the batches of the previous look. A run whose intervals are
    /// still too wide takes further looks.
    pub looks: u32,
    /// Maximum time for a target. A pair of classes that needs more data may use half of the time that is left for its
    /// target, and the last pair all of it.
    pub time_limit: Duration,
    /// Number of batches at the first look.
    pub first: usize,
    /// Maximum number of pairs in a batch. Slow functions get fewer.
    pub pairs: usize,
    /// Whether a run ends as soon as all intervals lie inside ±Δ. If not, a run without a leak takes all looks.
    pub stop_early: bool,
    /// Whether the record of a pair keeps the time of each measurement.
    pub keep_times: bool,
    /// The seed of the inputs and of the order of measurements.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            alpha: 0.01,
            delta_ns: None,
            delta_share: None,
            delta_least_ns: 0.0,
            time_limit: Duration::from_secs(60),
            looks: 7,
            first: 16,
            pairs: 256,
            stop_early: true,
            keep_times: false,
            seed: crate::random::fresh_seed(),
        }
    }
}

impl Settings {
    /// Settings that need a quarter of the measurements where these suffice; the final intervals are twice as wide.
    #[must_use]
    pub fn quick() -> Self {
        Self { looks: 5, time_limit: Duration::from_secs(20), ..Self::default() }
    }

    /// Returns the threshold Δ for a function whose call takes `call_ns` nanoseconds.
    #[must_use]
    pub fn delta_for(&self, call_ns: f64) -> f64 {
        let share = || self.delta_share.map(|share| share * call_ns);
        let usual = || (call_ns / 1000.0).max((call_ns / 10.0).min(1.0)).max(self.delta_least_ns);
        self.delta_ns.or_else(share).unwrap_or_else(usual)
    }

    /// Returns the number of batches at each look.
    #[must_use]
    pub fn looks(&self) -> Vec<usize> {
        (0..self.looks).map(|look| self.first << look).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_a_nanosecond_or_a_share_of_the_call() {
        let settings = Settings::default();
        assert_eq!(
            [4.0, 10.0, 330.0, 1000.0, 40_000.0].map(|call| settings.delta_for(call)),
            [0.4, 1.0, 1.0, 1.0, 40.0]
        );
        let share = Settings { delta_share: Some(0.005), ..settings.clone() };
        assert_eq!(share.delta_for(2000.0), 10.0);
        let least = Settings { delta_least_ns: 8.0, ..settings };
        assert_eq!([4.0, 40_000.0].map(|call| least.delta_for(call)), [8.0, 40.0]);
        assert_eq!(Settings { delta_ns: Some(0.0), ..share }.delta_for(2000.0), 0.0);
    }
}
