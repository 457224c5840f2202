//! The center of mass of a histogram's characteristic function, divided by the center of mass for the picture at half
//! the size.

use std::array;
use std::f64::consts::TAU;

use super::{Plane, mean};
use crate::Pixels;

/// The number of possible values of a sample.
const VALUES: usize = 256;
/// The number of different frequencies in the Fourier transform of a histogram. The other frequencies mirror these.
const FREQUENCIES: usize = VALUES / 2;

/// Compares how smooth a picture's histogram is with the smoothness of the histogram at half the picture's size: the
/// calibrated HCF-COM.
///
/// Changes by ±1 are noise that is added to the samples, so they smooth the histogram. The high frequencies of the
/// histogram's Fourier transform (the *histogram characteristic function*) become weaker, and the transform's center of
/// mass moves down. The method divides this center of mass by the center of mass for the picture at half the size, in
/// which each sample is the mean of 2 × 2 samples, rounded down. The mean removes most of the changes, so the small
/// picture serves as an approximation of the cover: A. D. Ker, "Steganalysis of LSB Matching in Grayscale Images" (IEEE
/// Signal Processing Letters 12, 2005). The small picture does not include a last row or column that has no neighbor.
///
/// Returns the ratio of the two centers of mass: about 1 for many covers, and less after changes. The method needs no
/// training. But covers differ from each other, so a ratio alone proves little. Returns `None` if the picture is too
/// small.
#[must_use]
pub fn hcf_com(picture: &Pixels) -> Option<f64> {
    mean(picture, |plane| Some(center(plane) / center(&plane.half()?)))
}

/// Makes the same comparison as [`hcf_com`] for the histogram of pairs of neighbors: the calibrated adjacency HCF-COM,
/// from the same paper.
///
/// Neighboring samples in a photograph are similar, so the histogram of pairs is narrow, and changes by ±1 smooth it
/// more than the histogram of single samples. The pairs are all horizontal neighbors of one color. Returns the ratio of
/// the two centers of mass, as [`hcf_com`] does, or `None` if the picture is too small.
#[must_use]
pub fn adjacency_hcf_com(picture: &Pixels) -> Option<f64> {
    mean(picture, |plane| {
        let half = plane.half().filter(|half| half.width > 1)?;
        Some(adjacency_center(plane) / adjacency_center(&half))
    })
}

impl Plane {
    /// Returns the means of 2 × 2 samples, or `None` if there are no 2 × 2 samples.
    fn half(&self) -> Option<Self> {
        let pairs = |row: &[u8]| row.as_chunks::<2>().0.to_vec();
        let rows = self.samples.chunks_exact(2 * self.width).flat_map(|rows| {
            let (upper, lower) = rows.split_at(self.width);
            pairs(upper).into_iter().zip(pairs(lower))
        });
        let sum = |(upper, lower): ([u8; 2], [u8; 2])| upper.into_iter().chain(lower).map(u16::from).sum::<u16>();
        let samples: Vec<u8> = rows.map(|four| (sum(four) / 4) as u8).collect();
        (!samples.is_empty()).then_some(Self { width: self.width / 2, samples })
    }
}

/// Returns the center of mass of the characteristic function of the samples.
fn center(plane: &Plane) -> f64 {
    let mut histogram = [Complex::default(); VALUES];
    plane.samples.iter().for_each(|&sample| histogram[usize::from(sample)].0 += 1.0);
    FourierTransform::new().run(&mut histogram);
    center_of_mass(histogram[..FREQUENCIES].iter().enumerate().map(|(at, value)| (at, value.magnitude())))
}

/// Returns the center of mass of the characteristic function of the horizontal pairs.
fn adjacency_center(plane: &Plane) -> f64 {
    let mut histogram = vec![[Complex::default(); VALUES]; VALUES];
    for row in plane.rows() {
        row.iter().zip(&row[1..]).for_each(|(&left, &right)| histogram[usize::from(left)][usize::from(right)].0 += 1.0);
    }
    let transform = FourierTransform::new();
    histogram.iter_mut().for_each(|row| transform.run(row));
    let columns = (0..FREQUENCIES).flat_map(|column| {
        let mut values: [Complex; VALUES] = array::from_fn(|row| histogram[row][column]);
        transform.run(&mut values);
        (0..FREQUENCIES).map(move |row| (row + column, values[row].magnitude()))
    });
    center_of_mass(columns)
}

fn center_of_mass(magnitudes: impl Iterator<Item = (usize, f64)>) -> f64 {
    let (moments, masses) = magnitudes.fold((0.0, 0.0), |(moments, masses), (frequency, magnitude)| {
        (moments + frequency as f64 * magnitude, masses + magnitude)
    });
    moments / masses
}

