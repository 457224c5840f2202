//! RS analysis.

use super::{Plane, mean, nearer_root};
use crate::Pixels;

/// The number of samples in a group. The two middle samples of a group are flipped, according to the mask 0 1 1 0.
const GROUP: usize = 4;

/// Estimates the rate of low-bit replacement by RS analysis.
///
/// The method flips samples in groups of four. The method counts the groups that become rougher (*regular*) or smoother
/// (*singular*), with the flips 2k ↔ 2k + 1 and with the flips 2k ↔ 2k − 1. In a photograph, both kinds of flips give
/// the same counts. Replacement makes the counts differ, and the rate follows from a quadratic equation: J. Fridrich,
/// M. Goljan, R. Du, "Reliable Detection of LSB Steganography in Color and Grayscale Images" (ACM Multimedia and
/// Security 2001), section 3, equation (4). The groups are four samples of one color in a row, and do not overlap.
///
/// Returns `None` if the picture is too small.
#[must_use]
pub fn rs(picture: &Pixels) -> Option<f64> {
    mean(picture, estimate)
}

fn estimate(plane: &Plane) -> Option<f64> {
    let mut differences = Differences::default();
    for row in plane.rows() {
        for group in row.as_chunks::<GROUP>().0 {
            differences.add(group);
        }
    }
    let [plus, minus, plus_flipped, minus_flipped] = differences.0.map(|difference| difference as f64);
    let (a, b, c) = (2.0 * (plus_flipped + plus), minus - minus_flipped - plus_flipped - 3.0 * plus, plus - minus);
    let (x, imaginary) = nearer_root(a, b, c)?;
    // The real part of x ÷ (x − ½). At the rate 1, x is infinite, and noise makes x complex in half of the pictures.
    let (from_pole, square) = (x - 0.5, imaginary * imaginary);
    let rate = (x * from_pole + square) / (from_pole * from_pole + square);
    (differences.1 > 0 && rate.is_finite()).then_some(rate)
}

/// The number of regular groups minus the number of singular groups, for the flips 2k ↔ 2k + 1 and for the flips 2k ↔
/// 2k − 1. The groups are counted in the picture, and in the picture with all low bits flipped. The second field counts
/// the groups.
#[derive(Default)]
struct Differences([i64; 4], u64);

impl Differences {
    fn add(&mut self, group: &[u8; GROUP]) {
        let group = group.map(i16::from);
        let flipped = group.map(plus);
        for (at, group) in [group, flipped].into_iter().enumerate() {
            let before = roughness(group);
            for (flip, to) in [plus, minus].into_iter().zip([0, 1]) {
                let after = roughness([group[0], flip(group[1]), flip(group[2]), group[3]]);
                self.0[2 * at + to] += i64::from((after - before).signum());
            }
        }
        self.1 += 1;
    }
}

/// The flip 2k ↔ 2k + 1.
fn plus(sample: i16) -> i16 {
    sample ^ 1
}

/// The flip 2k ↔ 2k − 1. The result for 0 is −1, and the result for 255 is 256, as in the paper.
fn minus(sample: i16) -> i16 {
    ((sample + 1) ^ 1) - 1
}

/// The discrimination function of the paper: the sum of the absolute differences between neighbors.
fn roughness(group: [i16; GROUP]) -> i16 {
    (group[1] - group[0]).abs() + (group[2] - group[1]).abs() + (group[3] - group[2]).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_undo_themselves() {
        for sample in 0..=255 {
            assert_eq!(plus(plus(sample)), sample);
            assert_eq!(minus(minus(sample)), sample);
            assert_eq!((plus(sample) - sample) + (minus(sample) - sample), 0);
        }
        assert_eq!((minus(0), minus(255), minus(7), minus(8)), (-1, 256, 8, 7));
    }
}
