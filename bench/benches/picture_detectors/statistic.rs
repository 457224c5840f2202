//! Thresholds, rates and their intervals.

/// The share of the covers (pictures without data) that may raise a false alarm.
pub const FALSE_ALARMS: f64 = 0.05;

/// Returns a threshold that at most 5 % of the given scores exceed.
pub fn threshold(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let above = (scores.len() as f64 * FALSE_ALARMS) as usize;
    sorted[scores.len() - 1 - above]
}

#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// The number of alarms.
    pub alarms: usize,
    /// The number of all scores.
    pub all: usize,
}

impl Rate {
    pub fn of(scores: &[f64], threshold: f64) -> Self {
        Self { alarms: scores.iter().filter(|&&score| score > threshold).count(), all: scores.len() }
    }

    /// Returns the share of alarms.
    pub fn share(self) -> f64 {
        self.alarms as f64 / self.all as f64
    }

    /// Returns the interval that contains the true rate with 95 % confidence (Wilson's score interval).
    pub fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.959_963_985;
        let all = self.all as f64;
        let (share, scale) = (self.share(), 1.0 + Z * Z / all);
        let center = (share + Z * Z / (2.0 * all)) / scale;
        let half = Z * (share * (1.0 - share) / all + Z * Z / (4.0 * all * all)).sqrt() / scale;
        ((center - half).max(0.0), (center + half).min(1.0))
    }
}

/// Returns the area under the curve of the detection rate over the false alarm rate. The area is the probability that a
/// picture with data has a higher score than a cover. A tie counts half.
pub fn area(covers: &[f64], with_data: &[f64]) -> f64 {
    let wins = with_data.iter().flat_map(|one| {
        covers.iter().map(move |cover| match one.total_cmp(cover) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        })
    });
    wins.sum::<f64>() / (covers.len() * with_data.len()) as f64
}