#[derive(Clone, Copy, Default)]
struct Complex(f64, f64);

impl Complex {
    fn magnitude(self) -> f64 {
        self.0.hypot(self.1)
    }
}

/// The Fourier transform of 256 numbers: radix 2, in place.
struct FourierTransform {
    /// The roots of unity.
    roots: [Complex; FREQUENCIES],
}

impl FourierTransform {
    fn new() -> Self {
        let root = |at: usize| (-TAU * at as f64 / VALUES as f64).sin_cos();
        Self { roots: array::from_fn(|at| Complex(root(at).1, root(at).0)) }
    }

    fn run(&self, values: &mut [Complex; VALUES]) {
        for at in 0..VALUES {
            let other = usize::from((at as u8).reverse_bits());
            if at < other {
                values.swap(at, other);
            }
        }
        let mut half = 1;
        while half < VALUES {
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for (at, (low, high)) in low.iter_mut().zip(high).enumerate() {
                    let root = self.roots[at * (FREQUENCIES / half)];
                    let turned = Complex(high.0 * root.0 - high.1 * root.1, high.0 * root.1 + high.1 * root.0);
                    (*low, *high) =
                        (Complex(low.0 + turned.0, low.1 + turned.1), Complex(low.0 - turned.0, low.1 - turned.1));
                }
            }
            half *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(width: usize, samples: impl Into<Vec<u8>>) -> Plane {
        Plane { width, samples: samples.into() }
    }

    #[test]
    fn the_transform_agrees_with_its_definition() {
        let mut state = 1_u32;
        let mut values: [Complex; VALUES] = array::from_fn(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Complex(f64::from(state >> 16), f64::from(state & 0xffff))
        });
        let before = values;
        FourierTransform::new().run(&mut values);
        for (frequency, found) in values.into_iter().enumerate() {
            let sum = before.iter().enumerate().fold(Complex::default(), |sum, (at, value)| {
                let (sine, cosine) = (-TAU * (frequency * at % VALUES) as f64 / VALUES as f64).sin_cos();
                Complex(sum.0 + value.0 * cosine - value.1 * sine, sum.1 + value.0 * sine + value.1 * cosine)
            });
            assert!((found.0 - sum.0).abs() < 1e-4 && (found.1 - sum.1).abs() < 1e-4, "{frequency}");
        }
    }

    #[test]
    fn centers_agree_with_closed_forms() {
        // All frequencies of the histogram of a single value are equally strong, and their mean is 63.5. For pairs, the
        // mean of the sum of two frequencies is 127.
        assert!((center(&plane(9, [77; 90])) - 63.5).abs() < 1e-9);
        assert!((adjacency_center(&plane(9, [77; 90])) - 127.0).abs() < 1e-9);
        // If all values are equally frequent, only the frequency 0 is not zero.
        assert!(center(&plane(16, (0..=255).collect::<Vec<u8>>())) < 1e-9);
        // For two equally frequent values that are 3 apart, the magnitudes are |cos(3πf ÷ 256)|.
        let magnitude = |f: usize| (TAU * f as f64 * 3.0 / 512.0).cos().abs();
        let expected = center_of_mass((0..FREQUENCIES).map(|f| (f, magnitude(f))));
        assert!((center(&plane(2, [100, 103, 103, 100])) - expected).abs() < 1e-9);
        // For the pairs (100, 103) and (103, 100), the magnitudes are |cos(3π(f − g) ÷ 256)|.
        let both = (0..FREQUENCIES).flat_map(|f| (0..FREQUENCIES).map(move |g| (f, g)));
        let expected = center_of_mass(both.map(|(f, g)| (f + g, magnitude(f.abs_diff(g)))));
        assert!((adjacency_center(&plane(2, [100, 103, 103, 100])) - expected).abs() < 1e-9);
    }

    #[test]
    fn the_small_picture_has_means_that_are_rounded_down() {
        let samples = [
            [2, 2, 3, 3, 9, 9, 200], //
            [2, 3, 3, 2, 255, 255, 200],
            [255, 255, 0, 0, 1, 0, 200],
            [255, 255, 0, 0, 0, 0, 200],
            [7, 7, 7, 7, 7, 7, 200],
        ];
        let half = plane(7, samples.as_flattened()).half().unwrap();
        assert_eq!((half.width, &half.samples[..]), (3, &[2, 2, 132, 255, 0, 0][..]));
        assert!(plane(7, [0; 7]).half().is_none(), "one row");
        assert!(plane(1, [0; 7]).half().is_none(), "one column");
    }
}
