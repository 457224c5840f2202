//! Turns pictures upright.

use crate::{Channels, Pixels};

/// Pixels are read and written in squares with this side, so that the read and the written rows stay in the cache.
const TILE: usize = 64;

/// An orientation by its EXIF number, 1 to 8. The number states at which sides the first row and the first column of
/// the stored picture are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn(u16);

impl Turn {
    /// The orientation of a picture that is already stored upright.
    pub const UPRIGHT: Self = Self(1);

    /// Makes a turn from an EXIF number. Returns `None` for a number without a meaning.
    pub fn new(number: u16) -> Option<Self> {
        (1..=8).contains(&number).then_some(Self(number))
    }

    /// Returns the upright picture.
    pub fn apply(self, pixels: &Pixels) -> Pixels {
        let (width, height) =
            if self.swaps_sides() { (pixels.height, pixels.width) } else { (pixels.width, pixels.height) };
        let samples = match pixels.channels {
            Channels::Gray => self.turned::<1>(pixels),
            Channels::Rgb => self.turned::<3>(pixels),
        };
        Pixels { width, height, channels: pixels.channels, samples }
    }

    fn swaps_sides(self) -> bool {
        self.0 >= 5
    }

    /// Returns the index of the stored pixel that is shown at the top left, and the differences of the indexes of this
    /// pixel's right and lower neighbors in the shown picture.
    fn steps(self, width: isize, height: isize) -> (isize, isize, isize) {
        let (right, bottom) = (width - 1, (height - 1) * width);
        match self.0 {
            2 => (right, -1, width),
            3 => (bottom + right, -1, -width),
            4 => (bottom, 1, -width),
            5 => (0, width, 1),
            6 => (bottom, -width, 1),
            7 => (bottom + right, -width, -1),
            8 => (right, width, -1),
            _ => (0, 1, width),
        }
    }

    fn turned<const N: usize>(self, pixels: &Pixels) -> Vec<u8> {
        let (stored, _) = pixels.samples.as_chunks::<N>();
        let (width, height) = (pixels.width as usize, pixels.height as usize);
        let (first, right, below) = self.steps(width as isize, height as isize);
        let (width, height) = if self.swaps_sides() { (height, width) } else { (width, height) };
        let mut shown = vec![[0; N]; stored.len()];
        for top in (0..height).step_by(TILE) {
            for left in (0..width).step_by(TILE) {
                for y in top..height.min(top + TILE) {
                    let row = &mut shown[y * width..][..width];
                    for (x, pixel) in row.iter_mut().enumerate().skip(left).take(TILE) {
                        *pixel = stored[(first + x as isize * right + y as isize * below) as usize];
                    }
                }
            }
        }
        shown.into_flattened()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a picture of 3 × 2 pixels with the table of orientations in EXIF 2.32.
    #[test]
    fn each_orientation_is_shown_as_the_standard_says() {
        let stored = Pixels { width: 3, height: 2, channels: Channels::Gray, samples: b"abcdef".to_vec() };
        for (number, width, shown) in [
            (1, 3, b"abcdef"),
            (2, 3, b"cbafed"),
            (3, 3, b"fedcba"),
            (4, 3, b"defabc"),
            (5, 2, b"adbecf"),
            (6, 2, b"daebfc"),
            (7, 2, b"fcebda"),
            (8, 2, b"cfbead"),
        ] {
            let turned = Turn::new(number).unwrap().apply(&stored);
            assert_eq!((turned.width, turned.height, &*turned.samples), (width, 6 / width, &shown[..]), "{number}");
        }
    }

    #[test]
    fn all_tiles_are_turned() {
        let (width, height) = (130, 67);
        let samples: Vec<u8> = (0..width * height * 3).map(|at| (at * 7 / 3) as u8).collect();
        let stored = Pixels { width, height, channels: Channels::Rgb, samples };
        for (there, back) in [(2, 2), (3, 3), (4, 4), (5, 5), (6, 8), (7, 7), (8, 6)] {
            let shown = Turn(there).apply(&stored);
            assert_ne!(shown, stored);
            assert_eq!(Turn(back).apply(&shown), stored, "{there}");
        }
    }
}
