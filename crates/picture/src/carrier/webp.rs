//! WebP without compression: one chunk `VP8L` whose prefix codes have 8 bits for each symbol, so that a pixel's samples
//! are three bytes of the file.

use super::layout::Layout;

/// The length of everything before the pixels: three chunk headers, the header of `VP8L`, and the prefix codes.
pub(super) const HEAD: u64 = 20 + CODES;
const CODES: u64 = 27;

fn chunk_length(layout: &Layout) -> u64 {
    CODES + layout.bytes()
}

pub(super) fn file_length(layout: &Layout) -> u64 {
    20 + chunk_length(layout).next_multiple_of(2)
}

pub(super) fn head(layout: &Layout) -> Vec<u8> {
    let mut head = b"RIFF".to_vec();
    head.extend_from_slice(&((file_length(layout) - 8) as u32).to_le_bytes());
    head.extend_from_slice(b"WEBPVP8L");
    head.extend_from_slice(&(chunk_length(layout) as u32).to_le_bytes());
    head.extend_from_slice(&codes(layout));
    head
}

/// Returns the bytes of the file after the bytes of the pixels. Chunks are padded to an even length.
pub(super) fn tail(layout: &Layout) -> Vec<u8> {
    vec![0; (chunk_length(layout) % 2) as usize]
}

fn codes(layout: &Layout) -> Vec<u8> {
    let mut bits = BitString::default();
    bits.put(0x2f, 8);
    bits.put(layout.width() - 1, 14);
    bits.put(layout.height() - 1, 14);
    // No alpha, version 0; no transform, no color cache, no meta prefix codes.
    bits.put(0, 1 + 3);
    bits.put(0, 1 + 1 + 1);
    // Green has 256 literals, and no symbols for the lengths of repetitions. Unused entries in the list of code lengths
    // make the pixels begin at a byte border.
    bits.lengths(19);
    bits.put(1, 1);
    bits.put(3, 3);
    bits.put(256 - 2, 8);
    // Red and blue have all 256 symbols.
    for _ in 0..2 {
        bits.lengths(12);
        bits.put(0, 1);
    }
    // Alpha has only the symbol 255, and distance has only the symbol 0.
    bits.put(0b101, 3);
    bits.put(255, 8);
    bits.put(0b0001, 4);
    bits.bytes
}

/// A sequence of bits; in each byte, the lowest bit comes first.
#[derive(Default)]
struct BitString {
    bytes: Vec<u8>,
    used: usize,
}

impl BitString {
    fn put(&mut self, value: u32, count: u32) {
        for at in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            self.bytes[self.used / 8] |= ((value >> at & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
    }

    /// Writes a normal prefix code in which all lengths are 8. The code for the lengths has only the symbol 8, so each
    /// length takes no bits.
    fn lengths(&mut self, entries: u32) {
        // The order of entries is 17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9 and so on.
        const EIGHT: u32 = 11;
        self.put(0, 1);
        self.put(entries - 4, 4);
        for entry in 0..entries {
            self.put(u32::from(entry == EIGHT), 3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn the_pixels_begin_at_a_byte() {
        for (width, height) in [(1, 1), (2, 3), (16_383, 16_383)] {
            let layout = Layout::new(Format::WebP, width, height).expect("possible");
            assert_eq!(layout.head().len() as u64, HEAD);
            let length = HEAD + layout.bytes() + tail(&layout).len() as u64;
            assert_eq!(layout.file_length(), length);
            assert_eq!(length % 2, 0);
        }
    }
}
