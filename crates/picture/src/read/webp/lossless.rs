//! Decodes the chunk `VP8L` of a lossless WebP picture, as its specification (RFC 9649, section 3) says.
//!
//! The crate `image-webp` also reads lossless pictures, but takes 31 ns for a pixel of noise, and keeps every pixel of
//! the picture in four bytes. Noise occurs in carriers that another program wrote again. This decoder reads row by row.
//! So decoding the first rows takes little time, and besides the result, this decoder needs memory only for a million
//! pixels.

mod bits;
mod codes;
mod lengths;
mod predict;
mod transform;

use std::io::{self, Read};

use self::bits::{Ahead, BitReader};
use self::codes::{CodeScratch, Group, Noise};
use self::predict::Predictor;
use self::transform::{Palette, Tiles, Transform, add_green};
use super::super::make_room;

/// The reason why a frame cannot be decoded.
#[derive(Debug)]
pub enum Fault {
    Read(io::Error),
    /// The frame ends too early.
    Cut,
    Damaged(&'static str),
    /// The frame needs more memory than the limit allows. The value is the minimum number of bytes that the frame
    /// needs.
    Memory(u64),
}

type Result<T> = std::result::Result<T, Fault>;

/// Counts memory before it is allocated, in bytes.
#[derive(Clone)]
pub struct Memory {
    taken: u64,
    most: u64,
}

impl Memory {
    pub fn new(most: u64) -> Self {
        Self { taken: 0, most }
    }

    fn take(&mut self, bytes: u64) -> Result<()> {
        self.taken += bytes;
        if self.taken > self.most { Err(Fault::Memory(self.taken)) } else { Ok(()) }
    }
}

/// The first rows of a picture.
pub struct Rows {
    /// Red, green and blue of each pixel.
    pub samples: Vec<u8>,
    /// Whether all pixels have the alpha 255.
    pub opaque: bool,
}

/// The maximum distance of a reference, in pixels.
const REACH: usize = 1 << 20;

/// The 120 distances that have short codes: how many columns to the left and how many rows up the copied pixel is.
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

/// Decodes the first `rows` rows of a frame. Width and height come from the frame's header. `room` is memory for the
/// samples; the contents of `room` do not matter.
pub fn decode(
    input: impl Read,
    (width, height): (u32, u32),
    rows: u32,
    room: Vec<u8>,
    mut memory: Memory,
) -> Result<Rows> {
    let mut bits = BitReader::new(input);
    let result = frame(&mut bits, (width, height), rows, room, &mut memory);
    // After the end of a cut frame, the reader returns zeros, and these zeros may cause any other error.
    if bits.is_over() && !matches!(result, Err(Fault::Read(_) | Fault::Memory(_))) { Err(Fault::Cut) } else { result }
}

/// For a picture without a palette, returns the size in bytes of the buffer for earlier pixels, which references may
/// copy, while the first `rows` rows are decoded.
pub fn window(width: u32, height: u32, rows: u32) -> u64 {
    let (width, height) = (width as usize, height as usize);
    4 * (kept(width, height, height.min(rows as usize)) * width) as u64
}

/// Returns how many rows must stay in memory for references. If only a few rows are decoded, the buffer holds these
/// rows and the rows that one longest back-reference can fill.
fn kept(width: usize, height: usize, rows: usize) -> usize {
    height.min(REACH.div_ceil(width)).min(rows + LONGEST_COPY.div_ceil(width))
}

fn frame(
    bits: &mut BitReader<impl Read>,
    (width, height): (u32, u32),
    rows: u32,
    mut samples: Vec<u8>,
    memory: &mut Memory,
) -> Result<Rows> {
    // Skip the signature and the header, which were read before.
    bits.read(8)?;
    for count in [14, 14, 4] {
        bits.read(count)?;
    }
    let (mut transforms, stored) = transforms(bits, width, height, memory)?;
    let length = 3 * width as usize * rows.min(height) as usize;
    memory.take(length as u64)?;
    make_room(&mut samples, length);
    // Encoders subtract green first, so the decoder adds green last. Green is added while the samples are written, so
    // no separate pass is needed.
    let is_green_last = matches!(transforms.first(), Some(Transform::SubtractGreen));
    transforms.drain(..usize::from(is_green_last));
    let (mut rest, mut alpha) = (&mut samples[..], u32::MAX);
    let (mut scratch, mut y) = (Vec::new(), 0);
    // The memory for the rows of some transforms and for the current row.
    memory.take(16 * u64::from(width))?;
    let mut codes = Codes::read(bits, (stored, height), rows, true, memory)?;
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
        let to = rest.split_off_mut(..3 * row.len()).expect("the picture has room for its rows");
        alpha &= if is_green_last { unpack(row, to, add_green) } else { unpack(row, to, |pixel| pixel) };
    })?;
    Ok(Rows { samples, opaque: alpha >> 24 == 255 })
}

