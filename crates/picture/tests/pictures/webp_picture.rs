//! WebP pictures, from their chunks.

use image_webp::{ColorType, WebPEncoder};

/// Flags of the extended header.
pub const ANIMATION: u8 = 0b10;
pub const EXIF: u8 = 0b1000;
pub const ALPHA: u8 = 0b1_0000;

/// Returns a lossless file without an extended header.
pub fn webp_lossless(samples: &[u8], width: u32, height: u32, color: ColorType) -> Vec<u8> {
    let mut file = Vec::new();
    WebPEncoder::new(&mut file).encode(samples, width, height, color).unwrap();
    file
}

/// Returns the shortest lossless file: each of its codes has one symbol, so that the pixels take no bits.
pub fn webp_empty(width: u32, height: u32) -> Vec<u8> {
    // The signature in 8 bits, both sides in 14; then neither alpha nor transforms, and five codes of four bits.
    let frame = 0x2f | u128::from(width - 1) << 8 | u128::from(height - 1) << 22 | 0x11111 << 43;
    riff(None, &[(b"VP8L", &frame.to_le_bytes()[..14])])
}

/// Returns a file of these chunks, with an extended header where flags are given.
pub fn riff(extended: Option<(u8, u32, u32)>, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut body = b"WEBP".to_vec();
    let mut add = |name: &[u8; 4], data: &[u8]| {
        body.extend(name);
        body.extend((data.len() as u32).to_le_bytes());
        body.extend(data);
        body.extend(vec![0; data.len() % 2]);
    };
    if let Some((flags, width, height)) = extended {
        let [width, height] = [width, height].map(|side| (side - 1).to_le_bytes());
        add(b"VP8X", &[&[flags, 0, 0, 0], &width[..3], &height[..3]].concat());
    }
    for (name, data) in chunks {
        add(name, data);
    }
    [b"RIFF", &(body.len() as u32).to_le_bytes(), &*body].concat()
}

/// Returns the chunks of a file, names and data.
pub fn webp_parts(file: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let mut rest = &file[12..];
    let mut parts = Vec::new();
    while let Some((head, data)) = rest.split_first_chunk::<8>() {
        let [name @ .., a, b, c, d] = *head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        parts.push((name, data[..length].to_vec()));
        rest = data.get(length + length % 2..).unwrap_or_default();
    }
    parts
}
