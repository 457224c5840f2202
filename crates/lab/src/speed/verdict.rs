//! Decides from an interval whether two speeds are the same. If the interval is too wide for a decision, the module
//! estimates how many more rounds would be needed.
//!
//! Two speeds are the *same* if the whole interval of their ratio lies inside the margin. Two speeds *differ* if the
//! whole interval lies beyond the margin. Otherwise the result is inconclusive. If two measurements of the same program
//! or function differ by more than the margin, the result is never "the same".

use crate::record::{Interval, Outcome};

/// The evidence of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence {
    /// The time of the second program or function divided by the time of the first program or function.
    pub(crate) ratio: Interval,
    /// The noise: the logarithm of the ratio between two measurements of the first program or function.
    pub(crate) noise: f64,
    /// The margin that the user requested. If the ratio is between 1 / (1 + `margin`) and 1 + `margin`, the speeds can
    /// be reported as the same.
    pub(crate) margin: f64,
}

impl Evidence {
    /// Returns the outcome. The margin applies to the ratio and to its inverse, so that half the speed and twice the
    /// speed are treated in the same way. A difference is significant only if it is more than twice the noise.
    pub(crate) fn outcome(&self) -> Outcome {
        let Interval { lower, upper, .. } = self.ratio;
        let (inside, beyond) = (1.0 + self.margin, (1.0 + self.margin).max((2.0 * self.noise).exp()));
        if lower > beyond {
            Outcome::Slower
        } else if upper < 1.0 / beyond {
            Outcome::Faster
        } else if upper <= inside && lower >= 1.0 / inside && self.noise <= self.margin.ln_1p() {
            Outcome::Same
        } else {
            Outcome::Inconclusive
        }
    }

    /// Returns about how many rounds are needed in addition to `rounds`, or `None` if the outcome is settled.
    ///
    /// The function assumes that the interval and the noise shrink in inverse proportion to the square root of the
    /// number of rounds. If the estimate is close to the limit of the margin, its distance from the limit is uncertain.
    /// The function then assumes half of the interval's half width as the distance, but at most half of the margin.
    pub(crate) fn further(&self, rounds: usize) -> Option<u64> {
        if self.outcome() != Outcome::Inconclusive {
            return None;
        }
        let [lower, estimate, upper] = [self.ratio.lower, self.ratio.estimate, self.ratio.upper].map(f64::ln);
        let (away, margin) = (estimate.abs(), self.margin.ln_1p());
        let reach = (upper - estimate).max(estimate - lower).max(f64::MIN_POSITIVE);
        let room = (away - margin).abs().max(margin.min(reach) / 2.0) / reach;
        let quiet = if away < margin { margin / self.noise } else { away / (reach + 2.0 * self.noise) };
        // The conversion limits large values to the largest `u64`, and converts NaN to zero.
        let needed = (rounds as f64 / room.min(quiet).powi(2)).ceil() as u64;
        Some(rounded(needed.saturating_sub(rounds as u64)))
    }
}

/// Rounds the number up, to a number with two significant digits. The result is at least one.
fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(1));
    number.max(1).div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(lower: f64, estimate: f64, upper: f64) -> Evidence {
        Evidence { ratio: Interval { lower, estimate, upper }, noise: 0.0, margin: 0.01 }
    }

    /// Regression: the lab reported an interval from 0.27 to 2.51 as "the same within 57.5 %".
    #[test]
    fn an_interval_beyond_the_margin_on_both_sides_is_inconclusive() {
        let wide = Evidence { noise: 0.2877, ..evidence(0.27, 1.0, 2.51) };
        assert_eq!(wide.outcome(), Outcome::Inconclusive);
        assert!(wide.further(20).is_some_and(|rounds| rounds > 20_000), "{:?}", wide.further(20));
    }

    #[test]
    fn the_interval_alone_decides() {
        for (lower, upper, outcome) in [
            (0.995, 1.005, Outcome::Same),
            (0.9901, 1.01, Outcome::Same),
            (0.995, 1.0101, Outcome::Inconclusive),
            (0.9899, 1.005, Outcome::Inconclusive),
            (1.005, 1.2, Outcome::Inconclusive),
            (1.0101, 1.2, Outcome::Slower),
            (0.8, 0.99, Outcome::Faster),
            (0.8, 0.9902, Outcome::Inconclusive),
        ] {
            assert_eq!(evidence(lower, (lower * upper).sqrt(), upper).outcome(), outcome, "{lower} to {upper}");
        }
    }

    #[test]
    fn noise_above_the_margin_allows_no_claim_of_equality() {
        let noisy = |noise| Evidence { noise, ..evidence(0.995, 1.0, 1.005) };
        assert_eq!(noisy(0.009).outcome(), Outcome::Same);
        assert_eq!(noisy(0.011).outcome(), Outcome::Inconclusive);
        let apart = |noise| Evidence { noise, ..evidence(1.03, 1.04, 1.05) };
        assert_eq!(apart(0.014).outcome(), Outcome::Slower);
        assert_eq!(apart(0.016).outcome(), Outcome::Inconclusive);
    }

    #[test]
    fn the_number_of_further_rounds_follows_the_width_of_the_interval() {
        assert_eq!(evidence(0.995, 1.0, 1.005).further(20), None);
        // The interval is twice as wide as the margin, so four times as many rounds are needed.
        let twice = evidence((-2.0 * 0.01_f64.ln_1p()).exp(), 1.0, (2.0 * 0.01_f64.ln_1p()).exp());
        assert!(twice.further(20).is_some_and(|more| (60..=61).contains(&more)), "{:?}", twice.further(20));
        // The difference is 6 %, and its interval extends 6 % to both sides. The distance to the margin is 5 %.
        let apart = evidence((0.0_f64).exp(), 0.06_f64.exp(), 0.12_f64.exp());
        assert!(apart.further(100).is_some_and(|more| (40..=50).contains(&more)), "{:?}", apart.further(100));
        // Regression: for this interval, the lab estimated that only one more round would be needed.
        let narrow = evidence(1.0065, 1.0086, 1.0102);
        assert!(narrow.further(203).is_some_and(|more| (200..=400).contains(&more)), "{:?}", narrow.further(203));
        // If the estimate is at the limit of the margin, the number of additional rounds is large but finite.
        let border = evidence(0.99, 1.01, 1.03);
        assert!(border.further(20).is_some_and(|more| more > 100 && more < 1000), "{:?}", border.further(20));
    }

    #[test]
    fn numbers_of_rounds_have_two_digits() {
        assert_eq!([0, 1, 99, 101, 1999, 12_345].map(rounded), [1, 1, 99, 110, 2000, 13_000]);
        assert!(rounded(u64::MAX) > 1 << 63);
    }

    #[test]
    fn intervals_that_are_no_numbers_are_inconclusive() {
        for (lower, upper) in [(0.0, f64::INFINITY), (f64::NAN, f64::NAN), (0.0, 0.0)] {
            let odd = evidence(lower, 1.0, upper);
            if lower.is_nan() || upper > 0.0 {
                assert_eq!(odd.outcome(), Outcome::Inconclusive);
                assert!(odd.further(3).is_some_and(|more| more > 0));
            }
        }
    }
}