/// Writes the samples of a row, after `last` has transformed each pixel. Returns the bitwise AND of the alpha values of
/// all pixels in the row, in the upper 8 bits.
fn unpack(row: &[u32], samples: &mut [u8], last: impl Fn(u32) -> u32) -> u32 {
    let mut alpha = u32::MAX;
    let mut rgb = |pixel: u32| {
        alpha &= pixel;
        last(pixel).swap_bytes() >> 8
    };
    // Twelve samples (four pixels) are written as three 32-bit words.
    let ((four, others), (words, end)) = (row.as_chunks::<4>(), samples.as_chunks_mut::<12>());
    for (pixels, words) in four.iter().zip(words) {
        let [a, b, c, d] = pixels.map(&mut rgb);
        let [first, second, third] = [a | b << 24, b >> 8 | c << 16, c >> 16 | d << 8].map(u32::to_le_bytes);
        words[..4].copy_from_slice(&first);
        words[4..8].copy_from_slice(&second);
        words[8..].copy_from_slice(&third);
    }
    for (pixel, sample) in others.iter().zip(end.chunks_exact_mut(3)) {
        sample.copy_from_slice(&rgb(*pixel).to_le_bytes()[..3]);
    }
    alpha
}

/// Reads the transforms.
fn transforms(
    bits: &mut BitReader<impl Read>,
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
                // Each color is stored as the difference to the previous color.
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
fn tiles(bits: &mut BitReader<impl Read>, width: u32, height: u32, memory: &mut Memory) -> Result<Tiles> {
    let side = bits.read(3)? + 2;
    let (columns, rows) = (width.div_ceil(1 << side), height.div_ceil(1 << side));
    Ok(Tiles { bits: side, values: values(bits, (columns, rows), memory)?, columns: columns as usize })
}

/// Reads a picture that is part of the description of another picture.
fn values(bits: &mut BitReader<impl Read>, size: (u32, u32), memory: &mut Memory) -> Result<Vec<u32>> {
    let count = size.0 as usize * size.1 as usize;
    memory.take(4 * count as u64)?;
    let mut values = Vec::with_capacity(count);
    // The codes are dropped at the end.
    let mut rest = memory.clone();
    let mut codes = Codes::read(bits, size, size.1, false, &mut rest)?;
    codes.pixels(bits, size, size.1, &mut rest, |row| values.extend_from_slice(row))?;
    Ok(values)
}

/// The prefix codes for the first rows of a picture.
struct Codes {
    /// The groups that these rows use.
    groups: Vec<Group>,
    /// The group of each square of pixels. `None` if there is only one group.
    tiles: Option<Tiles>,
    cache: Option<Cache>,
}

impl Codes {
    /// Reads the codes that the first `rows` rows need. `whole` is false for a picture that is part of another
    /// picture's description. A picture inside a description has only one group of codes.
    fn read(
        bits: &mut BitReader<impl Read>,
        (width, height): (u32, u32),
        rows: u32,
        whole: bool,
        memory: &mut Memory,
    ) -> Result<Self> {
        let cache = match bits.read(1)? {
            0 => None,
            _ => Some(Cache::new(bits.read(4)?)?),
        };
        let colors = cache.as_ref().map_or(0, |cache| cache.colors.len());
        let mut scratch = CodeScratch::new();
        if !whole || bits.read(1)? == 0 {
            let pixels = u64::from(width) * u64::from(rows.min(height));
            let groups = vec![Group::read(bits, colors, pixels, &mut scratch, memory)?];
            return Ok(Self { groups, tiles: None, cache });
        }
        let mut tiles = self::tiles(bits, width, height, memory)?;
        let group = |value: u32| (value >> 8 & 0xffff) as usize;
        let described = 1 + tiles.values.iter().copied().map(group).max().unwrap_or(0);
        // For each group, the number of squares in the first `rows` rows that use the group. A file may describe many
        // groups that it does not use.
        memory.take(4 * described as u64)?;
        let mut squares = vec![0_u32; described];
        let needed = tiles.columns * rows.min(height).div_ceil(1 << tiles.bits) as usize;
        tiles.values[..needed].iter().for_each(|value| squares[group(*value)] += 1);
        let used = squares.iter().filter(|squares| **squares > 0).count();
        memory.take((used * size_of::<Group>()) as u64)?;
        let mut groups = Vec::with_capacity(used);
        for squares in &mut squares {
            if *squares == 0 {
                Group::skip(bits, colors, &mut scratch)?;
                continue;
            }
            let pixels = u64::from(*squares) << (2 * tiles.bits);
            // The entry counted squares. From here on, the entry is the new number of the group. Unused groups get no
            // new number.
            *squares = groups.len() as u32;
            groups.push(Group::read(bits, colors, pixels, &mut scratch, memory)?);
        }
        tiles.values.truncate(needed);
        tiles.values.iter_mut().for_each(|value| *value = squares[group(*value)]);
        Ok(Self { groups, tiles: Some(tiles), cache })
    }

    /// Decodes the first `rows` rows, and passes each row to `row`.
    fn pixels(
        &mut self,
        bits: &mut BitReader<impl Read>,
        (width, height): (u32, u32),
        rows: u32,
        memory: &mut Memory,
        mut row: impl FnMut(&[u32]),
    ) -> Result<()> {
        let Self { groups, tiles, cache } = self;
        let (width, rows) = (width as usize, rows.min(height) as usize);
        let kept = kept(width, height as usize, rows);
        memory.take(4 * (kept * width) as u64)?;
        let mut window = Window::new(kept * width, width * height as usize, cache.as_mut());
        let (mut x, mut y, mut given) = (0, 0, 0);
        while given < rows {
            let (group, border) = codes_at(groups, tiles.as_ref(), (x, y), width);
            let run = border - x;
            let pixels = window.take(run);
            let (done, symbol) = literals(&mut bits.ahead, &bits.buffer, group, pixels);
            window.give_back(run - done);
            let more = match symbol {
                None if done < run => {
                    bits.more()?;
                    0
                }
                None => 0,
                Some(symbol) if symbol < 256 + 24 => {
                    let (length, distance) = reference(bits, group, symbol - 256, width)?;
                    window.copy(length, distance)?;
                    length
                }
                Some(symbol) => {
                    window.color(symbol as usize - (256 + 24))?;
                    1
                }
            };
            x += done + more;
            (x, y) = if x < width { (x, y) } else { (x % width, y + x / width) };
            while given < y.min(rows) {
                row(window.row(given % kept, width));
                given += 1;
            }
        }
        Ok(())
    }
}

/// Returns the group of codes for a pixel, and the column where the next group may begin.
fn codes_at<'a>(
    groups: &'a [Group],
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
    (&groups[group], border)
}

