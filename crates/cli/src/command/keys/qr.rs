//! QR codes (ISO/IEC 18004) of bytes, at error correction level M. The code, and all that leads to it, lies in memory
//! that is wiped: a code of a private key is the key.

use deadpan_seal::Secret;

/// For each version, the number of check bytes in a block, and the number of blocks. The last version holds 711 bytes.
const BLOCKS: [(usize, usize); 21] = [
    (10, 1),
    (16, 1),
    (26, 1),
    (18, 2),
    (24, 2),
    (16, 4),
    (18, 4),
    (22, 4),
    (22, 5),
    (26, 5),
    (30, 5),
    (22, 8),
    (22, 9),
    (24, 9),
    (24, 10),
    (28, 10),
    (28, 11),
    (26, 13),
    (26, 14),
    (26, 16),
    (26, 17),
];
/// The number of masks.
const MASKS: usize = 8;

/// A QR code.
pub struct QrCode {
    version: usize,
    /// The number of modules on a side.
    pub width: usize,
    /// The modules in rows, as 1 for black and 0 for white.
    modules: Secret,
    /// The modules that do not depend on the data.
    fixed: Vec<bool>,
}

impl QrCode {
    /// Returns the smallest code of the text, or `None` if the text is too long.
    pub fn new(text: &[u8]) -> Option<Self> {
        let version = (1..=BLOCKS.len()).find(|version| text.len() + front(*version) <= room(*version))?;
        let width = 4 * version + 17;
        let modules = Secret::zeroed(width * width);
        let mut code = Self { version, width, modules, fixed: vec![false; width * width] };
        code.draw_fixed();
        code.draw(&with_checks(version, &encoded(version, text)));
        // Of all masks, the one is chosen whose code is easiest to read. A mask that is applied twice is gone.
        let cost = |mask| {
            code.mask(mask);
            let cost = code.cost();
            code.mask(mask);
            (cost, mask)
        };
        let (_, best) = (0..MASKS).map(cost).min()?;
        code.mask(best);
        Some(code)
    }

    /// Returns a row of modules, as 1 for black and 0 for white.
    pub fn row(&self, y: usize) -> &[u8] {
        &self.modules[y * self.width..][..self.width]
    }

    fn at(&self, x: usize, y: usize) -> u8 {
        self.modules[y * self.width + x]
    }

    fn set(&mut self, x: usize, y: usize, is_black: bool) {
        let at = y * self.width + x;
        self.modules[at] = u8::from(is_black);
        self.fixed[at] = true;
    }

    /// Draws a pattern of concentric squares around a module. `black` tells which distances from the center are black.
    fn square(&mut self, (x, y): (usize, usize), radius: usize, black: &[usize]) {
        let ends = |center: usize| center.saturating_sub(radius)..(center + radius + 1).min(self.width);
        let (rows, columns) = (ends(y), ends(x));
        for row in rows {
            for column in columns.clone() {
                let distance = row.abs_diff(y).max(column.abs_diff(x));
                self.set(column, row, black.contains(&distance));
            }
        }
    }

    fn draw_fixed(&mut self) {
        let last = self.width - 4;
        for at in 0..self.width {
            self.set(at, 6, at % 2 == 0);
            self.set(6, at, at % 2 == 0);
        }
        for center in [(3, 3), (last, 3), (3, last)] {
            self.square(center, 4, &[0, 1, 3]);
        }
        let places = places(self.version);
        let end = places.len().saturating_sub(1);
        for (row, y) in places.iter().enumerate() {
            for (column, x) in places.iter().enumerate() {
                if ![(0, 0), (0, end), (end, 0)].contains(&(row, column)) {
                    self.square((*x, *y), 2, &[0, 2]);
                }
            }
        }
        self.draw_format(0);
        if self.version >= 7 {
            let bits = self.version << 12 | remainder(self.version, 12, 0x1f25);
            for bit in 0..18 {
                let (a, b) = (self.width - 11 + bit % 3, bit / 3);
                self.set(a, b, bits >> bit & 1 == 1);
                self.set(b, a, bits >> bit & 1 == 1);
            }
        }
    }

    /// Draws the level, which is 0 for M, and the mask.
    fn draw_format(&mut self, mask: usize) {
        let bits = (mask << 10 | remainder(mask, 10, 0x537)) ^ 0x5412;
        for bit in 0..15 {
            let is_black = bits >> bit & 1 == 1;
            let (x, y) = match bit {
                0..6 => (8, bit),
                6 | 7 => (8, bit + 1),
                8 => (7, 8),
                _ => (14 - bit, 8),
            };
            self.set(x, y, is_black);
            let (x, y) = if bit < 8 { (self.width - 1 - bit, 8) } else { (8, self.width - 15 + bit) };
            self.set(x, y, is_black);
        }
        self.set(8, self.width - 8, true);
    }

