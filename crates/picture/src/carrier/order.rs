//! Carriers that another program wrote. The bytes are restored from the pixels of the picture.

use std::io::{self, BufRead, Seek, SeekFrom};

use super::layout::{HEADER, MAGIC};
use super::recognize::label;
use crate::read::{first_rows, probe};
use crate::{Channels, Error, Header, Label, Limits, Pixels};

/// The number of pixels that are reordered before their bits are reversed in a second loop. The compiler can vectorize
/// both loops, and the pixels are still in the cache for the second loop.
const BLOCK: usize = 1 << 10;

/// The order in which the samples of a pixel carry bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleOrder {
    /// The order of PNG: red, green, blue, with unchanged bits. The carrier was first written as a PNG picture.
    Rgb,
    /// The order of WebP: green, red, blue, with reversed bits. The carrier was first written as a WebP picture.
    Reversed,
}

/// The result of a check whether a picture's pixels are a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A carrier.
    Carrier(Label, SampleOrder),
    /// A carrier with a damaged label.
    Damaged,
    /// A carrier with a correct checksum, but with a label that is impossible in any set.
    Impossible,
    /// A carrier that was scaled, or compressed with loss. The data are lost.
    Lossy,
    /// No sign of a carrier.
    Other,
}

impl SampleOrder {
    const BOTH: [Self; 2] = [Self::Rgb, Self::Reversed];

