//! PNG pictures of every kind, with the pixels that a decoder must return.

use png::{BitDepth, ColorType};

use deadpan_picture::Channels;

/// Widths and heights near the sizes at which passes of Adam7 become empty, and at which rows fill whole bytes.
pub const SIZES: [(u32, u32); 9] = [(1, 1), (1, 9), (2, 2), (3, 5), (4, 4), (5, 3), (7, 8), (9, 1), (33, 32)];

const KINDS: [(ColorType, &[BitDepth]); 5] = {
    use BitDepth::{Eight, Four, One, Sixteen, Two};
    [
        (ColorType::Grayscale, &[One, Two, Four, Eight, Sixteen]),
        (ColorType::Rgb, &[Eight, Sixteen]),
        (ColorType::Indexed, &[One, Two, Four, Eight]),
        (ColorType::GrayscaleAlpha, &[Eight, Sixteen]),
        (ColorType::Rgba, &[Eight, Sixteen]),
    ]
};

/// One picture. If the picture has an alpha channel, all its pixels are opaque.
#[derive(Clone, Copy, Debug)]
pub struct PngPicture {
    pub color: ColorType,
    pub depth: BitDepth,
    pub interlaced: bool,
    pub width: u32,
    pub height: u32,
}

impl PngPicture {
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = KINDS.into_iter().flat_map(|(color, depths)| depths.iter().map(move |&depth| (color, depth)));
        let kinds = kinds.flat_map(|kind| [false, true].map(|interlaced| (kind, interlaced)));
        kinds.flat_map(|((color, depth), interlaced)| {
            SIZES.map(|(width, height)| Self { color, depth, interlaced, width, height })
        })
    }

    pub fn channels(self) -> Channels {
        match self.color {
            ColorType::Grayscale | ColorType::GrayscaleAlpha => Channels::Gray,
            _ => Channels::Rgb,
        }
    }

    fn sample(self, x: u32, y: u32, channel: usize) -> u16 {
        let opaque = matches!((self.color, channel), (ColorType::GrayscaleAlpha, 1) | (ColorType::Rgba, 3));
        let most = ((1_u32 << self.depth as u8) - 1) as u16;
        let number = x.wrapping_mul(2_654_435_761).wrapping_add(y * 40_503).wrapping_add(channel as u32 * 977) >> 3;
        if opaque { most } else { (number ^ number >> 13) as u16 & most }
    }

    fn palette(self) -> Vec<[u8; 3]> {
        (0..1_u32 << self.depth as u8).map(|at| [at * 3, at * 5 + 1, 255 - at].map(|sample| sample as u8)).collect()
    }

    /// Returns the samples that a reader must return.
    pub fn shown(self) -> Vec<u8> {
        let mut samples = Vec::new();
        for (y, x) in (0..self.height).flat_map(|y| (0..self.width).map(move |x| (y, x))) {
            if self.color == ColorType::Indexed {
                samples.extend(self.palette()[usize::from(self.sample(x, y, 0))]);
                continue;
            }
            for channel in 0..self.channels().count() {
                let sample = u32::from(self.sample(x, y, channel));
                samples.push(match self.depth {
                    BitDepth::Sixteen => sample >> 8,
                    depth => sample * 255 / ((1 << depth as u8) - 1),
                } as u8);
            }
        }
        samples
    }

    pub fn file(self) -> Vec<u8> {
        self.file_with(&[])
    }

    /// Returns the file with more chunks before the pixels.
    pub fn file_with(self, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut head = Vec::new();
        head.extend(self.width.to_be_bytes());
        head.extend(self.height.to_be_bytes());
        head.extend([self.depth as u8, self.color as u8, 0, 0, self.interlaced.into()]);
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        file.extend(chunk(b"IHDR", &head));
        if self.color == ColorType::Indexed {
            file.extend(chunk(b"PLTE", self.palette().as_flattened()));
        }
        for (name, data) in chunks {
            file.extend(chunk(name, data));
        }
        file.extend(chunk(b"IDAT", &stored(&self.rows())));
        file.extend(chunk(b"IEND", &[]));
        file
    }

    /// Returns all passes, row by row, with filter type 0 before each row.
    fn rows(self) -> Vec<u8> {
        // For each pass: its first column, its first row, and the distances between its columns and between its rows.
        const ADAM7: [(u32, u32, u32, u32); 7] =
            [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)];
        const WHOLE: [(u32, u32, u32, u32); 1] = [(0, 0, 1, 1)];
        let passes = if self.interlaced { &ADAM7[..] } else { &WHOLE[..] };
        let mut bytes = Vec::new();
        for &(left, top, right, down) in passes {
            let columns = || (left..self.width).step_by(right as usize);
            for y in (top..self.height).step_by(down as usize).filter(|_| columns().next().is_some()) {
                bytes.push(0);
                let (mut bits, mut count) = (0, 0);
                for (x, channel) in columns().flat_map(|x| (0..self.color.samples()).map(move |channel| (x, channel))) {
                    bits = bits << self.depth as u8 | u32::from(self.sample(x, y, channel));
                    count += self.depth as u8;
                    while count >= 8 {
                        count -= 8;
                        bytes.push((bits >> count) as u8);
                    }
                    bits &= (1 << count) - 1;
                }
                if count > 0 {
                    bytes.push((bits << (8 - count)) as u8);
                }
            }
        }
        bytes
    }
}

pub fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut bytes = (data.len() as u32).to_be_bytes().to_vec();
    bytes.extend(name);
    bytes.extend(data);
    let crc = !bytes[4..].iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    });
    bytes.extend(crc.to_be_bytes());
    bytes
}

pub fn stored(data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x78, 0x01];
    let blocks = data.chunks(65_535).count();
    for (index, block) in data.chunks(65_535).enumerate() {
        bytes.push((index + 1 == blocks).into());
        bytes.extend((block.len() as u16).to_le_bytes());
        bytes.extend((!(block.len() as u16)).to_le_bytes());
        bytes.extend(block);
    }
    let (a, b) = data.iter().fold((1, 0), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (a + b) % 65_521)
    });
    bytes.extend((b << 16 | a).to_be_bytes());
    bytes
}
