//! Changes the samples of a picture as lossy JPEG compression does, but makes no JPEG file.

use std::f32::consts::PI;

/// The quantization tables of ITU-T T.81, annex K.1, for brightness and for colors.
const TABLES: [[u8; 64]; 2] = [
    [
        16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29,
        51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121,
        120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
    ],
    [
        17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
    ],
];

/// Compresses red, green and blue samples at a quality from 1 to 100, and decompresses them.
pub fn compress(planes: &mut [Vec<f32>; 3], width: usize, quality: u8, gray: bool) {
    planes.iter_mut().flatten().for_each(|value| *value = value.round().clamp(0.0, 255.0));
    if gray {
        blocks(&mut planes[0], width, quality, 0);
        return;
    }
    let [red, green, blue] = planes;
    for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
        let brightness = 0.299 * *red + 0.587 * *green + 0.114 * *blue;
        [*red, *green, *blue] = [brightness, (*blue - brightness) / 1.772 + 128.0, (*red - brightness) / 1.402 + 128.0];
    }
    for (at, plane) in planes.iter_mut().enumerate() {
        blocks(plane, width, quality, at.min(1));
    }
    let [red, green, blue] = planes;
    for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
        let (brightness, bluish, reddish) = (*red, *green - 128.0, *blue - 128.0);
        let middle = brightness - 0.344_136 * bluish - 0.714_136 * reddish;
        [*red, *green, *blue] = [brightness + 1.402 * reddish, middle, brightness + 1.772 * bluish];
    }
}

/// Quantizes the cosine transforms of all blocks. Blocks at the right and lower border repeat the last samples.
fn blocks(plane: &mut [f32], width: usize, quality: u8, table: usize) {
    let quality = u32::from(quality);
    let scale = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
    let steps = TABLES[table].map(|step| ((u32::from(step) * scale + 50) / 100).clamp(1, 255) as f32);
    let basis = basis();
    let height = plane.len() / width;
    for top in (0..height).step_by(8) {
        for left in (0..width).step_by(8) {
            let at = |x: usize, y: usize| (top + y).min(height - 1) * width + (left + x).min(width - 1);
            let samples = std::array::from_fn(|y| std::array::from_fn(|x| plane[at(x, y)] - 128.0));
            let mut block = product(&product(&basis, &samples), &transpose(&basis));
            for (value, step) in block.iter_mut().flatten().zip(steps) {
                *value = (*value / step).round() * step;
            }
            let block = product(&product(&transpose(&basis), &block), &basis);
            for y in 0..8.min(height - top) {
                for x in 0..8.min(width - left) {
                    plane[at(x, y)] = (block[y][x] + 128.0).round().clamp(0.0, 255.0);
                }
            }
        }
    }
}

type Block = [[f32; 8]; 8];

/// The matrix of the cosine transform.
fn basis() -> Block {
    std::array::from_fn(|wave| {
        let scale: f32 = if wave == 0 { 0.125_f32.sqrt() } else { 0.5 };
        std::array::from_fn(|x| scale * ((2 * x + 1) as f32 * wave as f32 * PI / 16.0).cos())
    })
}

fn product(left: &Block, right: &Block) -> Block {
    std::array::from_fn(|y| std::array::from_fn(|x| (0..8).map(|at| left[y][at] * right[at][x]).sum()))
}

fn transpose(block: &Block) -> Block {
    std::array::from_fn(|y| std::array::from_fn(|x| block[x][y]))
}
