//! Reads the bits of a stream, from the lowest to the highest bit of each byte.

use std::io::Read;

use super::{Fault, Result};

/// The number of bytes that are read at once.
const BUFFER: usize = 1 << 16;
/// The number of zeros that are appended after the end of the input, so that [`Ahead::refill`] finds eight bytes.
const PADDING: usize = 16;

pub struct BitReader<R> {
    input: R,
    pub buffer: Vec<u8>,
    pub ahead: Ahead,
    /// The number of zero bytes that were appended after the end of the input.
    padding: usize,
}

/// Bits that were taken from the buffer, and the position of the next bits in the buffer.
#[derive(Clone, Copy, Default)]
pub struct Ahead {
    pub value: u64,
    /// The number of bits of `value` that are available. Above the available bits, `value` may contain bits that come
    /// later in the stream.
    count: u32,
    at: usize,
}

impl Ahead {
    /// Makes at least 56 bits available. Returns false if the buffer had too few bytes.
    #[inline(always)]
    pub fn refill(&mut self, buffer: &[u8]) -> bool {
        let Some(next) = buffer.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) else { return false };
        self.value |= u64::from_le_bytes(*next) << self.count;
        self.at += ((63 - self.count) / 8) as usize;
        self.count |= 56;
        true
    }

    #[inline(always)]
    pub fn take(&mut self, count: u32) -> u32 {
        let bits = self.value as u32 & ((1 << count) - 1);
        self.skip(count);
        bits
    }

    #[inline(always)]
    pub fn skip(&mut self, count: u32) {
        self.value >>= count;
        self.count -= count;
    }
}

impl<R: Read> BitReader<R> {
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), ahead: Ahead::default(), padding: 0 }
    }

    /// Reads a number of at most 24 bits.
    pub fn read(&mut self, count: u32) -> Result<u32> {
        self.refill()?;
        Ok(self.ahead.take(count))
    }

    /// Makes at least 56 bits available.
    pub fn refill(&mut self) -> Result<()> {
        while !self.ahead.refill(&self.buffer) {
            self.more()?;
        }
        Ok(())
    }

    /// Reads more of the input into the buffer.
    pub fn more(&mut self) -> Result<()> {
        self.buffer.drain(..self.ahead.at);
        self.ahead.at = 0;
        if self.padding == 0 {
            let before = self.buffer.len();
            self.input.by_ref().take(BUFFER as u64).read_to_end(&mut self.buffer).map_err(Fault::Read)?;
            if self.buffer.len() - before == BUFFER {
                return Ok(());
            }
        } else if self.is_over() {
            return Err(Fault::Cut);
        }
        self.buffer.resize(self.buffer.len() + PADDING, 0);
        self.padding += PADDING;
        Ok(())
    }

    /// Returns whether more bits were consumed than the input has.
    pub fn is_over(&self) -> bool {
        let consumed = 8 * self.ahead.at as i64 - i64::from(self.ahead.count);
        consumed > 8 * (self.buffer.len() as i64 - self.padding as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns one byte at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn bits_come_in_order_and_end_where_the_input_ends() {
        let bytes: Vec<u8> = (0..3 * BUFFER as u32 + 5).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
        let bit = |at: usize| u32::from(bytes.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1));
        let mut bits = BitReader::new(Drops(&bytes));
        let (mut at, mut count) = (0, 0);
        while at < 8 * bytes.len() {
            assert!(!bits.is_over(), "{at}");
            count = (count * 7 + 3) % 25;
            let expected = (0..count as usize).fold(0, |sum, by| sum | bit(at + by) << by);
            assert_eq!(bits.read(count).unwrap(), expected, "{count} bits at {at}");
            at += count as usize;
        }
        assert_eq!(bits.is_over(), at > 8 * bytes.len());
        let mut more = 0;
        while bits.read(24).is_ok() {
            more += 1;
            assert!(bits.is_over() && more < 20);
        }
        assert!(matches!(bits.read(24), Err(Fault::Cut)));
    }
}
