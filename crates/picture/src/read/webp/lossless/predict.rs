//! The predictor transform: each pixel is stored as the difference to a prediction from its neighbors.

use super::transform::Tiles;
use super::{Fault, Result};

/// Opaque black, which comes before the first pixel.
const BLACK: u32 = 0xff00_0000;

pub struct Predictor {
    /// The number of the prediction for each square, stored in the green sample.
    tiles: Tiles,
    /// The row above the current row, and after it the first pixel of the current row. This first pixel is used as the
    /// upper right neighbor of the last pixel.
    above: Vec<u32>,
}

impl Predictor {
    /// Takes the number of the prediction for each square.
    pub fn new(tiles: Tiles) -> Result<Self> {
        if tiles.values.iter().all(|value| value >> 8 & 0xff < 14) {
            Ok(Self { tiles, above: Vec::new() })
        } else {
            Err(Fault::Damaged("it has an unknown predictor"))
        }
    }

    pub fn apply(&mut self, row: &mut [u32], y: u32) {
        if y == 0 {
            row[0] = add(row[0], BLACK);
            run(row, 1, &vec![0; row.len() + 1], |left, _, _, _| left);
        } else {
            row[0] = add(row[0], self.above[0]);
            self.above.truncate(row.len());
            self.above.push(row[0]);
            let (side, length) = (1 << self.tiles.bits, row.len());
            for (tile, mode) in self.tiles.row(y).iter().enumerate() {
                let (from, to) = ((tile * side).max(1), ((tile + 1) * side).min(length));
                if from < to {
                    predict(mode >> 8 & 0xff, &mut row[..to], from, &self.above);
                }
            }
        }
        self.above.clear();
        self.above.extend_from_slice(row);
    }
}

/// Adds the prediction to the pixels of a row, from pixel `from` on.
fn predict(mode: u32, row: &mut [u32], from: usize, above: &[u32]) {
    match mode {
        0 => run(row, from, above, |_, _, _, _| BLACK),
        1 => run(row, from, above, |left, _, _, _| left),
        2 => run(row, from, above, |_, _, top, _| top),
        3 => run(row, from, above, |_, _, _, right| right),
        4 => run(row, from, above, |_, corner, _, _| corner),
        5 => run(row, from, above, |left, _, top, right| average(average(left, right), top)),
        6 => run(row, from, above, |left, corner, _, _| average(left, corner)),
        7 => run(row, from, above, |left, _, top, _| average(left, top)),
        8 => run(row, from, above, |_, corner, top, _| average(corner, top)),
        9 => run(row, from, above, |_, _, top, right| average(top, right)),
        10 => run(row, from, above, |left, corner, top, right| average(average(left, corner), average(top, right))),
        11 => run(row, from, above, |left, corner, top, _| select(left, corner, top)),
        12 => run(row, from, above, |left, corner, top, _| {
            each(left, top, corner, |left, top, corner| left + top - corner)
        }),
        // Only prediction 13 is left, because `Predictor::new` refuses higher numbers.
        _ => run(row, from, above, |left, corner, top, _| {
            each(average(left, top), corner, 0, |mean, corner, _| mean + (mean - corner) / 2)
        }),
    }
}

/// Adds a prediction to each pixel, from pixel `from` on. `predict` receives the left, the upper left, the upper and
/// the upper right neighbor.
#[inline(always)]
fn run(row: &mut [u32], from: usize, above: &[u32], predict: impl Fn(u32, u32, u32, u32) -> u32) {
    let mut left = row[from - 1];
    let above = above[from - 1..].windows(3);
    for (pixel, above) in row[from..].iter_mut().zip(above) {
        left = add(*pixel, predict(left, above[0], above[1], above[2]));
        *pixel = left;
    }
}

/// Adds the four samples of two pixels separately.
pub fn add(one: u32, other: u32) -> u32 {
    const EVEN: u32 = 0x00ff_00ff;
    (one & EVEN).wrapping_add(other & EVEN) & EVEN | (one & !EVEN).wrapping_add(other & !EVEN) & !EVEN
}

/// Returns the mean of each of the four samples, rounded down.
fn average(one: u32, other: u32) -> u32 {
    ((one ^ other) >> 1 & 0x7f7f_7f7f) + (one & other)
}

fn select(left: u32, corner: u32, top: u32) -> u32 {
    let distance = |one: u32| -> u32 {
        let samples = one.to_le_bytes().into_iter().zip(corner.to_le_bytes());
        samples.map(|(one, corner)| u32::from(one.abs_diff(corner))).sum()
    };
    // For the prediction left + top − corner, the distance from the prediction to left equals the distance from top to
    // corner.
    if distance(top) < distance(left) { left } else { top }
}

/// Applies `sample` to each of the four samples, and limits the results to 0 to 255.
fn each(one: u32, two: u32, three: u32, sample: impl Fn(i32, i32, i32) -> i32) -> u32 {
    let (one, two, three) = (one.to_le_bytes(), two.to_le_bytes(), three.to_le_bytes());
    let at = |at: usize| sample(one[at].into(), two[at].into(), three[at].into()).clamp(0, 255) as u8;
    u32::from_le_bytes(std::array::from_fn(at))
}
