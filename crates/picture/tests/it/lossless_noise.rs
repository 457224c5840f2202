//! Lossless WebP of noise, as in carriers that other programs write again: our decoder returns the same pixels as
//! `image-webp`. This test makes the frames bit by bit, so the frames have codes, references and color caches that
//! `cwebp` seldom writes.

use std::io::Cursor;

use image_webp::WebPDecoder;

use crate::pictures::{WebPBits as Bits, riff};
use deadpan_picture::{Error, Limits, Orientation, read};

/// The properties of a frame.
#[derive(Clone, Copy, Debug)]
struct Kind {
    size: (u32, u32),
    /// The number of green values that have codes of 8 bits. All other symbols have longer codes.
    short: usize,
    /// The binary logarithm of the size of the color cache.
    cache: Option<u32>,
    /// The binary logarithm of the side of the squares that choose a group of codes, if the picture has groups.
    squares: Option<u32>,
    /// The number of different groups of codes in the picture.
    groups: u32,
    /// The difference between two consecutive numbers of groups. No square uses the numbers in between.
    apart: u32,
    subtract_green: bool,
    /// Of a thousand symbols, how many refer to earlier pixels or to the color cache.
    others: u32,
}

const NOISE: Kind = Kind {
    size: (65, 40),
    short: 255,
    cache: None,
    squares: None,
    groups: 2,
    apart: 1,
    subtract_green: false,
    others: 0,
};

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * u64::from(most)) >> 32) as u32
    }
}

/// A canonical code: for each symbol, the bits of its code and the number of these bits.
struct Code(Vec<(u32, u32)>);

impl Code {
    fn write(bits: &mut Bits, lengths: &[u32]) -> Self {
        // The symbols for the lengths 0 to 15 have codes of four bits each. The symbols 16, 17 and 18 have no codes.
        bits.push(0, 1);
        bits.push(15, 4);
        for place in 0..19 {
            bits.push(if matches!(place, 0 | 1 | 8) { 0 } else { 4 }, 3);
        }
        bits.push(0, 1);
        lengths.iter().for_each(|length| bits.push(length.reverse_bits() >> 28, 4));
        let (mut codes, mut next) = (vec![(0, 0); lengths.len()], 0_u32);
        for length in 1..=15 {
            for symbol in (0..lengths.len()).filter(|symbol| lengths[*symbol] == length) {
                codes[symbol] = (next.reverse_bits() >> (32 - length), length);
                next += 1;
            }
            next <<= 1;
        }
        Self(codes)
    }

    fn push(&self, bits: &mut Bits, symbol: usize) {
        bits.push(self.0[symbol].0, self.0[symbol].1);
    }
}

/// Lengths for `symbols` symbols: `length` bits for the first `short` symbols, and more bits for the other symbols.
fn lengths(symbols: usize, short: usize, length: u32) -> Vec<u32> {
    let mut lengths = vec![length; 1 << length];
    while lengths.len() < symbols {
        let shortest = (short..lengths.len()).min_by_key(|at| lengths[*at]).expect("a code that can be longer");
        lengths[shortest] += 1;
        lengths.push(lengths[shortest]);
    }
    lengths
}

/// Returns the prefix of a number, the bits that follow the prefix, and the number of these bits.
fn prefix(number: u32) -> (usize, u32, u32) {
    let number = number - 1;
    if number < 4 {
        return (number as usize, 0, 0);
    }
    let highest = number.ilog2();
    let extra = highest - 1;
    ((2 * highest + (number >> extra & 1)) as usize, number & ((1 << extra) - 1), extra)
}

fn frame(kind: &Kind, random: &mut Random) -> Vec<u8> {
    let (width, height) = kind.size;
    let mut bits = Bits::default();
    bits.push(0x2f, 8);
    bits.push(width - 1, 14);
    bits.push(height - 1, 14);
    bits.push(0, 4);
    if kind.subtract_green {
        bits.push(0b101, 3);
    }
    bits.push(0, 1);
    bits.push(u32::from(kind.cache.is_some()), 1);
    kind.cache.iter().for_each(|size| bits.push(*size, 4));
    bits.push(u32::from(kind.squares.is_some()), 1);
    let mut second = Vec::new();
    if let Some(side) = kind.squares {
        bits.push(side - 2, 3);
        // The numbers of the groups are stored as the green samples of a picture without a color cache.
        bits.push(0, 1);
        let code = Code::write(&mut bits, &lengths(256 + 24, 200, 8));
        (0..4).for_each(|_| bits.push_only(0));
        let squares = width.div_ceil(1 << side) * height.div_ceil(1 << side);
        second = (0..squares).map(|_| kind.apart * random.below(kind.groups)).collect();
        second.iter().for_each(|group| code.push(&mut bits, *group as usize));
    }
    let colors = kind.cache.map_or(0, |size| 1 << size);
    let green = lengths(256 + 24 + colors, kind.short, 8);
    let mut groups = Vec::new();
    for group in 0..=second.iter().copied().max().unwrap_or(0) {
        let (short, length) = [(0, 8), (1, 1)][(group / kind.apart % 2) as usize];
        let codes = [&green, &lengths(256, short, length), &lengths(256, short, length)];
        let codes = codes.map(|lengths| Code::write(&mut bits, lengths));
        bits.push_only(255);
        groups.push((codes, Code::write(&mut bits, &lengths(40, 8, 4))));
    }
    let (mut at, mut literals, total) = (0, 0, width * height);
    while at < total {
        let square =
            kind.squares.map(|side| ((at / width) >> side) * width.div_ceil(1 << side) + ((at % width) >> side));
        let (codes, distances) = &groups[square.map_or(0, |square| second[square as usize] as usize)];
        let is_literal = random.below(1000) >= kind.others || at == 0;
        if is_literal {
            codes.iter().for_each(|code| code.push(&mut bits, random.below(256) as usize));
            literals += 1;
            at += 1;
        } else if literals > 16 * colors && colors > 0 && random.below(2) == 0 {
            // The cache is full at this point. libwebp and `image-webp` disagree about colors that the cache does not
            // have yet.
            codes[0].push(&mut bits, 256 + 24 + random.below(colors as u32) as usize);
            at += 1;
        } else {
            let longest = [3, 40, 4096][random.below(3) as usize];
            let length = 1 + random.below(longest.min(total - at));
            let (symbol, more, count) = prefix(length);
            codes[0].push(&mut bits, 256 + symbol);
            bits.push(more, count);
            // Chooses a distance in columns and rows, a short distance with which a copy overlaps itself, or the
            // longest distance.
            let number = match random.below(4) {
                0 => 121 + random.below(at.min(8)),
                1 => 120 + at.min((1 << 20) - 120),
                2 if at > 8 * width + 8 => 1 + random.below(120),
                _ => 121 + random.below(at.min((1 << 20) - 120)),
            };
            let (symbol, more, count) = prefix(number);
            distances.push(&mut bits, symbol);
            bits.push(more, count);
            at += length;
        }
    }
    bits.end()
}

