//! The test computes the largest self-normalized statistic of the data, and compares this statistic with the largest
//! statistics after random sign flips of whole batches.
//!
//! Under the null hypothesis, a batch's score and the negative of this score are equally likely. The reason is that a
//! random bit decided which input of each pair came first, and that the classes differ in nothing else. Random sign
//! flips are therefore random draws from the null distribution itself (a randomization test), and the p-value is valid
//! for any noise.

use super::cuts::{Score, WIDTH};
use crate::random::Random;

/// The test stops when this number of random flips gave a result at least as extreme as the data. When the test stops,
/// the p-value is known precisely enough (Besag and Clifford 1991). If the data show no difference, the test reaches
/// this number after a few flips.
const ENOUGH: u32 = 20;

/// Returns the p-value of the scores over all statistics. `alpha` sets the maximum number of flips.
pub(crate) fn p_value(scores: &[Score], alpha: f64, random: &mut Random) -> f64 {
    let scale = scale(scores);
    tail(scores, alpha, random, |sums| largest(sums, &scale))
}

/// Returns the p-value of one statistic in one direction. The caller must have chosen the statistic and the direction
/// from other data.
pub(crate) fn p_value_at(scores: &[Score], (place, sign): (usize, f32), alpha: f64, random: &mut Random) -> f64 {
    tail(scores, alpha, random, |sums| sums[place] * sign)
}

/// Returns the index of the statistic with the largest absolute value, and the sign of this statistic.
pub(crate) fn strongest(scores: &[Score]) -> (usize, f32) {
    let (scale, sums) = (scale(scores), sums(scores, || !0));
    let size = |&place: &usize| (sums[place] * scale[place]).abs();
    let place = (0..WIDTH).max_by(|x, y| size(x).total_cmp(&size(y))).unwrap_or(0);
    (place, sums[place].signum())
}

/// Returns the share of random flips for which the value of `statistic` is at least as large as for the data.
fn tail(scores: &[Score], alpha: f64, random: &mut Random, statistic: impl Fn(&Score) -> f32) -> f64 {
    let flips = (4.0 / alpha).ceil() as u32;
    // Sums that are equal in theory may differ in the last bit, because floating-point addition depends on the order of
    // terms.
    let plain = statistic(&sums(scores, || !0));
    let observed = plain - plain.abs() * 1e-5;
    let mut extreme = 0;
    for flip in 1..=flips {
        let (mut bits, mut left) = (0, 0);
        let flipped = sums(scores, || {
            if left == 0 {
                (bits, left) = (random.bits(), 64);
            }
            let bit = bits & 1;
            (bits, left) = (bits >> 1, left - 1);
            bit
        });
        if statistic(&flipped) >= observed {
            extreme += 1;
            if extreme == ENOUGH {
                return f64::from(ENOUGH) / f64::from(flip);
            }
        }
    }
    f64::from(extreme + 1) / f64::from(flips + 1)
}

/// Returns the factor that normalizes each statistic: 1 divided by the square root of the sum of the squared scores.
/// Sign flips do not change this sum. The factor of a statistic that is always zero is zero.
fn scale(scores: &[Score]) -> Score {
    let mut squares = [0.0_f64; WIDTH];
    for score in scores {
        for (square, &value) in squares.iter_mut().zip(score) {
            *square += f64::from(value) * f64::from(value);
        }
    }
    squares.map(|square| if square > 0.0 { (1.0 / square.sqrt()) as f32 } else { 0.0 })
}

/// Returns the sum of each statistic over all batches. The sign of a batch is plus if `sign` returns an odd number, and
/// minus otherwise.
#[inline]
fn sums(scores: &[Score], mut sign: impl FnMut() -> u64) -> Score {
    let mut sums = [0.0; WIDTH];
    for score in scores {
        let sign = if sign() & 1 == 1 { 1.0 } else { -1.0 };
        for (sum, &value) in sums.iter_mut().zip(score) {
            *sum += sign * value;
        }
    }
    sums
}

fn largest(sums: &Score, scale: &Score) -> f32 {
    sums.iter().zip(scale).map(|(sum, scale)| (sum * scale).abs()).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(random: &mut Random, batches: usize, shift: f64, shape: impl Fn(&mut Random) -> f64) -> Vec<Score> {
        // A common term makes the statistics correlated, as the statistics of real cut points are.
        (0..batches)
            .map(|_| {
                let common = shape(random);
                std::array::from_fn(|_| (common + shape(random) + shift) as f32)
            })
            .collect()
    }

    fn rejected(runs: usize, batches: usize, alpha: f64, shift: f64, shape: impl Fn(&mut Random) -> f64) -> usize {
        let mut random = Random::new(5);
        (0..runs)
            .filter(|_| {
                p_value(&noise(&mut random, batches, shift, &shape), alpha, &mut Random::new(random.bits())) <= alpha
            })
            .count()
    }

    #[test]
    fn the_level_holds_for_normal_heavy_tailed_and_tied_scores() {
        // The limit is 5 % of 1000 plus four standard deviations.
        let bar = 50 + 28;
        assert!(rejected(1000, 16, 0.05, 0.0, Random::normal) <= bar);
        let cauchy = |random: &mut Random| random.normal() / random.normal();
        assert!(rejected(1000, 32, 0.05, 0.0, cauchy) <= bar);
        let tied = |random: &mut Random| (random.normal() * 0.4).round();
        assert!(rejected(1000, 16, 0.05, 0.0, tied) <= bar);
    }

    #[test]
    fn a_clear_shift_is_found_in_sixteen_batches() {
        assert!(rejected(100, 16, 0.01, 2.0, Random::normal) >= 95);
    }

    #[test]
    fn noise_that_grows_over_time_keeps_the_level() {
        let mut random = Random::new(11);
        let found = (0..500)
            .filter(|_| {
                let scores: Vec<Score> = (0..64)
                    .map(|batch| std::array::from_fn(|_| (random.normal() * f64::from(1 + batch * batch)) as f32))
                    .collect();
                p_value(&scores, 0.05, &mut Random::new(random.bits())) <= 0.05
            })
            .count();
        assert!(found <= 25 + 20, "{found}");
    }

    #[test]
    fn scores_of_zero_have_a_p_value_of_one() {
        assert!(p_value(&[[0.0; WIDTH]; 16], 0.01, &mut Random::new(1)) >= 1.0);
    }
}
