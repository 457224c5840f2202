//! A row of numbers describes a scheme, so that one kernel can serve all eight schemes. Fields with the name of a
//! condition are masks, `ff` or `00`.
//!
//! A block of `size` bytes has `kept` data bytes. `last` is the last data byte, or zero if there are no data bytes, and
//! `count = size - kept`. Then the padding in lane `i` is `(value ^ count & counts ^ last & follows) + (i - kept &
//! steps) ^ (mark if i == kept)`. If `ends_in_count` is set, the final lane is `count`. If `noisy` is set, the padding
//! is XORed with the noise that is already in the block.

use crate::Scheme;
use deadpan_ct::CtZero;

/// The numbers that describe a scheme.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The number of bytes in a block, from 1 to 255.
    pub size: u8,
    /// The start value of all padding bytes. In some schemes, each call chooses a random value instead.
    pub value: Value,
    /// The mask for schemes in which every padding byte is XORed with the count.
    pub counts: u8,
    /// The mask for schemes in which every padding byte is XORed with the last data byte.
    pub follows: u8,
    /// The mask for schemes in which every padding byte is one more than the previous padding byte.
    pub steps: u8,
    /// The number that is XORed into the first padding byte.
    pub mark: u8,
    /// The mask for schemes in which the last padding byte is the count.
    pub ends_in_count: u8,
    /// The mask for schemes with noise: the target already holds random bytes, and the bytes after the data stay there
    /// as padding.
    pub noisy: u8,
    /// A mask of the padding bytes that are not checked, because these bytes may have any value. The lowest bit is for
    /// the last byte. The highest bit is for all bytes before the last byte.
    pub unchecked: i8,
    /// The mask for schemes in which the last padding byte determines the value of the other padding bytes. In other
    /// schemes this value is zero.
    pub tells_value: u8,
    /// The mask for schemes in which the last padding byte is the number of padding bytes. In other schemes this number
    /// follows from the place where the padding begins.
    pub tells_count: u8,
}

/// The start value of all padding bytes of a block.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The value for a block with data.
    pub data: u8,
    /// The value for a block without data.
    pub empty: u8,
}

impl Value {
    /// Returns a value that is the same for blocks with data and blocks without data.
    const fn both(value: u8) -> Self {
        Self { data: value, empty: value }
    }

    /// Returns the value for a block with `kept` data bytes.
    #[inline(always)]
    pub fn pick(self, kept: usize) -> u8 {
        kept.ct_is_zero().select(self.empty, self.data)
    }
}

/// The row of a scheme whose padding is zeros. No condition is set.
const ZERO: Row = Row {
    size: 0,
    value: Value::both(0),
    counts: 0,
    follows: 0,
    steps: 0,
    mark: 0,
    ends_in_count: 0,
    noisy: 0,
    unchecked: 0,
    tells_value: 0,
    tells_count: 0,
};
const YES: u8 = 0xff;

impl Row {
    /// Returns the row of a scheme for blocks of `size` bytes.
    pub const fn for_scheme(scheme: Scheme, size: u8) -> Self {
        let zero = Self { size, ..ZERO };
        match scheme {
            Scheme::Zero => zero,
            Scheme::Pkcs7 => Self { counts: YES, tells_value: YES, tells_count: YES, ..zero },
            Scheme::AnsiX923 => Self { ends_in_count: YES, unchecked: 1, tells_count: YES, ..zero },
            Scheme::Iso10126 => Self { ends_in_count: YES, noisy: YES, unchecked: -1, tells_count: YES, ..zero },
            Scheme::Rfc4303 => Self { value: Value::both(1), steps: YES, tells_value: YES, tells_count: YES, ..zero },
            Scheme::Iso7816 => Self { mark: 0x80, ..zero },
            Scheme::ArbitraryTail => Self { follows: YES, tells_value: YES, ..zero },
            Scheme::NotLast => {
                Self { value: Value { data: 0xff, empty: 0xaa }, follows: YES, tells_value: YES, ..zero }
            }
        }
    }
}
