//! Decodes the chunk `VP8L` of a lossless WebP picture, as its specification (RFC 9649, section 3) says.
//!
//! The crate `image-webp` reads such pictures too, but takes 31 ns for a pixel of noise, as in carriers that another
//! program wrote again, and keeps all pixels with four bytes each. This decoder reads row by row, so the first rows
//! cost little, and the memory beside the result is that of two million pixels.

mod bits;
mod codes;
mod predict;
mod transform;

use std::io::{self, Read};
use std::ops::Range;

use self::bits::{Ahead, Bits};
use self::codes::Group;
use self::predict::Predictor;
use self::transform::{Palette, Tiles, Transform};

/// Why a frame cannot be decoded.
#[derive(Debug)]
pub enum Fault {
    Read(io::Error),
    /// The frame ends too early.
    Cut,
    Damaged(&'static str),
    /// The frame needs more memory than it may.
    Memory,
}

type Result<T> = std::result::Result<T, Fault>;

/// The memory that is left, in bytes.
pub struct Memory(u64);

impl Memory {
    pub fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    fn unlimited() -> Self {
        Self(u64::MAX)
    }

    fn take(&mut self, bytes: u64) -> Result<()> {
        self.0 = self.0.checked_sub(bytes).ok_or(Fault::Memory)?;
        Ok(())
    }
}

/// The first rows of a picture.
pub struct Rows {
    /// Red, green and blue of each pixel.
    pub samples: Vec<u8>,
    /// Whether all pixels have the alpha 255.
    pub opaque: bool,
}

/// References reach back this many pixels.
const REACH: usize = 1 << 20;

/// The distances of 120 common places: columns to the left, and rows up.
#[rustfmt::skip]
const NEAR: [(i8, i8); 120] = [
    (0, 1), (1, 0), (1, 1), (-1, 1), (0, 2), (2, 0), (1, 2), (-1, 2), (2, 1), (-2, 1), (2, 2), (-2, 2),
    (0, 3), (3, 0), (1, 3), (-1, 3), (3, 1), (-3, 1), (2, 3), (-2, 3), (3, 2), (-3, 2), (0, 4), (4, 0),
    (1, 4), (-1, 4), (4, 1), (-4, 1), (3, 3), (-3, 3), (2, 4), (-2, 4), (4, 2), (-4, 2), (0, 5), (3, 4),
    (-3, 4), (4, 3), (-4, 3), (5, 0), (1, 5), (-1, 5), (5, 1), (-5, 1), (2, 5), (-2, 5), (5, 2), (-5, 2),
    (4, 4), (-4, 4), (3, 5), (-3, 5), (5, 3), (-5, 3), (0, 6), (6, 0), (1, 6), (-1, 6), (6, 1), (-6, 1),
    (2, 6), (-2, 6), (6, 2), (-6, 2), (4, 5), (-4, 5), (5, 4), (-5, 4), (3, 6), (-3, 6), (6, 3), (-6, 3),
    (0, 7), (7, 0), (1, 7), (-1, 7), (5, 5), (-5, 5), (7, 1), (-7, 1), (4, 6), (-4, 6), (6, 4), (-6, 4),
    (2, 7), (-2, 7), (7, 2), (-7, 2), (3, 7), (-3, 7), (7, 3), (-7, 3), (5, 6), (-5, 6), (6, 5), (-6, 5),
    (8, 0), (4, 7), (-4, 7), (7, 4), (-7, 4), (8, 1), (8, 2), (6, 6), (-6, 6), (8, 3), (5, 7), (-5, 7),
    (7, 5), (-7, 5), (8, 4), (6, 7), (-6, 7), (7, 6), (-7, 6), (8, 5), (7, 7), (-7, 7), (8, 6), (8, 7),
];

/// Decodes the first `rows` rows of a frame, whose header told width and height.
pub fn decode(input: impl Read, width: u32, height: u32, rows: u32, mut memory: Memory) -> Result<Rows> {
    let mut bits = Bits::new(input);
    let result = frame(&mut bits, width, height, rows, &mut memory);
    // After the end of a frame that is cut, there are only zeros, which may break any rule.
    match bits.is_over() && !matches!(result, Err(Fault::Read(_) | Fault::Memory)) {
        true => Err(Fault::Cut),
        false => result,
    }
}

fn frame(bits: &mut Bits<impl Read>, width: u32, height: u32, rows: u32, memory: &mut Memory) -> Result<Rows> {
    // The signature, and the header that was read before.
    bits.read(8)?;
    for count in [14, 14, 4] {
        bits.read(count)?;
    }
    let (mut transforms, stored) = transforms(bits, width, height, memory)?;
    let length = 3 * width as usize * rows.min(height) as usize;
    memory.take(length as u64)?;
    let (mut samples, mut alpha) = (Vec::with_capacity(length), u32::MAX);
    let (mut scratch, mut y) = (Vec::new(), 0);
    // Rows of some transforms, and the one that is worked on.
    memory.take(16 * u64::from(width))?;
    let mut codes = Codes::read(bits, (stored, height), true, memory)?;
    codes.pixels(bits, (stored, height), rows, memory, |row| {
        let row = if transforms.is_empty() {
            row
        } else {
            scratch.clear();
            scratch.extend_from_slice(row);
            transforms.iter_mut().rev().for_each(|transform| transform.apply(&mut scratch, y));
            &scratch[..]
        };
        y += 1;
        let from = samples.len();
        samples.resize(from + 3 * row.len(), 0);
        for (to, pixel) in samples[from..].as_chunks_mut::<3>().0.iter_mut().zip(row) {
            let [blue, green, red, _] = pixel.to_le_bytes();
            *to = [red, green, blue];
            alpha &= pixel;
        }
    })?;
    Ok(Rows { samples, opaque: alpha >> 24 == 255 })
}

/// Reads the transforms. Returns them and the width of the picture that is stored.
fn transforms(
    bits: &mut Bits<impl Read>,
    mut width: u32,
    height: u32,
    memory: &mut Memory,
) -> Result<(Vec<Transform>, u32)> {
    let (mut transforms, mut seen) = (Vec::new(), [false; 4]);
    while bits.read(1)? == 1 {
        let kind = bits.read(2)?;
        if std::mem::replace(&mut seen[kind as usize], true) {
            return Err(Fault::Damaged("it has the same transform twice"));
        }
        transforms.push(match kind {
            0 => Transform::Predict(Predictor::new(tiles(bits, width, height, memory)?)?),
            1 => Transform::Color(tiles(bits, width, height, memory)?),
            2 => Transform::SubtractGreen,
            _ => {
                let count = bits.read(8)? + 1;
                let mut colors = values(bits, (count, 1), memory)?;
                // Each color is the difference to the one before.
                for at in 1..colors.len() {
                    colors[at] = predict::add(colors[at], colors[at - 1]);
                }
                let palette = Palette { colors, width: width as usize, packed: Palette::packed(count) };
                width = width.div_ceil(1 << palette.packed);
                Transform::Palette(palette)
            }
        });
    }
    Ok((transforms, width))
}

/// Reads one value for each square of pixels.
fn tiles(bits: &mut Bits<impl Read>, width: u32, height: u32, memory: &mut Memory) -> Result<Tiles> {
    let side = bits.read(3)? + 2;
    let (columns, rows) = (width.div_ceil(1 << side), height.div_ceil(1 << side));
    Ok(Tiles { bits: side, values: values(bits, (columns, rows), memory)?, columns: columns as usize })
}

/// Reads a picture that is part of another one's description.
fn values(bits: &mut Bits<impl Read>, size: (u32, u32), memory: &mut Memory) -> Result<Vec<u32>> {
    let count = size.0 as usize * size.1 as usize;
    memory.take(4 * count as u64)?;
    let mut values = Vec::with_capacity(count);
    // The codes are dropped at the end.
    let mut rest = Memory(memory.0);
    let mut codes = Codes::read(bits, size, false, &mut rest)?;
    codes.pixels(bits, size, size.1, &mut rest, |row| values.extend_from_slice(row))?;
    Ok(values)
}

/// The prefix codes of a picture.
struct Codes {
    groups: Vec<Option<Group>>,
    /// Which group a square of pixels has. `None` if there is only one group.
    tiles: Option<Tiles>,
    cache: Option<Cache>,
}

impl Codes {
    /// `whole` tells a picture from one that is part of its description, which has one group of codes.
    fn read(bits: &mut Bits<impl Read>, (width, height): (u32, u32), whole: bool, memory: &mut Memory) -> Result<Self> {
        let cache = match bits.read(1)? {
            0 => None,
            _ => Some(Cache::new(bits.read(4)?)?),
        };
        let mut tiles = None;
        if whole && bits.read(1)? == 1 {
            let mut read = self::tiles(bits, width, height, memory)?;
            read.values.iter_mut().for_each(|value| *value = *value >> 8 & 0xffff);
            tiles = Some(read);
        }
        let last = tiles.iter().flat_map(|tiles| &tiles.values).copied().max().unwrap_or(0) as usize;
        memory.take((last as u64 + 1) * (1 + size_of::<Option<Group>>() as u64))?;
        // A file may describe many groups that it does not use.
        let mut used = vec![tiles.is_none(); last + 1];
        tiles.iter().flat_map(|tiles| &tiles.values).for_each(|group| used[*group as usize] = true);
        let colors = cache.as_ref().map_or(0, |cache| cache.colors.len());
        let mut groups = Vec::with_capacity(used.len());
        for used in used {
            let group = match used {
                true => Group::read(bits, colors, memory)?,
                false => Group::read(bits, colors, &mut Memory::unlimited())?,
            };
            groups.push(Some(group).filter(|_| used));
        }
        Ok(Self { groups, tiles, cache })
    }