fn ours(frame: &[u8]) -> Result<Vec<u8>, Error> {
    let file = riff(None, &[(b"VP8L", frame)]);
    Ok(read(Cursor::new(file), Orientation::Ignore, &Limits::default())?.pixels.samples)
}

fn theirs(frame: &[u8]) -> Vec<u8> {
    let mut decoder = WebPDecoder::new(Cursor::new(riff(None, &[(b"VP8L", frame)]))).expect("a header");
    let mut samples = vec![0; decoder.output_buffer_size().expect("a size")];
    decoder.read_image(&mut samples).expect("a picture");
    samples
}

fn compare(kind: &Kind, random: &mut Random) {
    let frame = frame(kind, random);
    let samples = ours(&frame).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    assert!(samples == theirs(&frame), "{kind:?}: other pixels");
}

#[test]
fn noise_has_the_pixels_that_image_webp_sees() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for size in [(1, 1), (1, 70), (2, 3), (3, 50), (64, 9), (65, 40), (4097, 3)] {
        // Codes of 8 and 9 bits, and some codes of 13 and 14 bits.
        for short in [200, 254, 255] {
            for cache in [None, Some(1), Some(2), Some(5)] {
                for others in [0, 5, 300] {
                    for subtract_green in [false, true] {
                        compare(&Kind { size, short, cache, subtract_green, others, ..NOISE }, &mut random);
                    }
                }
            }
        }
    }
}

/// If many pixels are added to a large cache at once, only the last pixels need to be read.
#[test]
fn groups_of_codes_and_large_caches_have_the_pixels_that_image_webp_sees() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for squares in [None, Some(2), Some(3), Some(6)] {
        for (cache, short) in [(None, 255), (Some(1), 255), (Some(8), 240), (Some(11), 100)] {
            for others in [0, 1, 20, 500] {
                let kind = Kind { size: (301, 150), short, cache, squares, others, ..NOISE };
                compare(&kind, &mut random);
            }
        }
    }
}

/// The numbers of groups have gaps: files may describe groups that no pixel uses.
#[test]
fn groups_without_pixels_change_no_pixel() {
    let mut random = Random(0x5851_f42d_4c95_7f2d);
    for (groups, apart) in [(2, 2), (2, 199), (66, 3), (200, 1)] {
        for (squares, cache) in [(Some(2), None), (Some(4), Some(3)), (Some(7), Some(1))] {
            let kind = Kind { size: (150, 140), cache, squares, groups, apart, others: 20, ..NOISE };
            compare(&kind, &mut random);
        }
    }
}

/// References copy earlier pixels from a buffer that is filled again from its start when it is full. The pictures of
/// this test fill the buffer for earlier pixels more than once.
#[test]
fn references_reach_back_a_million_pixels() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for (size, cache, others) in [((1025, 2500), Some(2), 20), ((16_383, 150), None, 2), ((7, 16_383), Some(1), 100)] {
        compare(&Kind { size, cache, others, ..NOISE }, &mut random);
    }
    // The cache is large, so the last pixels are added to the cache only after the buffer for earlier pixels has become
    // full.
    compare(&Kind { size: (1025, 2500), short: 100, cache: Some(11), others: 4, ..NOISE }, &mut random);
    // Almost all symbols are copies, some of them across the end of the buffer for earlier pixels.
    compare(&Kind { size: (2047, 1100), others: 1000, ..NOISE }, &mut random);
}

#[test]
fn cut_noise_is_noticed_at_every_length() {
    let mut random = Random(0x0fed_cba9_8765_4321);
    let frame = frame(&Kind { size: (40, 30), cache: Some(1), others: 10, ..NOISE }, &mut random);
    // The last byte may contain only padding bits, so the frame is never cut by only one byte.
    for length in 5..frame.len() - 1 {
        let result = ours(&frame[..length]);
        assert!(matches!(result, Err(Error::Cut(_))), "cut to {length}: {result:?}");
    }
}
