//! Transforms. An encoder transforms the pixels before it compresses them, and this module undoes the transforms row by
//! row.

use super::predict::Predictor;

/// A transform with its parameters from the file.
pub enum Transform {
    Predict(Predictor),
    Color(Tiles),
    SubtractGreen,
    Palette(Palette),
}

/// One value for each square of pixels in the picture.
pub struct Tiles {
    /// The binary logarithm of a square's side.
    pub bits: u32,
    pub values: Vec<u32>,
    /// The number of values in a row.
    pub columns: usize,
}

impl Tiles {
    pub fn row(&self, y: u32) -> &[u32] {
        let from = (y >> self.bits) as usize * self.columns;
        &self.values[from..from + self.columns]
    }
}

/// The colors of a palette, and how pixels are packed into green samples.
pub struct Palette {
    pub colors: Vec<u32>,
    /// The width of the picture.
    pub width: usize,
    /// The binary logarithm of the number of pixels that are packed into one green sample.
    pub packed: u32,
}

impl Palette {
    pub fn packed(colors: u32) -> u32 {
        match colors {
            0..=2 => 3,
            3..=4 => 2,
            5..=16 => 1,
            _ => 0,
        }
    }

    fn apply(&self, row: &mut Vec<u32>) {
        let bits = 8 >> self.packed;
        let color = |index: u32| self.colors.get(index as usize).copied().unwrap_or(0);
        let samples = std::mem::take(row).into_iter().map(|pixel| pixel >> 8 & 0xff);
        row.extend(
            samples
                .flat_map(|green| (0..1 << self.packed).map(move |at| color(green >> (at * bits) & ((1 << bits) - 1)))),
        );
        row.truncate(self.width);
    }
}

impl Transform {
    /// Undoes the transform in a row.
    pub fn apply(&mut self, row: &mut Vec<u32>, y: u32) {
        match self {
            Self::Predict(predictor) => predictor.apply(row, y),
            Self::Color(tiles) => {
                for (pixels, factors) in row.chunks_mut(1 << tiles.bits).zip(tiles.row(y)) {
                    pixels.iter_mut().for_each(|pixel| *pixel = color(*pixel, *factors));
                }
            }
            Self::SubtractGreen => row.iter_mut().for_each(|pixel| *pixel = add_green(*pixel)),
            Self::Palette(palette) => palette.apply(row),
        }
    }
}

/// Adds green to red and to blue.
pub fn add_green(pixel: u32) -> u32 {
    let green = pixel >> 8 & 0xff;
    pixel & 0xff00_ff00 | (pixel & 0x00ff_00ff).wrapping_add(green << 16 | green) & 0x00ff_00ff
}

/// Adds to red the value predicted from green, and to blue the values predicted from green and red.
fn color(pixel: u32, factors: u32) -> u32 {
    let part = |factor: u32, sample: u32| ((i32::from(factor as i8) * i32::from(sample as i8)) >> 5) as u32;
    let (red, green, blue) = (pixel >> 16, pixel >> 8, pixel);
    let red = red.wrapping_add(part(factors, green));
    let blue = blue.wrapping_add(part(factors >> 8, green)).wrapping_add(part(factors >> 16, red));
    pixel & 0xff00_ff00 | (red & 0xff) << 16 | blue & 0xff
}