/// Decodes literals into `pixels` while the buffer has enough bits. Returns the number of decoded pixels, and the
/// symbol that ended the decoding, if that symbol is not a literal.
fn literals(ahead: &mut Ahead, buffer: &[u8], group: &Group, pixels: &mut [u32]) -> (usize, Option<u32>) {
    match (&group.noise, group.alpha.only()) {
        (Some(noise), alpha) => {
            let mut done = 0;
            while done < pixels.len() {
                done += noisy(ahead, buffer, noise, &mut pixels[done..]);
                // The fast loop could not decode this pixel.
                let Some(next) = pixels.get_mut(done..=done) else { break };
                match run(ahead, buffer, group, next, |_| alpha.unwrap_or(0)) {
                    (0, symbol) => return (done, symbol),
                    (more, _) => done += more,
                }
            }
            (done, None)
        }
        (None, Some(alpha)) => run(ahead, buffer, group, pixels, |_| alpha),
        (None, None) => run(ahead, buffer, group, pixels, |ahead| group.alpha.symbol(ahead)),
    }
}

/// Decodes pixels into `pixels` in pairs, until a pixel has a code that is rare in noise. A single last pixel stays
/// unfilled. Returns the number of filled pixels.
fn noisy(bits: &mut Ahead, buffer: &[u8], noise: &Noise, pixels: &mut [u32]) -> usize {
    const { assert!(2 * Noise::LONGEST <= 56, "one refill is enough for two pixels") };
    let mut ahead = *bits;
    let mut done = 0;
    for [first, second] in pixels.as_chunks_mut().0 {
        if !ahead.refill(buffer) {
            break;
        }
        let Some(pixel) = noise.pixel(&mut ahead) else { break };
        *first = pixel;
        done += 1;
        let Some(pixel) = noise.pixel(&mut ahead) else { break };
        *second = pixel;
        done += 1;
    }
    *bits = ahead;
    done
}

