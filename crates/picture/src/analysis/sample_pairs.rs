//! Sample pair analysis.

use super::{Plane, mean, nearer_root};
use crate::Pixels;

/// The number of combined trace sets, as in the paper's experiments; in the paper, this number is j + 1.
const SETS: usize = 31;

/// Estimates the rate of low-bit replacement by sample pair analysis.
///
/// The method sorts pairs of neighbors (u, v) by their difference. In a photograph, pairs with an odd difference 2m + 1
/// go upward from an even sample (the set X) as often as from an odd sample (the set Y). Replacement moves pairs to
/// other sets with known probabilities, so the rate follows from a quadratic equation: S. Dumitrescu, X. Wu, Z. Wang,
/// "Detection of LSB Steganography via Sample Pair Analysis" (IEEE Transactions on Signal Processing 51, 2003), section
/// III, with the trace sets 0 to 30 taken together. The pairs are all horizontal and vertical neighbors of one color.
///
/// Returns `None` if the picture is too small.
#[must_use]
pub fn sample_pairs(picture: &Pixels) -> Option<f64> {
    mean(picture, estimate)
}

fn estimate(plane: &Plane) -> Option<f64> {
    let mut pairs = Pairs { odd: [0; 256], even: [0; 256] };
    for row in plane.rows() {
        pairs.add(row, &row[1..]);
    }
    for (row, next) in plane.rows().zip(plane.rows().skip(1)) {
        pairs.add(row, next);
    }
    pairs.estimate()
}

/// The number of pairs (u, v) with each difference |u − v|. Pairs whose larger sample is even and pairs whose larger
/// sample is odd are counted separately.
struct Pairs {
    odd: [u64; 256],
    even: [u64; 256],
}

impl Pairs {
    fn add(&mut self, these: &[u8], those: &[u8]) {
        for (&u, &v) in these.iter().zip(those) {
            let difference = usize::from(u.abs_diff(v));
            if u.max(v) % 2 == 1 { self.odd[difference] += 1 } else { self.even[difference] += 1 }
        }
    }

    fn estimate(&self) -> Option<f64> {
        let with = |difference: usize| (self.odd[difference] + self.even[difference]) as f64;
        // A pair with the difference 2m + 1 is in the set X if its larger sample is even. In X, the samples without
        // their lowest bits differ by m + 1. In Y, the samples without their lowest bits differ by m.
        let x = |m: usize| self.even[2 * m + 1] as f64;
        let y = |m: usize| self.odd[2 * m + 1] as f64;
        // The trace set C: pairs whose samples without their low bits differ by m.
        let c = |m: usize| if m == 0 { with(0) + y(0) } else { with(2 * m) + x(m - 1) + y(m) };
        let surplus: f64 = (0..SETS).map(|m| y(m) - x(m)).sum();
        let root =
            nearer_root((2.0 * c(0) - c(SETS)) / 4.0, -(2.0 * with(0) - with(2 * SETS) + 2.0 * surplus) / 2.0, surplus);
        root.map(|(rate, _)| rate)
    }
}