    pub(crate) fn read(self, pixels: &Pixels, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let from = at.checked_add(HEADER as u64).and_then(|from| usize::try_from(from).ok());
        let read = from.and_then(|from| self.copy(&pixels.samples, from, buffer));
        read.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Returns the largest difference between the first samples and the samples of the magic bytes.
    fn distance(self, header: &[u8; HEADER]) -> u8 {
        let sample = |byte: u8| if self == Self::Reversed { byte.reverse_bits() } else { byte };
        header.iter().zip(MAGIC).map(|(byte, magic)| sample(*byte).abs_diff(sample(magic))).max().unwrap_or(0)
    }

    /// Returns whether the label is wrong because a template was hidden in a carrier, and not because of damage. A
    /// template changes half of the samples by 1. In one of 256 templates, the samples of the magic bytes stay the
    /// same. But hiding data in a carrier almost always changes a sample of the label that is 0 in almost all sets.
    fn has_changed_zeros(self, header: &[u8; HEADER]) -> bool {
        let one = if self == Self::Reversed { 1_u8.reverse_bits() } else { 1 };
        ZEROS.iter().any(|at| header[*at] == one)
    }

    /// Copies the bytes of a carrier, beginning with byte `at`. Returns `None` if the picture is too small.
    fn copy(self, samples: &[u8], at: usize, buffer: &mut [u8]) -> Option<()> {
        let end = at.checked_add(buffer.len())?;
        match self {
            Self::Rgb => buffer.copy_from_slice(samples.get(at..end)?),
            Self::Reversed => {
                // Copy the complete pixels. The bytes before and after these pixels belong to incomplete pixels.
                let before = (at.next_multiple_of(3) - at).min(buffer.len());
                let samples = samples.get(..end.next_multiple_of(3))?;
                let byte = |at: usize| samples[at / 3 * 3 + [1, 0, 2][at % 3]].reverse_bits();
                let (first, rest) = buffer.split_at_mut(before);
                first.iter_mut().zip(at..).for_each(|(to, at)| *to = byte(at));
                let (whole, last) = rest.as_chunks_mut::<3>();
                let (pixels, _) = samples[at + before..].as_chunks::<3>();
                for (whole, pixels) in whole.chunks_mut(BLOCK).zip(pixels.chunks(BLOCK)) {
                    for (to, [red, green, blue]) in whole.iter_mut().zip(pixels) {
                        *to = [*green, *red, *blue];
                    }
                    whole.as_flattened_mut().iter_mut().for_each(|byte| *byte = byte.reverse_bits());
                }
                let from = end - last.len();
                last.iter_mut().zip(from..).for_each(|(to, at)| *to = byte(at));
            }
        }
        Some(())
    }
}

/// Checks whether a lossless picture is a carrier that another program wrote again. Decodes only the first rows, so the
/// rest of the file may be damaged. Returns `None` if the decision needs all pixels, with [`Finding::in_pixels`].
///
/// # Errors
/// If the file is no picture, if its beginning is damaged, cut or transparent, if it is larger than the limits, or if
/// the system cannot read.
pub fn rewritten(mut input: impl BufRead + Seek, limits: &Limits) -> Result<Option<(Label, SampleOrder)>, Error> {
    let start = input.stream_position().map_err(Error::Read)?;
    let Header { width, height, .. } = probe(&mut input)?;
    input.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
    let Some(pixels) = first_rows(input, HEADER.div_ceil(3) as u32, limits)? else { return Ok(None) };
    let mut header = [0; HEADER];
    let found = SampleOrder::BOTH
        .into_iter()
        .find(|order| order.copy(&pixels.samples, 0, &mut header).is_some() && header[..8] == MAGIC);
    let room = 3 * u64::from(width) * u64::from(height);
    let label = label(&header).ok().filter(|label| HEADER as u64 + u64::from(label.length) <= room);
    Ok(label.zip(found))
}

impl Finding {
    /// Checks all pixels of a picture.
    #[must_use]
    pub fn in_pixels(pixels: &Pixels) -> Self {
        if pixels.channels != Channels::Rgb {
            return Self::Other;
        }
        let mut header = [0; HEADER];
        for order in SampleOrder::BOTH {
            if order.copy(&pixels.samples, 0, &mut header).is_some() && header[..8] == MAGIC {
                let fits = |label: &Label| HEADER + label.length as usize <= pixels.samples.len();
                return match label(&header) {
                    Ok(label) if fits(&label) => Self::Carrier(label, order),
                    Err(Error::ImpossibleLabel) => Self::Impossible,
                    _ if order.has_changed_zeros(&header) => Self::Other,
                    _ => Self::Damaged,
                };
            }
            match order.copy(&pixels.samples, 0, &mut header).map(|()| order.distance(&header)) {
                // The picture is a template whose cover is a carrier.
                Some(..=1) => return Self::Other,
                Some(..=NEAR) => return Self::Lossy,
                _ => {}
            }
        }
        if is_noise(pixels) { Self::Lossy } else { Self::Other }
    }
}

/// The largest difference that weak compression causes between the first samples and the samples of the magic bytes.
const NEAR: u8 = 24;

/// Positions where a carrier has zeros. The first bytes of the index, the count and the number of spare pictures are
/// zero, because these numbers are at most 65 536. The first bytes of the offset and of the total length are zero for
/// data below 1 TiB.
const ZEROS: [usize; 9] = [24, 28, 32, 40, 41, 42, 48, 49, 50];

/// Returns whether neighboring samples are almost independent. Samples of sealed data are independent, and stay almost
/// independent after scaling or compression. In photographs, neighboring samples are similar.
fn is_noise(pixels: &Pixels) -> bool {
    let row = 3 * pixels.width as usize;
    let step = (pixels.height as usize / 128).max(1);
    let pairs = pixels.samples.chunks_exact(row.max(6)).step_by(step).flat_map(|row| {
        let sums =
            row.as_chunks::<3>().0.iter().take(1024).map(|pixel| pixel.iter().map(|byte| f64::from(*byte)).sum());
        let sums: Vec<f64> = sums.collect();
        (1..sums.len()).map(|at| (sums[at - 1] / 3.0, sums[at] / 3.0)).collect::<Vec<_>>()
    });
    let (mut count, mut sum, mut squares, mut products) = (0.0, 0.0, 0.0, 0.0);
    for (one, other) in pairs {
        count += 1.0;
        sum += one;
        squares += one * one;
        products += one * other;
    }
    let mean = sum / count;
    let (variance, shared) = (squares / count - mean * mean, products / count - mean * mean);
    count >= 2000.0 && (mean - 127.5).abs() < 8.0 && variance > 50.0 && shared.abs() < 0.6 * variance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(width: u32, height: u32, sample: impl Fn(u32) -> u8) -> Pixels {
        let samples = (0..width * height * 3).map(sample).collect();
        Pixels { width, height, channels: Channels::Rgb, samples }
    }

    fn noise(at: u32) -> u8 {
        let mixed = (at ^ at >> 15).wrapping_mul(0x2c1b_3c6d);
        ((mixed ^ mixed >> 12).wrapping_mul(0x297a_2d39) >> 24) as u8
    }

    #[test]
    fn noise_and_changed_magics_are_carriers_that_were_changed_with_loss() {
        let halves = |at: u32| {
            let corner = at / 3 / 100 * 2 * 600 + at / 3 % 100 * 6 + at % 3;
            ([0, 3, 600, 603].map(|by| u32::from(noise(corner + by))).iter().sum::<u32>() / 4) as u8
        };
        assert_eq!(Finding::in_pixels(&pixels(100, 100, noise)), Finding::Lossy);
        assert_eq!(Finding::in_pixels(&pixels(100, 100, halves)), Finding::Lossy);
        let near = |at: u32| MAGIC.get(at as usize).map_or(9, |byte| byte.saturating_add(noise(at) / 16));
        assert_eq!(Finding::in_pixels(&pixels(10, 10, near)), Finding::Lossy);
    }

    #[test]
    fn low_bits_of_carriers_are_changed_by_templates() {
        let low = |at: u32| MAGIC.get(at as usize).map_or(noise(at), |byte| byte ^ noise(at) & 1);
        assert_eq!(Finding::in_pixels(&pixels(100, 100, low)), Finding::Other);
        let reversed = |at: u32| match at / 3 * 3 + [1, 0, 2][at as usize % 3] {
            from @ 0..8 => MAGIC[from as usize].reverse_bits() ^ noise(at) & 1,
            _ => noise(at),
        };
        assert_eq!(Finding::in_pixels(&pixels(100, 100, reversed)), Finding::Other);
        assert_eq!(Finding::in_pixels(&pixels(100, 100, |at| reversed(at).saturating_sub(9))), Finding::Lossy);
    }

    #[test]
    fn templates_that_keep_the_magic_are_not_called_damaged() {
        for order in SampleOrder::BOTH {
            // Each byte of the label that is usually 0 is `byte`, and every other byte is 99.
            let of = |byte: u8| {
                let header = |at: usize| match (MAGIC.get(at), ZEROS.contains(&at)) {
                    (Some(magic), _) => *magic,
                    (None, true) => byte,
                    (None, false) => 99,
                };
                Finding::in_pixels(&pixels(100, 100, |at| match (order, at as usize) {
                    (_, HEADER..) => noise(at),
                    (SampleOrder::Rgb, at) => header(at),
                    (SampleOrder::Reversed, at) => header(at / 3 * 3 + [1, 0, 2][at % 3]).reverse_bits(),
                }))
            };
            assert_eq!(of(0), Finding::Damaged, "{order:?}");
            assert_eq!(of(if order == SampleOrder::Rgb { 1 } else { 128 }), Finding::Other, "{order:?}");
            assert_eq!(of(7), Finding::Damaged, "{order:?}");
        }
    }

    #[test]
    fn other_pictures_are_none() {
        let smooth = |at: u32| (at / 3 % 100 * 2 + at / 300 + u32::from(noise(at) / 8)).min(255) as u8;
        assert_eq!(Finding::in_pixels(&pixels(100, 100, smooth)), Finding::Other);
        assert_eq!(Finding::in_pixels(&pixels(100, 100, |_| 128)), Finding::Other);
        for (width, height) in [(0, 0), (1, 1), (1, 100), (5, 4)] {
            assert_eq!(Finding::in_pixels(&pixels(width, height, |_| 7)), Finding::Other);
        }
    }
}
