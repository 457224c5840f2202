//! How much to measure and what to call a leak.

/// How much to measure and what to call a leak.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The chance of a false alarm for a target, over all its pairs and looks.
    pub alpha: f64,
    /// A difference up to this, in nanoseconds per call, is not a leak. With zero every real difference is one. None stands for a nanosecond,
    /// or a tenth of a call that takes less than ten.
    pub delta_ns: Option<f64>,
    /// How often the data are looked at; each look has twice the batches of the one before.
    pub looks: u32,
    /// Batches at the first look.
    pub first: usize,
    /// Pairs in a batch, where a call is fast enough.
    pub pairs: usize,
    /// Whether a run ends as soon as the intervals lie inside ±Δ. Without it a run takes all looks, unless it finds a leak.
    pub stop_early: bool,
    /// Whether the record of a pair keeps every single time.
    pub keep_times: bool,
    /// Of inputs and order.
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
    /// A quarter of the effort: intervals are twice as wide at the end.
    #[must_use]
    pub fn quick() -> Self {
        Self { looks: 5, ..Self::default() }
    }

    /// What counts as a leak for a call that takes so long.
    #[must_use]
    pub fn delta_for(&self, call_ns: f64) -> f64 {
        self.delta_ns.unwrap_or_else(|| (call_ns / 10.0).min(1.0))
    }

    /// The sizes, in batches, at which the data are looked at.
    #[must_use]
    pub fn looks(&self) -> Vec<usize> {
        (0..self.looks).map(|look| self.first << look).collect()
    }
}
