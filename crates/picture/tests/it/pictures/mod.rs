//! Makes pictures for tests.

#![allow(dead_code, unused_imports, reason = "each test uses some of it")]

mod jpeg_picture;
mod png_picture;
mod webp_picture;

pub use jpeg_picture::{JpegKind, JpegPicture};
pub use png_picture::{PngPicture, SIZES, chunk};
pub use webp_picture::{ALPHA, ANIMATION, EXIF, WebPBits, riff, webp_empty, webp_groups, webp_lossless, webp_parts};

/// Returns a picture with `channels` samples a pixel, which is smooth so that lossy formats change it little.
pub fn smooth(width: u32, height: u32, channels: u32) -> Vec<u8> {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let samples = pixels.flat_map(|(x, y)| (0..channels).map(move |channel| (x, y, channel)));
    samples
        .map(|(x, y, channel)| {
            let (x, y, phase) = (x as f32, y as f32, channel as f32);
            (128.0 + 60.0 * (x / 40.0 + phase).sin() + 50.0 * (y / 30.0 - phase).cos()) as u8
        })
        .collect()
}

/// Returns EXIF data with an orientation, and with other data of the length of a thumbnail.
pub fn exif(orientation: u16) -> Vec<u8> {
    let mut bytes = b"II*\0\x08\0\0\0\x02\0".to_vec();
    for (tag, value) in [(0x0100, 7), (0x0112, orientation)] {
        for number in [tag, 3_u16, 1, 0, value, 0] {
            bytes.extend(number.to_le_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend([0xd9; 3000]);
    bytes
}

pub fn distance(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum::<f64>() / a.len() as f64
}