    /// Decodes the first `rows` rows, and gives each of them to `row`.
    fn pixels(
        &mut self,
        bits: &mut Bits<impl Read>,
        (width, height): (u32, u32),
        rows: u32,
        memory: &mut Memory,
        mut row: impl FnMut(&[u32]),
    ) -> Result<()> {
        let Self { groups, tiles, cache } = self;
        let (width, rows) = (width as usize, rows.min(height) as usize);
        let total = width * height as usize;
        // Only a few rows need no window.
        let length = total.min(2 * REACH).min(width * rows + LONGEST_COPY);
        memory.take(4 * length as u64)?;
        let mut window = Window { pixels: vec![0; length], at: 0, begin: 0, left: total };
        let (mut x, mut y, mut given) = (0, 0, 0);
        while given < rows {
            if window.at == length {
                window.slide();
            }
            let (group, border) = codes_at(groups, tiles.as_ref(), (x, y), width);
            let run = (border - x).min(length - window.at);
            let pixels = window.take(run);
            let (done, symbol) = literals(bits, group, cache.as_mut(), pixels);
            window.give_back(run - done);
            let more = match symbol {
                None if done < run => {
                    bits.more()?;
                    0
                }
                None => 0,
                Some(symbol) if symbol < 256 + 24 => {
                    let (length, distance) = reference(bits, group, symbol - 256, width)?;
                    window.copy(length, distance, cache.as_mut())?;
                    length
                }
                Some(symbol) => {
                    let color = cache.as_ref().map(|cache| cache.colors[symbol as usize - (256 + 24)]);
                    window.take(1)[0] = color.ok_or(Fault::Damaged("it has an unknown symbol"))?;
                    1
                }
            };
            x += done + more;
            (x, y) = if x < width { (x, y) } else { (x % width, y + x / width) };
            while let Some(pixels) = window.row(width).filter(|_| given < rows) {
                row(pixels);
                given += 1;
            }
        }
        Ok(())
    }
}

/// Returns the codes of a pixel, and the first column that may have others.
fn codes_at<'a>(
    groups: &'a [Option<Group>],
    tiles: Option<&Tiles>,
    (x, y): (usize, usize),
    width: usize,
) -> (&'a Group, usize) {
    let (group, border) = match tiles {
        None => (0, width),
        Some(tiles) => {
            let tile = x >> tiles.bits;
            (tiles.row(y as u32)[tile] as usize, ((tile + 1) << tiles.bits).min(width))
        }
    };
    (groups[group].as_ref().expect("the group of a tile is used"), border)
}

