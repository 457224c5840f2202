//! Photographs whose lowest bits carry a part.
//!
//! [`embed`] changes some samples of a cover by ±1. With two or more bits in each sample, [`embed`] also makes changes
//! by ±2 to ±8. [`find`] searches for a label with the secrets that a reader has, and [`extract`] extracts the part
//! again. The caller hashes passphrases, with the picture's [`Seed`] as the salt.
//!
//! ```
//! use deadpan_picture::template::{self, Bits, Hiding, Order, Secret, Seed};
//! use deadpan_picture::{Channels, Label, Pixels};
//!
//! let mut cover = Pixels { width: 64, height: 64, channels: Channels::Rgb, samples: vec![90; 64 * 64 * 3] };
//! let part = b"a part";
//! let label = Label {
//!     set: [1; 16], index: 0, count: 1, spares: 0, length: 6, offset: 0, total: 6, checksum: 0,
//! };
//! let doors = vec![Secret::open()];
//! let hiding = Hiding { bits: Bits::new(2).unwrap(), order: Order::Keyed, set_key: [2; 32], doors };
//! let distortion = template::embed(&mut cover, &label, part, &hiding, &Seed::random()?, 1)?;
//! assert!(distortion.psnr() > 44.0);
//!
//! let found = template::find(&cover, &[Secret::open()]).unwrap();
//! let mut copy = vec![0; found.label.length as usize];
//! template::extract(&cover, &found, &mut copy, 1);
//! assert_eq!(copy, part);
//! # Ok::<(), deadpan_picture::Error>(())
//! ```

mod distortion;
mod door;
mod embed;
mod extract;
mod file;
#[allow(unsafe_code)]
mod imp;
mod low;
mod places;
mod secret;
mod shares;
mod signs;
mod stored;
#[cfg(test)]
mod tests;

pub use distortion::Distortion;
pub use door::{Found, Front, find};
pub use embed::{Hiding, embed};
pub use extract::extract;
pub use file::{Template, open};
pub use secret::{Secret, Seed};

use crate::Pixels;

/// The maximum number of sealed labels (doors) in a picture, including the sealed label for the secret of the set.
pub const DOORS: usize = 32;

/// The number of samples in a line.
const LINE: usize = 64;
/// The number of lines of the seed.
const SEED_LINES: usize = secret::SEED * 8 / LINE;
/// The number of lines of a door.
const DOOR_LINES: usize = door::DOOR * 8 / LINE;

/// The number of bits in each sample of the data lines (groups of 64 samples): 1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(u8);

impl Bits {
    /// Makes a number of bits. Returns `None` unless `bits` is 1 to 4.
    #[must_use]
    pub fn new(bits: u8) -> Option<Self> {
        (1..=4).contains(&bits).then_some(Self(bits))
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn get(self) -> u8 {
        self.0
    }

    fn count(self) -> usize {
        usize::from(self.0)
    }
}

/// How the values of a part are placed in the data lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The values are spread evenly over the picture. The places can be found only with the set key.
    Keyed,
    /// The values are placed one after the other, beginning in the first data line.
    InOrder,
}

/// Returns how many bytes a picture with `samples` samples carries. `doors` is the number of sealed labels, without the
/// label for the set, as in [`Hiding::doors`].
#[must_use]
pub fn capacity(samples: u64, bits: Bits, doors: usize) -> u64 {
    data_lines(samples, doors + 1) * (LINE as u64 / 8) * u64::from(bits.0)
}

/// Returns how smooth a cover is where the seed and the sealed labels (doors) are stored. The result is the share of
/// samples that lie on a straight line with their two neighbors, with a tolerance of 1. `doors` is the number of sealed
/// labels, as in [`Hiding::doors`].
///
/// The seed and the sealed labels change half of the first samples by 1, even if the part is short. If the first
/// samples of the cover are smooth, as in a clear sky, everybody can see the changes.
#[must_use]
pub fn smoothness(cover: &Pixels, doors: usize) -> f64 {
    let (samples, step) = (&cover.samples, cover.channels.count());
    let first = first_data_line(doors + 1) as usize * LINE;
    let first = &samples[..samples.len().min(first + 2 * step)];
    let count = first.len().saturating_sub(2 * step);
    let is_smooth = |at: &usize| {
        let [one, middle, other] = [*at, at + step, at + 2 * step].map(|at| i32::from(first[at]));
        (one - 2 * middle + other).abs() <= 1
    };
    (0..count).filter(is_smooth).count() as f64 / count.max(1) as f64
}

/// `doors` is the number of all doors.
fn first_data_line(doors: usize) -> u64 {
    (SEED_LINES + DOOR_LINES * doors) as u64
}

/// Returns the number of data lines. `doors` is the number of all doors.
fn data_lines(samples: u64, doors: usize) -> u64 {
    (samples / LINE as u64).saturating_sub(first_data_line(doors))
}

/// Returns the data lines. `doors` is the number of all doors.
fn data(samples: &[u8], doors: usize) -> &[u8] {
    let end = samples.len() / LINE;
    let count = data_lines(samples.len() as u64, doors) as usize;
    &samples[(end - count) * LINE..end * LINE]
}
