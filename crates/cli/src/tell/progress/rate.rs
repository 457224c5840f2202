//! The rate of the work over the last seconds. The average since the start is too high, since the first gigabytes of a
//! file go into the page cache, which is faster than the disk.

use std::collections::VecDeque;
use std::time::Duration;

/// The time over which the rate is measured.
const SPAN: Duration = Duration::from_secs(3);

/// Measurements of the last seconds.
#[derive(Default)]
pub struct Rate {
    /// Pairs of the time since the start and the number of bytes processed until that time, oldest first.
    samples: VecDeque<(Duration, u64)>,
}

impl Rate {
    /// Adds a measurement: `done` bytes were processed at the time `elapsed`.
    pub fn add(&mut self, elapsed: Duration, done: u64) {
        if self.samples.is_empty() {
            self.samples.push_back((Duration::ZERO, 0));
        }
        self.samples.push_back((elapsed, done));
        // Removes the samples that are at least as old as the span, except the newest of these samples.
        while self.samples.get(1).is_some_and(|(at, _)| elapsed.saturating_sub(*at) >= SPAN) {
            self.samples.pop_front();
        }
    }

    /// Returns the bytes per second over the last seconds, or 0 without two measurements.
    pub fn per_second(&self) -> f64 {
        let (Some((since, before)), Some((now, done))) = (self.samples.front(), self.samples.back()) else {
            return 0.0;
        };
        let seconds = now.saturating_sub(*since).as_secs_f64();
        if seconds > 0.0 { done.saturating_sub(*before) as f64 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut rate = Rate::default();
        assert_eq!(rate.per_second(), 0.0);
        // Ten seconds at 1000 bytes a second, then ten seconds at 10 bytes a second.
        (1..=40).for_each(|quarter| rate.add(Duration::from_millis(quarter * 250), quarter * 250));
        assert_eq!(rate.per_second(), 1000.0);
        (1..=40).for_each(|quarter| rate.add(Duration::from_millis(10_000 + quarter * 250), 10_000 + quarter * 5 / 2));
        assert!((9.0..=11.0).contains(&rate.per_second()), "{}", rate.per_second());
        assert!(rate.samples.len() < 25, "{}", rate.samples.len());
        // A pause lowers the rate.
        rate.add(Duration::from_secs(120), 10_100);
        assert!(rate.per_second() < 1.0, "{}", rate.per_second());
    }
}