/// Fills `pixels` with literals. Returns how many, and the symbol where another one than a literal came.
#[inline(always)]
fn literals(
    bits: &mut Bits<impl Read>,
    group: &Group,
    cache: Option<&mut Cache>,
    pixels: &mut [u32],
) -> (usize, Option<u32>) {
    let (ahead, buffer) = (&mut bits.ahead, &*bits.buffer);
    match (group.alpha.only(), cache) {
        (Some(alpha), None) => run(ahead, buffer, group, pixels, |_| alpha, |_| ()),
        (Some(alpha), Some(cache)) => run(ahead, buffer, group, pixels, |_| alpha, |pixel| cache.insert(pixel)),
        (None, None) => run(ahead, buffer, group, pixels, |ahead| group.alpha.symbol(ahead), |_| ()),
        (None, Some(cache)) => {
            run(ahead, buffer, group, pixels, |ahead| group.alpha.symbol(ahead), |pixel| cache.insert(pixel))
        }
    }
}

#[inline(always)]
fn run(
    bits: &mut Ahead,
    buffer: &[u8],
    group: &Group,
    pixels: &mut [u32],
    alpha: impl Fn(&mut Ahead) -> u32,
    mut remember: impl FnMut(u32),
) -> (usize, Option<u32>) {
    // A copy, so that the compiler keeps it in registers.
    let mut ahead = *bits;
    let mut result = (pixels.len(), None);
    for (at, pixel) in pixels.iter_mut().enumerate() {
        // 56 bits are enough for three symbols, and for the alpha of most pixels.
        let before = ahead;
        if !ahead.refill(buffer) {
            result = (at, None);
            break;
        }
        let green = group.green.symbol(&mut ahead);
        if green >= 256 {
            result = (at, Some(green));
            break;
        }
        let (red, blue) = (group.red.symbol(&mut ahead), group.blue.symbol(&mut ahead));
        if group.alpha.only().is_none() && !ahead.refill(buffer) {
            ahead = before;
            result = (at, None);
            break;
        }
        *pixel = alpha(&mut ahead) << 24 | red << 16 | green << 8 | blue;
        remember(*pixel);
    }
    *bits = ahead;
    result
}

