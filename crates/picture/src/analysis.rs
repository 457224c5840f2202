//! Compares a cover with the picture that was made from it to carry data, and runs five known detectors on the picture.
//!
//! Three methods (chi-square, RS and sample pairs) look for *low-bit replacement*: a sample 2k becomes 2k + 1 or stays,
//! and a sample 2k + 1 becomes 2k or stays. A sample 2k never becomes 2k − 1. The methods measure this effect: even
//! samples only increase, and odd samples only decrease. Templates, however, change samples by +1 as often as by −1.
//! The other two methods, [`hcf_com`] and [`adjacency_hcf_com`], look for changes by ±1. Trained classifiers find more
//! than these five methods. So a picture in which the five methods find nothing may still carry data.
//!
//! A *rate* is the share of the samples that carry a bit, from 0 to 1. Estimates are not clamped: for pictures without
//! data, estimates are as often below 0 as above 0. Each color has a separate estimate, and the estimate of a picture
//! is the mean of these estimates.
//!
//! ```
//! use deadpan_picture::{Channels, Pixels, analysis};
//!
//! let samples: Vec<u8> = (0..64 * 64).map(|at: u32| (at / 64 + at % 64) as u8).collect();
//! let cover = Pixels { width: 64, height: 64, channels: Channels::Gray, samples };
//! let mut result = cover.clone();
//! result.samples[7] += 1;
//!
//! let comparison = analysis::compare(&cover, &result)?;
//! assert_eq!((comparison.largest(), comparison.changed()), (1, 1.0 / 4096.0));
//! assert!(comparison.psnr() > 80.0);
//! # Ok::<(), deadpan_picture::Error>(())
//! ```

mod chi_square;
mod comparison;
mod gamma;
mod hcf_com;
mod rs;
mod sample_pairs;
#[cfg(test)]
mod tests;

pub use chi_square::{ChiSquare, chi_square, chi_square_curve};
pub use comparison::{Comparison, clipped, compare, difference};
pub use hcf_com::{adjacency_hcf_com, hcf_com};
pub use rs::rs;
pub use sample_pairs::sample_pairs;

use crate::Pixels;

/// The results of the five methods for one picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Findings {
    /// The chi-square attack on the whole picture.
    pub chi_square: ChiSquare,
    /// The rate that RS analysis estimates. `None` if the picture is too small.
    pub rs: Option<f64>,
    /// The rate that sample pair analysis estimates. `None` if the picture is too small.
    pub sample_pairs: Option<f64>,
    /// The ratio of the calibrated HCF-COM. Changes by ±1 lower this ratio. `None` if the picture is too small.
    pub hcf_com: Option<f64>,
    /// The ratio of the calibrated adjacency HCF-COM. Changes by ±1 lower this ratio. `None` if the picture is too
    /// small.
    pub adjacency_hcf_com: Option<f64>,
}

/// Runs the five methods on a picture.
#[must_use]
pub fn examine(picture: &Pixels) -> Findings {
    Findings {
        chi_square: chi_square(picture),
        rs: rs(picture),
        sample_pairs: sample_pairs(picture),
        hcf_com: hcf_com(picture),
        adjacency_hcf_com: adjacency_hcf_com(picture),
    }
}

/// The samples of one color.
struct Plane {
    width: usize,
    samples: Vec<u8>,
}

impl Plane {
    fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.samples.chunks_exact(self.width)
    }
}

/// For a picture without pixels, returns no planes.
fn planes(picture: &Pixels) -> impl Iterator<Item = Plane> {
    let channels = if picture.width == 0 { 0 } else { picture.channels.count() };
    (0..channels).map(move |channel| Plane {
        width: picture.width as usize,
        samples: picture.samples.chunks_exact(channels).map(|pixel| pixel[channel]).collect(),
    })
}

fn mean(picture: &Pixels, estimate: impl Fn(&Plane) -> Option<f64>) -> Option<f64> {
    let estimates: Vec<f64> = planes(picture).filter_map(|plane| estimate(&plane)).collect();
    (!estimates.is_empty()).then(|| estimates.iter().sum::<f64>() / estimates.len() as f64)
}

/// Returns the root of `a·x² + b·x + c` that is nearer to 0, as its real and its imaginary part. Where two curves only
/// touch, noise can move the curves apart, and then the roots are complex. Returns `None` if every number is a root, or
/// if no number is a root.
fn nearer_root(a: f64, b: f64, c: f64) -> Option<(f64, f64)> {
    let square = b * b - 4.0 * a * c;
    let root = if a == 0.0 {
        (-c / b, 0.0)
    } else if square < 0.0 {
        (-b / (2.0 * a), (-square).sqrt() / (2.0 * a))
    } else {
        // Adding two numbers of the same sign gives the root that is farther from 0 without cancellation. The product
        // of the two roots is c ÷ a.
        let sum = -(b + square.sqrt().copysign(b)) / 2.0;
        (if sum == 0.0 { 0.0 } else { c / sum }, 0.0)
    };
    (root.0.is_finite() && root.1.is_finite()).then_some(root)
}
