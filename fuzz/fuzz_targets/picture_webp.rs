//! Any bytes as the frame of a lossless WebP picture. Deadpan's decoder never panics and obeys the limits, and if
//! `image-webp` also accepts the picture, both decoders return the same pixels. Reading only the first rows returns the
//! same pixels as reading all rows.
//!
//! Input: a WebP frame, without its signature.
#![no_main]

use std::io::Cursor;

use image_webp::WebPDecoder;
use libfuzzer_sys::fuzz_target;

use deadpan_picture::carrier::{Finding, rewritten};
use deadpan_picture::{Limits, Orientation, read};

const LIMITS: Limits = Limits { pixels: 1 << 16, bytes: 1 << 24, free: 1 << 24, per_byte: 0, scans: 0 };

fuzz_target!(|data: &[u8]| {
    let length = 1 + data.len() as u32;
    let mut file = [&b"RIFF"[..], &(12 + length + length % 2).to_le_bytes(), b"WEBPVP8L"].concat();
    file.extend_from_slice(&length.to_le_bytes());
    file.push(0x2f);
    file.extend_from_slice(data);
    file.resize(file.len() + length as usize % 2, 0);

    let Ok(ours) = read(Cursor::new(&file), Orientation::Ignore, &LIMITS) else { return };
    if let Finding::Carrier(label, order) = Finding::in_pixels(&ours.pixels) {
        let first = rewritten(Cursor::new(&file), &LIMITS).expect("the first rows are there");
        assert_eq!(first, Some((label, order)), "another label in the first rows");
    }
    let Ok(mut decoder) = WebPDecoder::new(Cursor::new(&file)) else { return };
    let mut theirs = vec![0; decoder.output_buffer_size().expect("a small picture")];
    if decoder.read_image(&mut theirs).is_ok() {
        let samples = if decoder.has_alpha() { 4 } else { 3 };
        let rgb = theirs.chunks_exact(samples).flat_map(|pixel| &pixel[..3]);
        assert!(rgb.eq(&ours.pixels.samples), "other pixels than image-webp");
    }
});
