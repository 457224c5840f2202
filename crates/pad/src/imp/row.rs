//! A row of numbers describes a scheme, so that one kernel can serve all eight schemes. A field that is named after a
//! condition is a mask: `ff` if the condition is true, and `00` if it is false.
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
    /// The start value of all padding bytes. For some schemes, the start value is instead chosen at random in each
    /// call.
    pub value: Value,
    /// The mask for schemes in which every padding byte is XORed with the number of padding bytes.
    pub counts: u8,
    /// The mask for schemes in which every padding byte is XORed with the last data byte.
    pub follows: u8,
    /// The mask for schemes in which every padding byte is one more than the previous padding byte.
    pub steps: u8,
    /// The number that is XORed into the first padding byte.
    pub mark: u8,
    /// The mask for schemes in which the last padding byte is the number of padding bytes.
    pub ends_in_count: u8,
    /// The mask for schemes with noise: before the call, the target holds random bytes, and those after the data stay
    /// as padding.
    pub noisy: u8,
    /// A mask of the padding bytes that may have any value, so that they are not checked. The lowest bit is for the
    /// last byte. The highest bit is for all bytes before the last byte.
    pub unchecked: i8,
    /// The mask for schemes in which the last padding byte determines the value of the other padding bytes. In other
    /// schemes this value is zero.
    pub tells_value: u8,
    /// The mask for schemes in which the last padding byte is the number of padding bytes. In other schemes, the number
    /// of padding bytes follows from the index of the first padding byte.
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
    /// Makes a start value that is the same for blocks with data and for blocks without data.
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
