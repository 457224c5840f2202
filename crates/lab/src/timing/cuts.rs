//! Cut points: where the distribution of times is looked at. They come from a warm-up that does not know the classes.

/// Statistics in a score: cut points, then the two winsorised means. A fixed number lets the compiler keep them in vector registers.
pub(crate) const WIDTH: usize = 24;
/// Of these, the winsorised means.
const MEANS: usize = 2;

const LEVELS: [f64; 16] = [0.02, 0.05, 0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80, 0.90, 0.95, 0.98, 0.99, 0.995, 0.999];

/// What a batch adds to the test: for each statistic, second class minus first.
pub(crate) type Score = [f32; WIDTH];

/// Where counts are taken, and where means are winsorised. In ticks.
#[derive(Clone, Debug)]
pub(crate) struct Cuts {
    points: Vec<u32>,
    /// A step of the clock above the 90 and the 99 % quantile.
    pub(crate) caps: [u32; MEANS],
    /// Where the median may lie before the cut points no longer describe the times.
    range: [u32; 2],
}

impl Cuts {
    /// From times whose classes are not known; `step` is the clock's.
    pub(crate) fn new(times: &mut [u32], step: u32) -> Self {
        times.sort_unstable();
        let at = |level: f64| times[((times.len() - 1) as f64 * level).round() as usize];
        let mut points: Vec<u32> = LEVELS.iter().map(|&level| at(level)).collect();
        points.dedup();
        // A coarse clock shows two or three values; their neighbours, or those of a finer clock's median, keep the test seeing when the
        // machine's speed changes.
        let (middle, stride) = (at(0.5), step.max(at(0.5) / 32));
        for distance in 1..=WIDTH as u32 {
            for point in [middle.saturating_add(distance * stride), middle.saturating_sub(distance * stride)] {
                if points.len() < WIDTH - MEANS && !points.contains(&point) {
                    points.push(point);
                }
            }
        }
        // A step above the quantile: on a coarse clock nine calls in ten may share one value, and a mean capped there would never move.
        let range = [points.iter().min(), points.iter().max()].map(|end| end.copied().unwrap_or(middle));
        Self { points, range, caps: [at(0.90), at(0.99)].map(|cap| cap.saturating_add(step)) }
    }

    /// The score of a batch.
    pub(crate) fn score(&self, a: &[u32], b: &[u32]) -> Score {
        let mut score = [0.0; WIDTH];
        for (value, &cut) in score.iter_mut().zip(&self.points) {
            let below = |times: &[u32]| times.iter().map(|&time| u32::from(time <= cut)).sum::<u32>();
            *value = below(b) as f32 - below(a) as f32;
        }
        for (value, &cap) in score[WIDTH - MEANS..].iter_mut().zip(&self.caps) {
            let total = |times: &[u32]| times.iter().map(|&time| u64::from(time.min(cap))).sum::<u64>();
            *value = total(b) as f32 - total(a) as f32;
        }
        score
    }

    /// Whether the times have moved away from all cut points, so that nothing can be seen any more.
    pub(crate) fn blind(&self, times: &mut [u32]) -> bool {
        if times.is_empty() {
            return false;
        }
        let middle = times.len() / 2;
        let median = *times.select_nth_unstable(middle).1;
        !(self.range[0]..=self.range[1]).contains(&median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shifted_batch_scores_at_the_cut_between_and_in_the_means() {
        let cuts = Cuts::new(&mut (0..1000).collect::<Vec<_>>(), 1);
        let a: Vec<u32> = (0..200).map(|i| i * 5).collect();
        let b: Vec<u32> = a.iter().map(|time| time + 10).collect();
        let score = cuts.score(&a, &b);
        assert!(score[..WIDTH - 2].iter().all(|&value| value <= 0.0));
        // Ten ticks more for each of the nine tenths below the cap.
        assert!((score[WIDTH - 2] - 1800.0).abs() < 40.0, "{score:?}");
        assert_eq!(cuts.score(&a, &a), [0.0; WIDTH]);
    }

    #[test]
    fn a_distribution_that_left_all_cuts_is_noticed() {
        let cuts = Cuts::new(&mut (0..1000).collect::<Vec<_>>(), 1);
        assert!(!cuts.blind(&mut (400..600).collect::<Vec<_>>()));
        assert!(cuts.blind(&mut (2000..2100).collect::<Vec<_>>()));
    }
}