/// Reads the rest of a reference. Returns its length and its distance, in pixels.
fn reference(bits: &mut Bits<impl Read>, group: &Group, symbol: u32, width: usize) -> Result<(usize, usize)> {
    bits.refill()?;
    let length = number(&mut bits.ahead, symbol);
    let symbol = group.distance.symbol(&mut bits.ahead);
    bits.refill()?;
    let code = number(&mut bits.ahead, symbol);
    let distance = match NEAR.get(code - 1) {
        Some(&(left, up)) => (up as isize * width as isize + left as isize).max(1) as usize,
        None => code - NEAR.len(),
    };
    Ok((length, distance))
}

/// Returns the number that a prefix stands for, with the bits that follow it.
fn number(ahead: &mut Ahead, prefix: u32) -> usize {
    if prefix < 4 {
        return prefix as usize + 1;
    }
    let extra = (prefix - 2) >> 1;
    (((2 + (prefix & 1)) << extra) + ahead.take(extra) + 1) as usize
}

/// The longest copy of earlier pixels.
const LONGEST_COPY: usize = 4096;

/// The pixels that references can reach, and those of rows that are not complete.
struct Window {
    pixels: Vec<u32>,
    /// The place of the next pixel.
    at: usize,
    /// The place of the first row that was not taken out.
    begin: usize,
    /// The number of pixels to come in the whole picture.
    left: usize,
}

impl Window {
    /// Makes room for more pixels.
    fn slide(&mut self) {
        let from = self.at.saturating_sub(REACH).min(self.begin);
        self.pixels.copy_within(from..self.at, 0);
        self.at -= from;
        self.begin -= from;
    }

    /// Returns the room for the next pixels.
    fn take(&mut self, count: usize) -> &mut [u32] {
        let from = self.at;
        self.at += count;
        self.left -= count;
        &mut self.pixels[from..self.at]
    }

    fn give_back(&mut self, count: usize) {
        self.at -= count;
        self.left += count;
    }

    /// Copies earlier pixels.
    fn copy(&mut self, length: usize, distance: usize, cache: Option<&mut Cache>) -> Result<()> {
        if distance > self.at || length > self.left {
            return Err(Fault::Damaged("it has a reference to pixels outside the picture"));
        }
        if self.at + length > self.pixels.len() {
            self.slide();
        }
        let to = self.at;
        self.take(length);
        match distance >= length {
            true => self.pixels.copy_within(to - distance..to - distance + length, to),
            false => (to..to + length).for_each(|at| self.pixels[at] = self.pixels[at - distance]),
        }
        let copied: Range<usize> = to..self.at;
        cache.into_iter().for_each(|cache| self.pixels[copied.clone()].iter().for_each(|pixel| cache.insert(*pixel)));
        Ok(())
    }

    /// Takes a row out, if it is complete.
    fn row(&mut self, width: usize) -> Option<&[u32]> {
        let row = self.pixels[self.begin..self.at].get(..width)?;
        self.begin += width;
        Some(row)
    }
}

/// Colors of earlier pixels, at places that a hash of the color chooses.
struct Cache {
    colors: Vec<u32>,
    shift: u32,
}

impl Cache {
    fn new(bits: u32) -> Result<Self> {
        match bits {
            1..=11 => Ok(Self { colors: vec![0; 1 << bits], shift: 32 - bits }),
            _ => Err(Fault::Damaged("its color cache has an impossible size")),
        }
    }

    #[inline(always)]
    fn insert(&mut self, color: u32) {
        let place = color.wrapping_mul(0x1e35_a7bd) >> self.shift;
        self.colors[place as usize] = color;
    }
}
