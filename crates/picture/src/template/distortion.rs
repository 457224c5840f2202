//! Measures how much a picture was changed.

use std::ops::AddAssign;

/// The changes to the samples of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distortion {
    /// The sum of the squares of all differences.
    pub squares: u64,
    /// The number of samples that were changed.
    pub changed: u64,
    /// The number of samples of the picture.
    pub samples: u64,
}

impl Distortion {
    /// Returns the peak signal-to-noise ratio in decibels; infinite if nothing was changed.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn psnr(&self) -> f64 {
        10.0 * (255.0 * 255.0 * self.samples as f64 / self.squares as f64).log10()
    }
}

impl AddAssign for Distortion {
    fn add_assign(&mut self, other: Self) {
        self.squares += other.squares;
        self.changed += other.changed;
        self.samples += other.samples;
    }
}
