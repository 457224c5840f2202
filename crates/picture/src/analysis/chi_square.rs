//! The chi-square attack.

use super::gamma::chi_square_tail;
use crate::Pixels;

/// The outcome of the chi-square attack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    /// The statistic. If all samples carry replaced bits, the mean of the statistic is half of `freedom`.
    pub statistic: f64,
    /// The degrees of freedom.
    pub freedom: u32,
    /// The probability of embedding, as the paper calls it: near 1 if the values of each pair are equally frequent.
    pub p: f64,
}

impl ChiSquare {
    /// Returns the statistic divided by the degrees of freedom: about 0.5 after replacement, and far above 1 in most
    /// covers. Returns `None` if the picture has too few samples.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.freedom > 0).then(|| self.statistic / f64::from(self.freedom))
    }
}

/// Runs the chi-square attack on all samples of a picture.
///
/// Low-bit replacement makes the two values of each pair 2k, 2k + 1 equally frequent, while their sum stays the same.
/// The statistic compares the frequency of 2k with half of the sum: A. Westfeld, A. Pfitzmann, "Attacks on
/// Steganographic Systems" (Information Hiding 1999), section 4.2. As in the paper, pairs with an expected frequency of
/// 4 or less are combined into one pair. Each color has separate pairs. The method adds up the statistics of the
/// colors, and also adds up their degrees of freedom.
#[must_use]
pub fn chi_square(picture: &Pixels) -> ChiSquare {
    evaluate(&count(&picture.samples, picture.channels.count()))
}

/// Runs the chi-square attack on the first 1 ÷ `steps` of a picture, on the first 2 ÷ `steps`, and so on up to the
/// whole picture.
///
/// If low-bit replacement starts at the top of a picture, the curve is near 1 and falls where the data end: A.
/// Westfeld, A. Pfitzmann, "Attacks on Steganographic Systems" (Information Hiding 1999), section 4.2, figures 9 to 11.
#[must_use]
pub fn chi_square_curve(picture: &Pixels, steps: usize) -> Vec<ChiSquare> {
    let channels = picture.channels.count();
    let pixels = picture.samples.len() / channels;
    let mut counts = vec![[0; 256]; channels];
    let mut done = 0;
    (1..=steps)
        .map(|step| {
            let end = pixels as u128 * step as u128 / steps as u128;
            let end = end as usize * channels;
            for (counts, more) in counts.iter_mut().zip(count(&picture.samples[done..end], channels)) {
                counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            }
            done = end;
            evaluate(&counts)
        })
        .collect()
}

/// Counts the values of each color.
fn count(samples: &[u8], channels: usize) -> Vec<[u64; 256]> {
    let mut counts = vec![[0; 256]; channels];
    for pixel in samples.chunks_exact(channels) {
        for (counts, &sample) in counts.iter_mut().zip(pixel) {
            counts[usize::from(sample)] += 1;
        }
    }
    counts
}

fn evaluate(colors: &[[u64; 256]]) -> ChiSquare {
    let (statistic, freedom) =
        colors.iter().map(evaluate_color).fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    ChiSquare { statistic, freedom, p: if freedom == 0 { 0.0 } else { chi_square_tail(statistic, freedom) } }
}

fn evaluate_color(counts: &[u64; 256]) -> (f64, u32) {
    let (mut statistic, mut categories) = (0.0, 0_u32);
    let (mut rare, mut rare_expected) = (0.0, 0.0);
    let mut add = |observed: f64, expected: f64| {
        statistic += (observed - expected).powi(2) / expected;
        categories += 1;
    };
    for pair in counts.chunks_exact(2) {
        let (observed, expected) = (pair[0] as f64, (pair[0] + pair[1]) as f64 / 2.0);
        if expected > 4.0 {
            add(observed, expected);
        } else {
            rare += observed;
            rare_expected += expected;
        }
    }
    if rare_expected > 4.0 {
        add(rare, rare_expected);
    }
    (statistic, categories.saturating_sub(1))
}
