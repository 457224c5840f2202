//! Settings of a timing run: how much to measure, and which difference is a leak.

/// Settings of a timing run: how much to measure, and which difference is a leak.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The probability of a false alarm for a target, over all its pairs of classes and all looks.
    pub alpha: f64,
    /// The threshold Δ, in nanoseconds per call: a smaller difference is not a leak. With zero, every real difference
    /// is a leak. `None` stands for 1 ns, or for a tenth of the call's time where a call takes less than 10 ns.
    pub delta_ns: Option<f64>,
    /// How often the data are tested. Each look has twice the batches of the previous look.
    pub looks: u32,
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
    /// Settings that need a quarter of the measurements; the final intervals are twice as wide.
    #[must_use]
    pub fn quick() -> Self {
        Self { looks: 5, ..Self::default() }
    }

    /// Returns the threshold Δ for a function whose call takes `call_ns` nanoseconds.
    #[must_use]
    pub fn delta_for(&self, call_ns: f64) -> f64 {
        self.delta_ns.unwrap_or_else(|| (call_ns / 10.0).min(1.0))
    }

    /// Returns the number of batches at each look.
    #[must_use]
    pub fn looks(&self) -> Vec<usize> {
        (0..self.looks).map(|look| self.first << look).collect()
    }
}
