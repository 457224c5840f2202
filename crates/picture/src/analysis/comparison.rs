//! Compares a picture with its cover.

use crate::{Channels, Error, Pixels};

/// The differences between a picture and its cover.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    samples: u64,
    pixels: u64,
    changed_pixels: u64,
    /// The number of samples with each difference, from −255 to 255.
    histogram: Box<[u64; 511]>,
}

impl Comparison {
    /// Returns the peak signal-to-noise ratio in decibels, over all samples. Returns infinity for equal pictures.
    #[must_use]
    pub fn psnr(&self) -> f64 {
        let squares: f64 = self.each().map(|(difference, count)| f64::from(difference).powi(2) * count as f64).sum();
        if squares == 0.0 { f64::INFINITY } else { 10.0 * (255.0_f64.powi(2) * self.samples as f64 / squares).log10() }
    }

    /// Returns the share of the samples that changed.
    #[must_use]
    pub fn changed(&self) -> f64 {
        let changed: u64 = self.each().filter(|&(difference, _)| difference != 0).map(|(_, count)| count).sum();
        changed as f64 / self.samples.max(1) as f64
    }

    /// Returns the share of the pixels in which at least one sample changed.
    #[must_use]
    pub fn changed_pixels(&self) -> f64 {
        self.changed_pixels as f64 / self.pixels.max(1) as f64
    }

    /// Returns the largest difference.
    #[must_use]
    pub fn largest(&self) -> u8 {
        let counted = self.each().filter(|&(_, count)| count > 0);
        counted.map(|(difference, _)| difference.unsigned_abs() as u8).max().unwrap_or(0)
    }

    /// Returns the number of samples that exceed the cover's sample by exactly `difference`.
    #[must_use]
    pub fn count(&self, difference: i16) -> u64 {
        let at = usize::try_from(i32::from(difference) + 255);
        at.ok().and_then(|at| self.histogram.get(at)).copied().unwrap_or(0)
    }

    fn each(&self) -> impl Iterator<Item = (i16, u64)> {
        (-255..=255).zip(self.histogram.iter().copied())
    }
}

/// Compares a picture with its cover. If one picture is gray and the other has colors, the gray picture is treated as a
/// picture with three equal colors.
///
/// # Errors
/// [`Error::Sizes`] if the pictures have different sizes.
pub fn compare(cover: &Pixels, result: &Pixels) -> Result<Comparison, Error> {
    check(cover, result)?;
    let (mut pixels, mut changed_pixels, mut histogram) = (0, 0, Box::new([0; 511]));
    let channels = cover.channels.count().max(result.channels.count());
    for (before, after) in pairs(cover, result) {
        let mut changed = false;
        for (&before, &after) in before.iter().cycle().zip(after.iter().cycle()).take(channels) {
            changed |= before != after;
            histogram[255 + usize::from(after) - usize::from(before)] += 1;
        }
        pixels += 1;
        changed_pixels += u64::from(changed);
    }
    Ok(Comparison { samples: pixels * channels as u64, pixels, changed_pixels, histogram })
}

/// Returns the share of the samples that are 0 or 255.
///
/// A sample of 0 or 255 can change in only one direction, as in low-bit replacement. So in white and in black areas,
/// the methods that look for replacement find the data of a template.
#[must_use]
pub fn clipped(picture: &Pixels) -> f64 {
    let clipped = picture.samples.iter().filter(|&&sample| matches!(sample, 0 | 255)).count();
    clipped as f64 / picture.samples.len().max(1) as f64
}

/// Draws the difference between a picture and its cover: black where the two pictures are equal, and elsewhere as
/// bright as `gain` times the difference, up to white.
///
/// # Errors
/// [`Error::Sizes`] if the pictures have different sizes.
pub fn difference(cover: &Pixels, result: &Pixels, gain: u8) -> Result<Pixels, Error> {
    check(cover, result)?;
    let channels = if cover.channels == result.channels { cover.channels } else { Channels::Rgb };
    let samples = pairs(cover, result).flat_map(|(before, after)| {
        let both = before.iter().cycle().zip(after.iter().cycle()).take(channels.count());
        both.map(|(before, after)| before.abs_diff(*after).saturating_mul(gain))
    });
    Ok(Pixels { width: cover.width, height: cover.height, channels, samples: samples.collect() })
}

fn check(cover: &Pixels, result: &Pixels) -> Result<(), Error> {
    let [cover, result] = [cover, result].map(|picture| (picture.width, picture.height));
    if cover == result { Ok(()) } else { Err(Error::Sizes { cover, result }) }
}

fn pairs<'a>(cover: &'a Pixels, result: &'a Pixels) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    let [cover, result] = [cover, result].map(|picture| picture.samples.chunks_exact(picture.channels.count()));
    cover.zip(result)
}