#[inline(always)]
fn run(
    bits: &mut Ahead,
    buffer: &[u8],
    group: &Group,
    pixels: &mut [u32],
    alpha: impl Fn(&mut Ahead) -> u32,
) -> (usize, Option<u32>) {
    // Work on a copy, so that the compiler keeps the copy in registers.
    let mut ahead = *bits;
    let mut result = (pixels.len(), None);
    for (at, pixel) in pixels.iter_mut().enumerate() {
        // 56 bits are enough for the three symbols of color, and mostly also for alpha.
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
    }
    *bits = ahead;
    result
}

/// Reads the rest of a reference. Returns the length and the distance of the reference, in pixels.
fn reference(bits: &mut BitReader<impl Read>, group: &Group, symbol: u32, width: usize) -> Result<(usize, usize)> {
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

/// Decodes a number from its prefix and from the bits that follow the prefix.
fn number(ahead: &mut Ahead, prefix: u32) -> usize {
    if prefix < 4 {
        return prefix as usize + 1;
    }
    let extra = (prefix - 2) >> 1;
    (((2 + (prefix & 1)) << extra) + ahead.take(extra) + 1) as usize
}

/// The maximum number of earlier pixels in one copy.
const LONGEST_COPY: usize = 4096;

/// The pixels that references can reach, in a ring buffer of whole rows. Each row is passed to the caller before it is
/// overwritten.
struct Window<'c> {
    pixels: Vec<u32>,
    /// The place of the next pixel.
    at: usize,
    total: usize,
    left: usize,
    cache: Option<&'c mut Cache>,
    /// The position of the first pixel that was not added to the cache yet. Pixels are added only when a symbol refers
    /// to the cache, which is rare in noise.
    cached: usize,
}

impl<'c> Window<'c> {
    fn new(length: usize, total: usize, cache: Option<&'c mut Cache>) -> Self {
        Self { pixels: vec![0; length], at: 0, total, left: total, cache, cached: 0 }
    }

    /// Adds all pixels to the cache, and returns the cache.
    fn cache(&mut self) -> Option<&Cache> {
        let new = self.cached..self.at;
        self.cached = self.at;
        self.cache.as_mut().map(|cache| {
            cache.insert(&self.pixels[new]);
            &**cache
        })
    }

