//! Makes WebP pictures from chunks.

use image_webp::{ColorType, WebPEncoder};

/// Flags of the extended header.
pub const ANIMATION: u8 = 0b10;
pub const EXIF: u8 = 0b1000;
pub const ALPHA: u8 = 0b1_0000;

pub fn webp_lossless(samples: &[u8], width: u32, height: u32, color: ColorType) -> Vec<u8> {
    let mut file = Vec::new();
    WebPEncoder::new(&mut file).encode(samples, width, height, color).unwrap();
    file
}

/// Returns the shortest lossless file: each of its codes has one symbol, so that the pixels take no bits.
pub fn webp_empty(width: u32, height: u32) -> Vec<u8> {
    // The frame has the signature (8 bits), width and height (14 bits each), no alpha, no transforms, and five codes of
    // four bits.
    let frame = 0x2f | u128::from(width - 1) << 8 | u128::from(height - 1) << 22 | 0x11111 << 43;
    riff(None, &[(b"VP8L", &frame.to_le_bytes()[..14])])
}

/// The bits of a lossless frame.
#[derive(Default)]
pub struct WebPBits {
    bytes: Vec<u8>,
    next: u64,
    count: u32,
}

impl WebPBits {
    pub fn push(&mut self, value: u32, count: u32) {
        self.next |= u64::from(value) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.next as u8);
            self.next >>= 8;
            self.count -= 8;
        }
    }

    pub fn end(mut self) -> Vec<u8> {
        self.push(0, 7);
        self.bytes
    }

    /// Writes a code with one symbol. The symbol takes no bits.
    pub fn push_only(&mut self, symbol: u32) {
        self.push(0b101, 3);
        self.push(symbol, 8);
    }

    /// Writes a code in which each of the first 2^`length` symbols has `length` bits. The description of such a code
    /// takes few bytes.
    fn push_constant(&mut self, length: u32) {
        const ORDER: [u32; 15] = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11];
        // All codes for symbols have the same length, so the length of each symbol's code takes no bits.
        self.push(11 << 1, 5);
        ORDER.iter().for_each(|each| self.push(u32::from(*each == length), 3));
        self.push(0b1011, 4);
        self.push((1 << length) - 2, 12);
    }

    /// Writes a symbol with the code that [`Self::push_constant`] wrote.
    fn push_symbol(&mut self, symbol: u32, length: u32) {
        self.push(symbol.reverse_bits() >> (32 - length), length);
    }
}

/// Returns a lossless file of one color, in which each of `rows` × 64 squares has a separate group of codes. The
/// numbers of two consecutive groups differ by `apart`. `rows` is a multiple of four. The tables of a group are
/// hundreds of times as long as their description.
pub fn webp_groups(rows: u32, apart: u32) -> Vec<u8> {
    let (side, columns) = (4, 64);
    let mut bits = WebPBits::default();
    bits.push(0x2f, 8);
    bits.push(side * columns - 1, 14);
    bits.push(side * rows - 1, 14);
    // The frame has no alpha and no transforms, the largest color cache, and groups for squares of 4 × 4 pixels.
    bits.push(0, 5);
    bits.push(11 << 1 | 1, 5);
    bits.push(1, 4);
    bits.push(0, 1);
    bits.push_constant(8);
    bits.push_constant(8);
    (0..3).for_each(|_| bits.push_only(0));
    let last = (rows * columns - 1) * apart;
    for group in (0..=last).step_by(apart as usize) {
        bits.push_symbol(group & 0xff, 8);
        bits.push_symbol(group >> 8, 8);
    }
    for _ in 0..=last {
        bits.push_constant(11);
        bits.push_constant(8);
        bits.push_constant(8);
        bits.push_only(255);
        // All references copy the pixel on the left.
        bits.push_only(1);
    }
    // A black pixel, references of 4096 pixels, and at the end a reference of 4095 pixels.
    bits.push(0, 11 + 8 + 8);
    let mut left = side * columns * side * rows - 1;
    while left > 0 {
        let length = left.min(4096);
        bits.push_symbol(256 + 23, 11);
        bits.push(length - 3073, 10);
        left -= length;
    }
    riff(None, &[(b"VP8L", &bits.end())])
}

/// Returns a file with these chunks, and with an extended header if `extended` is given.
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