    /// Draws the data, from the lower right corner, in columns of two modules that go up and down in turn.
    fn draw(&mut self, data: &[u8]) {
        let (width, mut bit) = (self.width, 0);
        let columns = (0..width / 2).map(|pair| width - 1 - 2 * pair - usize::from(width - 1 - 2 * pair <= 6));
        for (pair, right) in columns.enumerate() {
            for step in 0..width {
                let y = if pair % 2 == 0 { width - 1 - step } else { step };
                for x in [right, right - 1] {
                    let at = y * width + x;
                    if !self.fixed[at] {
                        // The few modules after the data are white.
                        self.modules[at] = data.get(bit / 8).map_or(0, |byte| byte >> (7 - bit % 8) & 1);
                        bit += 1;
                    }
                }
            }
        }
    }

    /// Inverts the modules of a mask, and draws the number of the mask.
    fn mask(&mut self, mask: usize) {
        for y in 0..self.width {
            for x in 0..self.width {
                let inverts = match mask {
                    0 => (x + y) % 2,
                    1 => y % 2,
                    2 => x % 3,
                    3 => (x + y) % 3,
                    4 => (x / 3 + y / 2) % 2,
                    5 => x * y % 2 + x * y % 3,
                    6 => (x * y % 2 + x * y % 3) % 2,
                    _ => ((x + y) % 2 + x * y % 3) % 2,
                };
                let at = y * self.width + x;
                self.modules[at] ^= u8::from(inverts == 0 && !self.fixed[at]);
            }
        }
        self.draw_format(mask);
    }

    /// Returns the cost of the code by the rules of the standard: long runs, squares, patterns like those of the
    /// corners, and too much of one color.
    fn cost(&self) -> usize {
        let (width, mut cost) = (self.width, 0);
        for line in 0..width {
            for is_row in [true, false] {
                let at = |index: usize| if is_row { self.at(index, line) } else { self.at(line, index) };
                let (mut run, mut recent) = (0, 0_u16);
                for index in 0..width {
                    run = if index > 0 && at(index) == at(index - 1) { run + 1 } else { 1 };
                    cost += match run {
                        5 => 3,
                        6.. => 1,
                        _ => 0,
                    };
                    recent = (recent << 1 | u16::from(at(index))) & 0x7ff;
                    if index >= 10 && (recent == 0x5d0 || recent == 0x05d) {
                        cost += 40;
                    }
                }
            }
        }
        for y in 1..width {
            for x in 1..width {
                let four = self.at(x, y) + self.at(x - 1, y) + self.at(x, y - 1) + self.at(x - 1, y - 1);
                cost += if four.is_multiple_of(4) { 3 } else { 0 };
            }
        }
        let black: usize = self.modules.iter().map(|module| usize::from(*module)).sum();
        cost + (black * 20).abs_diff(width * width * 10) / (width * width) * 10
    }
}

/// Returns the number of bytes that a code of this version holds, without its check bytes.
fn room(version: usize) -> usize {
    let (checks, blocks) = BLOCKS[version - 1];
    all_bytes(version) - checks * blocks
}

/// Returns the number of bytes that the data need before the text and after it: 4 bits, the length, and 4 bits.
fn front(version: usize) -> usize {
    if version < 10 { 2 } else { 3 }
}

/// Returns the number of bytes in a code of this version.
fn all_bytes(version: usize) -> usize {
    let mut modules = (16 * version + 128) * version + 64;
    if version >= 2 {
        let places = version / 7 + 2;
        modules -= (25 * places - 10) * places - 55;
    }
    if version >= 7 {
        modules -= 36;
    }
    modules / 8
}

/// Returns the columns, and also the rows, of the alignment patterns.
fn places(version: usize) -> Vec<usize> {
    if version == 1 {
        return Vec::new();
    }
    let count = version / 7 + 2;
    let step = (version * 8 + count * 3 + 5) / (count * 4 - 4) * 2;
    let last = 4 * version + 10;
    [6].into_iter().chain((0..count - 1).rev().map(|back| last - back * step)).collect()
}

/// Returns the remainder of a polynomial, multiplied by x to the power of `degree`.
fn remainder(value: usize, degree: usize, generator: usize) -> usize {
    (0..degree).fold(value, |rest, _| (rest << 1) ^ ((rest >> (degree - 1)) * generator))
}