    /// Appends a color of the cache.
    fn color(&mut self, place: usize) -> Result<()> {
        let color = self.cache().map(|cache| cache.colors[place]).ok_or(Fault::Damaged("it has an unknown symbol"))?;
        // As in libwebp, an empty cache entry returns transparent black, which is then added to the cache. `image-webp`
        // does not add transparent black. A fuzz target compares this decoder with `image-webp`.
        if cfg!(fuzzing) && color == 0 && place > 0 {
            return Err(Fault::Damaged("it has a color that its cache does not know"));
        }
        self.take(1)[0] = color;
        Ok(())
    }

    /// Returns the memory for the next `count` pixels, which must be in one row.
    fn take(&mut self, count: usize) -> &mut [u32] {
        if self.at == self.pixels.len() {
            self.cache();
            (self.at, self.cached) = (0, 0);
        }
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
    fn copy(&mut self, mut length: usize, distance: usize) -> Result<()> {
        if distance > self.total - self.left || length > self.left {
            return Err(Fault::Damaged("it has a reference to pixels outside the picture"));
        }
        let end = self.pixels.len();
        while length > 0 {
            // At the end of the ring buffer, this call continues at the buffer's beginning.
            self.take(0);
            let to = self.at;
            let from = if distance <= to { to - distance } else { end + to - distance };
            let now = length.min(end - to.max(from));
            if from < to && to - from < now {
                // The copied pixels overlap their source, so the source pixels are repeated.
                (0..now).for_each(|at| self.pixels[to + at] = self.pixels[from + at])
            } else {
                self.pixels.copy_within(from..from + now, to)
            }
            self.take(now);
            length -= now;
        }
        Ok(())
    }

    /// Returns a row.
    fn row(&self, place: usize, width: usize) -> &[u32] {
        &self.pixels[place * width..][..width]
    }
}

/// Colors of earlier pixels, each in the entry that a hash of the color chooses.
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

    fn insert(&mut self, pixels: &[u32]) {
        let place = |color: u32| (color.wrapping_mul(0x1e35_a7bd) >> self.shift) as usize;
        if pixels.len() < 16 * self.colors.len() {
            pixels.iter().for_each(|color| self.colors[place(*color)] = *color);
            return;
        }
        // If several colors have the same entry, only the last color stays in it. So the pixels are read backwards
        // until every entry has a color.
        let (mut known, mut left) = (vec![false; self.colors.len()], self.colors.len());
        for &color in pixels.iter().rev() {
            let place = place(color);
            if !std::mem::replace(&mut known[place], true) {
                self.colors[place] = color;
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decoding only the first rows needs only some groups of codes.
    #[test]
    fn first_rows_have_the_pixels_of_the_whole_picture() {
        let mut fewer = 0;
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/lossless")).expect("the folder")
        {
            let path = file.expect("an entry").path();
            let file = std::fs::read(&path).expect("a file");
            let at = 8 + file.windows(4).position(|name| name == b"VP8L").expect("a frame");
            let sides = u32::from_le_bytes(file[at + 1..][..4].try_into().expect("four bytes"));
            let (width, height) = (1 + (sides & 0x3fff), 1 + (sides >> 14 & 0x3fff));
            let decode = |rows| {
                let memory = Memory::new(u64::MAX);
                decode(&file[at..], (width, height), rows, Vec::new(), memory).expect("a picture").samples
            };
            let groups = |rows| {
                let (mut bits, mut memory) = (BitReader::new(&file[at + 5..]), Memory::new(u64::MAX));
                let (_, stored) = transforms(&mut bits, width, height, &mut memory).expect("transforms");
                Codes::read(&mut bits, (stored, height), rows, true, &mut memory).expect("codes").groups.len()
            };
            fewer += usize::from(groups(1) < groups(height));
            let all = decode(height);
            for rows in [1, 2, 7, 8, 9, height / 2, height - 1] {
                let length = (3 * width * rows.min(height)) as usize;
                assert!(decode(rows) == all[..length], "{}: {rows} rows", path.display());
            }
        }
        assert!(fewer > 0, "no picture has groups that its first row does not use");
    }
}
