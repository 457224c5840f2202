//! Cut points: the times at which two distributions are compared. The cut points come from a warm-up that ignores the
//! classes.

/// Number of statistics in a score: the cut points, then the two winsorized means. A constant width lets the compiler
/// keep a score in vector registers.
pub(crate) const WIDTH: usize = 24;
/// Number of winsorized means in a score.
const MEANS: usize = 2;

const LEVELS: [f64; 16] =
    [0.02, 0.05, 0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80, 0.90, 0.95, 0.98, 0.99, 0.995, 0.999];

/// The contribution of a batch to the test: for each statistic, second class minus first.
pub(crate) type Score = [f32; WIDTH];

/// The points at which calls are counted, and the caps of the winsorized means, in ticks from the center of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Cuts {
    points: Vec<f32>,
    /// The 90 % and the 99 % quantile, each plus one step of the clock.
    caps: [f32; MEANS],
}

impl Cuts {
    /// Chooses cut points from times of both classes together. `step` is the clock's step.
    pub(crate) fn new(times: &mut [f32], step: f32) -> Self {
        times.sort_unstable_by(f32::total_cmp);
        let at = |level: f64| times[((times.len() - 1) as f64 * level).round() as usize];
        let mut points: Vec<f32> = LEVELS.iter().map(|&level| at(level)).collect();
        points.dedup();
        // Where many times are equal, further points beside the median make up the number, so that the test still works
        // if the times change during the run.
        let (middle, stride) = (at(0.5), step);
        for distance in 1..=WIDTH {
            for point in [middle + distance as f32 * stride, middle - distance as f32 * stride] {
                if points.len() < WIDTH - MEANS && !points.contains(&point) {
                    points.push(point);
                }
            }
        }
        // The caps lie a step above the quantile, so that a mean of times that hardly vary can still change.
        Self { points, caps: [at(0.90), at(0.99)].map(|cap| cap + step) }
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
        // The nine tenths of the times below the cap take ten ticks more each.
        assert!((score[WIDTH - 2] - 1800.0).abs() < 40.0, "{score:?}");
        assert_eq!(cuts.score(&a, &a), [0.0; WIDTH]);
    }
}
