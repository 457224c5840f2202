//! Cut points are the times at which the test compares two distributions. The cut points are computed from a warm-up
//! that does not distinguish the classes.

use crate::record::Found;

/// The number of statistics in a score: first the statistics at the cut points, and then two winsorized means. A
/// constant number lets the compiler keep a score in vector registers.
pub(crate) const WIDTH: usize = 24;
/// The number of winsorized means in a score.
const MEANS: usize = 2;

const LEVELS: [f64; 16] =
    [0.02, 0.05, 0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80, 0.90, 0.95, 0.98, 0.99, 0.995, 0.999];

/// The values that one batch contributes to the test. For each statistic, the score is the value of the second class
/// minus the value of the first class.
pub(crate) type Score = [f32; WIDTH];

/// The cut points, and the caps of the winsorized means. All these times are in ticks, relative to the center of a
/// batch.
#[derive(Clone, Debug)]
pub(crate) struct Cuts {
    points: Vec<f32>,
    /// For each cut point, the share of the calls that do not take longer than the cut point. The list has no entries
    /// for the additional cut points next to the median.
    levels: Vec<f64>,
    /// The caps: the 90 % quantile and the 99 % quantile, each plus one clock step.
    caps: [f32; MEANS],
}

impl Cuts {
    /// Chooses cut points from times of both classes together. `step` is the clock's step.
    pub(crate) fn new(times: &mut [f32], step: f32) -> Self {
        times.sort_unstable_by(f32::total_cmp);
        let at = |level: f64| times[((times.len() - 1) as f64 * level).round() as usize];
        let (mut points, mut levels): (Vec<f32>, Vec<f64>) = Default::default();
        for level in LEVELS {
            // If the quantiles of several levels are equal, only the last of these levels is kept, because the cut
            // point counts all calls up to this time.
            if points.last() == Some(&at(level)) {
                levels.pop();
            } else {
                points.push(at(level));
            }
            levels.push(level);
        }
        // If many times are equal, the number of different cut points is too small. If there are too few cut points,
        // additional points next to the median are used, so that the test still works if the times change during the
        // run.
        let (middle, stride) = (at(0.5), step);
        for distance in 1..=WIDTH {
            for point in [middle + distance as f32 * stride, middle - distance as f32 * stride] {
                if points.len() < WIDTH - MEANS && !points.contains(&point) {
                    points.push(point);
                }
            }
        }
        // Each cap is one clock step above its quantile. Because of this additional step, the winsorized mean can
        // change even if the times hardly vary.
        Self { points, levels, caps: [at(0.90), at(0.99)].map(|cap| cap + step) }
    }

    /// Describes the statistic at the index `place` of a score. `sign` is the sign of the statistic's sum over the
    /// batches.
    pub(crate) fn found(&self, place: usize, sign: f32) -> Found {
        if let Some(mean) = place.checked_sub(WIDTH - MEANS) {
            let what = format!("a longer mean, with times capped at the {} % quantile,", ["90", "99"][mean]);
            return Found { what, second: sign > 0.0 };
        }
        let what = self.levels.get(place).map_or_else(
            || "more calls beyond a time near the median".to_owned(),
            |level| format!("more calls beyond the {} % quantile", (level * 1000.0).round() / 10.0),
        );
        // A score counts the calls that are not slower than the cut point, so a smaller count means slower calls.
        Found { what, second: sign < 0.0 }
    }

    /// Computes the score of a batch.
    pub(crate) fn score(&self, a: &[f32], b: &[f32]) -> Score {
        let mut score = [0.0; WIDTH];
        for (value, &cut) in score.iter_mut().zip(&self.points) {
            let below = |times: &[f32]| times.iter().map(|&time| u32::from(time <= cut)).sum::<u32>();
            *value = below(b) as f32 - below(a) as f32;
        }
        for (value, &cap) in score[WIDTH - MEANS..].iter_mut().zip(&self.caps) {
            let total = |times: &[f32]| times.iter().map(|&time| f64::from(time.min(cap))).sum::<f64>();
            *value = (total(b) - total(a)) as f32;
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_lowers_the_counts_below_the_cuts_and_raises_the_means() {
        let cuts = Cuts::new(&mut (0_u16..1000).map(f32::from).collect::<Vec<_>>(), 1.0);
        let a: Vec<f32> = (0_u16..200).map(|i| f32::from(i * 5)).collect();
        let b: Vec<f32> = a.iter().map(|time| time + 10.0).collect();
        let score = cuts.score(&a, &b);
        assert!(score[..WIDTH - 2].iter().all(|&value| value <= 0.0));
        // Nine tenths of all times are below the cap, and each of these times is ten ticks longer in the second class.
        assert!((score[WIDTH - 2] - 1800.0).abs() < 40.0, "{score:?}");
        assert_eq!(cuts.score(&a, &a), [0.0; WIDTH]);
    }

    #[test]
    fn a_finding_names_its_statistic_and_the_slower_class() {
        let cuts = Cuts::new(&mut (0_u16..1000).map(f32::from).collect::<Vec<_>>(), 1.0);
        let found = |place, sign| cuts.found(place, sign);
        assert_eq!(found(15, -7.0), Found { what: "more calls beyond the 99.9 % quantile".to_owned(), second: true });
        assert!(!found(15, 7.0).second && found(WIDTH - 1, 7.0).second);
        assert!(found(WIDTH - 1, 7.0).what.contains("99 %") && found(16, 1.0).what.contains("near the median"));
        // Half of the times are equal. The cut point at 500 therefore counts all the times that are equal to 500.
        let cuts = Cuts::new(&mut (0_u16..1000).map(|time| f32::from(time.max(500))).collect::<Vec<_>>(), 1.0);
        assert!(cuts.found(0, 1.0).what.contains("50 %") && cuts.found(1, 1.0).what.contains("60 %"));
    }
}
