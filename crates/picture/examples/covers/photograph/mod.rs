//! Pictures that have those properties of photographs on which the methods for finding hidden data depend.
//!
//! The objects of a scene overlap and have texture, and the light passes through a lens, a color filter, a sensor with
//! noise, and the camera's processing. Half of the pictures are also compressed with JPEG. Therefore the samples have
//! the properties that the methods depend on: similar neighbors, sharp edges, and noise that depends on brightness and
//! is similar in neighbors. Some pictures have white areas, and some histograms have gaps.
//!
//! A seed gives the same picture on every machine that has IEEE numbers and the same mathematical functions.

mod jpeg;
mod random;
mod scene;

use deadpan_picture::{Channels, Pixels};
use random::Random;

/// The processing of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// The picture has one channel.
    pub gray: bool,
    /// The standard deviation of the noise at middle brightness, in units of the sample value.
    pub noise: f32,
    /// The sensor has a Bayer filter, so two of three samples of a pixel are interpolated.
    pub bayer: bool,
    /// The scene was exposed too long, so some areas are white.
    pub overexposed: bool,
    /// A program has stretched the contrast, so the histogram has gaps.
    pub stretched: bool,
    /// The JPEG quality; The value is `None` if the picture was not compressed with JPEG.
    pub jpeg: Option<u8>,
}

impl Camera {
    /// Returns the camera of the picture with this seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x6361_6d65_7261);
        Self {
            gray: seed / 2 % 6 == 5,
            noise: 0.4 * (random.unit() * 2.4).exp(),
            bayer: !seed.is_multiple_of(3),
            overexposed: seed % 7 == 6,
            stretched: seed % 11 == 10,
            jpeg: (seed % 2 == 1).then(|| 72 + (random.unit() * 27.0) as u8),
        }
    }
}

/// Makes the picture with this seed.
pub fn photograph(width: u32, height: u32, seed: u64) -> Pixels {
    let camera = Camera::new(seed);
    let mut random = Random::new(seed);
    let (columns, rows) = (width as usize, height as usize);
    let mut planes = scene::scene(columns, rows, &mut random);
    for plane in &mut planes {
        scene::blur(plane, columns);
    }
    let exposure = if camera.overexposed { 1.5 + random.unit() } else { 0.75 + 0.2 * random.unit() };
    for plane in &mut planes {
        for value in plane {
            *value = expose(*value * exposure, camera.noise, &mut random);
        }
    }
    if camera.bayer {
        planes = demosaic(&planes, columns);
    }
    for plane in &mut planes {
        plane.iter_mut().for_each(|value| *value = develop(*value));
    }
    if camera.gray {
        let [red, green, blue] = &planes;
        let weigh = |at: usize| 0.299 * red[at] + 0.587 * green[at] + 0.114 * blue[at];
        let gray: Vec<f32> = (0..columns * rows).map(weigh).collect();
        planes = [gray.clone(), gray.clone(), gray];
    }
    if let Some(quality) = camera.jpeg {
        jpeg::compress(&mut planes, columns, quality, camera.gray);
    }
    let channels = if camera.gray { Channels::Gray } else { Channels::Rgb };
    let mut samples = Vec::with_capacity(columns * rows * channels.count());
    for at in 0..columns * rows {
        samples.extend(planes[..channels.count()].iter().map(|plane| quantize(plane[at])));
    }
    if camera.stretched {
        samples.iter_mut().for_each(|sample| *sample = quantize((f32::from(*sample) - 16.0) * 1.18));
    }
    Pixels { width, height, channels, samples }
}

/// Adds the noise of a sensor to the light of one sample: a constant amount, and an amount that grows with the light.
fn expose(light: f32, noise: f32, random: &mut Random) -> f32 {
    // At middle brightness, a difference of 1 between samples is about this much light.
    const STEP: f32 = 1.0 / 150.0;
    let deviation = noise * STEP * (0.2 + 1.2 * light.max(0.0)).sqrt();
    (light + deviation * random.normal()).clamp(0.0, 1.0)
}

/// Keeps one of the three colors of each pixel, as a Bayer filter does, and interpolates the two other colors from
/// neighboring pixels.
fn demosaic(planes: &[Vec<f32>; 3], width: usize) -> [Vec<f32>; 3] {
    let height = planes[0].len() / width;
    // Even rows alternate between green and red, and odd rows between blue and green.
    let color = |x: usize, y: usize| [[1, 0], [2, 1]][y % 2][x % 2];
    std::array::from_fn(|plane| {
        let interpolate = |at: usize| {
            let (x, y) = (at % width, at / width);
            if color(x, y) == plane {
                return planes[plane][at];
            }
            let (mut sum, mut weights) = (0.0, 0.0);
            for row in y.saturating_sub(1)..(y + 2).min(height) {
                for column in x.saturating_sub(1)..(x + 2).min(width) {
                    if color(column, row) == plane {
                        let weight = if row == y || column == x { 1.0 } else { 0.5 };
                        sum += weight * planes[plane][row * width + column];
                        weights += weight;
                    }
                }
            }
            if weights > 0.0 { sum / weights } else { planes[plane][at] }
        };
        (0..width * height).map(interpolate).collect()
    })
}

/// The tone curve: converts light to the value of a sample.
fn develop(light: f32) -> f32 {
    255.0 * if light < 0.003 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

fn quantize(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}
