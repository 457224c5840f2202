//! Settings of a timing run: how much to measure, and which difference is a leak.

use std::time::Duration;

/// Maximum threshold in nanoseconds. The limit is necessary because a control adds twice the threshold to calls.
const LARGEST: f64 = 1e9;

/// Settings of a timing run: how much to measure, and which difference is a leak.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The probability of a false alarm for a target, over all its pairs of classes and all evaluations of the data.
    pub alpha: f64,
    /// The threshold Δ, in nanoseconds per call. Only a difference larger than Δ is a leak. If Δ is zero, every real
    /// difference is a leak. If this field is `None`, `delta_share` determines the threshold.
    pub delta_ns: Option<f64>,
    /// The threshold Δ as a share of the call's time. This field has an effect only if `delta_ns` is `None`. If
    /// `delta_ns` and `delta_share` are both `None`, the threshold is 1 ns or a thousandth of the call's time,
    /// whichever is larger. For calls of less than 10 ns, the threshold is a tenth of the call's time.
    pub delta_share: Option<f64>,
    /// If neither `delta_ns` nor `delta_share` is set, the threshold Δ is at least this number of nanoseconds.
    pub delta_least_ns: f64,
    /// The planned number of evaluations of the data. Each evaluation includes a test. Each evaluation uses twice as
    /// many batches as the evaluation before. If the intervals are still too wide after the planned evaluations, the
    /// run continues with additional evaluations.
    pub looks: u32,
    /// Maximum time for a target. A pair of classes that needs more data may use half of the time that is left for its
    /// target. The last pair may use all of the time that is left.
    pub time_limit: Duration,
    /// Additional time for a target. A run may use the additional time only as compensation for time in which other
    /// programs use the processor.
    pub spare: Duration,
    /// Number of batches for the first evaluation of the data.
    pub first: usize,
    /// The maximum number of pairs in a batch. Slow functions get smaller batches.
    pub pairs: usize,
    /// Whether a run ends as soon as all intervals lie inside ±Δ. If this setting is false, a run without a leak
    /// performs all planned evaluations.
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
            spare: Duration::ZERO,
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
    /// Returns settings for a shorter run. The run uses only a quarter of the measurements, except if a quarter is too
    /// few for a verdict. With a quarter of the measurements, the final intervals are twice as wide.
    #[must_use]
    pub fn quick() -> Self {
        Self { looks: 5, time_limit: Duration::from_secs(20), ..Self::default() }
    }

    /// Panics if a setting makes no sense, because a verdict with a threshold that is not a number would look like any
    /// other verdict.
    pub(crate) fn check(&self) {
        let time = |name: &str, ns: f64| {
            assert!((0.0..=LARGEST).contains(&ns), "{name} is {ns:?}: choose a time from 0 to {LARGEST:e} ns");
        };
        time("Settings::delta_ns", self.delta_ns.unwrap_or(0.0));
        time("Settings::delta_least_ns", self.delta_least_ns);
        let share = self.delta_share.unwrap_or(0.0);
        assert!((0.0..=1.0).contains(&share), "Settings::delta_share is {share:?}: choose a share from 0 to 1");
        let alpha = self.alpha;
        assert!(alpha > 0.0 && alpha < 1.0, "Settings::alpha is {alpha:?}: choose a probability between 0 and 1");
        let (looks, first) = (self.looks, self.first);
        assert!((1..=32).contains(&looks), "Settings::looks is {looks}: choose 1 to 32");
        assert!((1..=1 << 20).contains(&first), "Settings::first is {first}: choose 1 to {}", 1 << 20);
        assert!(self.pairs > 0, "Settings::pairs is {}: choose at least 1", self.pairs);
    }

    /// Returns the threshold Δ for a function whose call takes `call_ns` nanoseconds.
    #[must_use]
    pub fn delta_for(&self, call_ns: f64) -> f64 {
        let share = || self.delta_share.map(|share| share * call_ns);
        let usual = || (call_ns / 1000.0).max((call_ns / 10.0).min(1.0)).max(self.delta_least_ns);
        self.delta_ns.or_else(share).unwrap_or_else(usual)
    }

    /// Returns the number of batches for each planned evaluation.
    #[must_use]
    pub fn looks(&self) -> Vec<usize> {
        (0..self.looks).map(|look| self.first << look).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_make_no_sense_are_refused_by_name() {
        let usual = Settings::default;
        let refused = |settings: Settings| {
            let panic = std::panic::catch_unwind(|| settings.check()).expect_err("a panic");
            panic.downcast_ref::<String>().expect("a message").split(':').nth(2).unwrap().to_owned()
        };
        let with = |delta_ns| refused(Settings { delta_ns: Some(delta_ns), ..usual() });
        assert_eq!(with(f64::NAN), "delta_ns is NaN");
        assert_eq!(with(1e308), "delta_ns is 1e308");
        assert_eq!([with(-1.0), with(f64::INFINITY)], ["delta_ns is -1.0", "delta_ns is inf"]);
        assert_eq!(refused(Settings { delta_share: Some(f64::NAN), ..usual() }), "delta_share is NaN");
        assert_eq!(refused(Settings { delta_least_ns: f64::NAN, ..usual() }), "delta_least_ns is NaN");
        assert_eq!(refused(Settings { alpha: 0.0, ..usual() }), "alpha is 0.0");
        assert_eq!(refused(Settings { looks: 0, ..usual() }), "looks is 0");
        assert_eq!(refused(Settings { first: 0, ..usual() }), "first is 0");
        assert_eq!(refused(Settings { pairs: 0, ..usual() }), "pairs is 0");
        for delta_ns in [0.0, 1.0, LARGEST] {
            Settings { delta_ns: Some(delta_ns), ..usual() }.check();
        }
        Settings::quick().check();
    }

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