/// Returns the bytes of the data: the mode, the length, the text, and padding.
fn encoded(version: usize, text: &[u8]) -> Secret {
    let mut data = Secret::zeroed(room(version));
    let mut bit = 0;
    let mut put = |value: usize, bits: usize| {
        for shift in (0..bits).rev() {
            data[bit / 8] |= ((value >> shift & 1) as u8) << (7 - bit % 8);
            bit += 1;
        }
    };
    put(4, 4);
    put(text.len(), if version < 10 { 8 } else { 16 });
    text.iter().for_each(|byte| put((*byte).into(), 8));
    put(0, 4);
    let padding = bit / 8;
    for (byte, pad) in data[padding..].iter_mut().zip([0xec, 0x11].into_iter().cycle()) {
        *byte = pad;
    }
    data
}

/// Divides the data into blocks, adds the check bytes, and interleaves the blocks.
fn with_checks(version: usize, data: &[u8]) -> Secret {
    let (checks, blocks) = BLOCKS[version - 1];
    let all = all_bytes(version);
    let short = all / blocks - checks;
    let longer = all % blocks;
    let divisor = divisor(checks);
    let mut result = Secret::zeroed(all);
    let mut rest = data;
    for block in 0..blocks {
        let is_long = block >= blocks - longer;
        let (bytes, after) = rest.split_at(short + usize::from(is_long));
        rest = after;
        for (index, byte) in bytes.iter().enumerate() {
            // Only the long blocks have the last byte.
            let place = if index == short { block - (blocks - longer) } else { block };
            result[index * blocks + place] = *byte;
        }
        for (index, byte) in check_bytes(bytes, &divisor).iter().enumerate() {
            result[data.len() + index * blocks + block] = *byte;
        }
    }
    result
}

/// Returns the generator polynomial of a Reed-Solomon code, without its first coefficient.
fn divisor(degree: usize) -> Vec<u8> {
    let mut divisor = vec![0; degree];
    divisor[degree - 1] = 1;
    let mut root = 1;
    for _ in 0..degree {
        for index in 0..degree {
            let next = divisor.get(index + 1).copied().unwrap_or_default();
            divisor[index] = multiply(divisor[index], root) ^ next;
        }
        root = multiply(root, 2);
    }
    divisor
}

fn check_bytes(data: &[u8], divisor: &[u8]) -> Secret {
    let mut checks = Secret::zeroed(divisor.len());
    for byte in data {
        let factor = byte ^ checks[0];
        checks.copy_within(1.., 0);
        checks[divisor.len() - 1] = 0;
        checks.iter_mut().zip(divisor).for_each(|(check, coefficient)| *check ^= multiply(*coefficient, factor));
    }
    checks
}

/// Multiplies in the field with 256 elements of QR codes.
fn multiply(a: u8, b: u8) -> u8 {
    (0..8).rev().fold(0, |product: u8, bit| (product << 1) ^ ((product >> 7) * 0x1d) ^ ((b >> bit & 1) * a))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a code with the decoder of another author.
    fn read(code: &QrCode) -> (usize, u16, Vec<u8>) {
        let side = (code.width + 8) * 2;
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, |x, y| {
            let inside = |at: usize| (at / 2).checked_sub(4).filter(|at| *at < code.width);
            let is_black = inside(x).zip(inside(y)).is_some_and(|(x, y)| code.row(y)[x] == 1);
            if is_black { 0 } else { 255 }
        });
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1, "version {}", code.version);
        let mut text = Vec::new();
        let about = grids[0].decode_to(&mut text).unwrap();
        // Level M has the number 0.
        assert_eq!(about.ecc_level, 0);
        (about.version.0, about.mask, text)
    }

    #[test]
    fn another_decoder_reads_codes_of_each_version() {
        let mut masks = std::collections::BTreeSet::new();
        for version in 1..=BLOCKS.len() {
            let most = room(version) - front(version);
            let least = if version == 1 { 0 } else { room(version - 1) - front(version - 1) + 1 };
            for length in [least, least + 1, most - 1, most] {
                let text: Vec<u8> = (0..length).map(|index| b"abc defghi\n"[index * index % 11]).collect();
                let code = QrCode::new(&text).unwrap();
                assert_eq!((code.version, code.width), (version, 17 + 4 * version));
                let (read_version, mask, back) = read(&code);
                assert_eq!((read_version, back), (version, text), "{length}");
                masks.insert(mask);
            }
        }
        assert!(masks.len() > 4, "{masks:?}");
    }

    #[test]
    fn the_last_version_holds_711_bytes() {
        assert!(QrCode::new(&[b'x'; 711]).is_some() && QrCode::new(&[b'x'; 712]).is_none());
    }

    #[test]
    fn damage_is_corrected() {
        // Level M corrects about 15 % of the bytes.
        let mut code = QrCode::new(&[b'x'; 300]).unwrap();
        for at in (code.width * 20..code.width * 22).step_by(2) {
            code.modules[at] ^= u8::from(!code.fixed[at]);
        }
        assert_eq!(read(&code).2, [b'x'; 300]);
    }
}
