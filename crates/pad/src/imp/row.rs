//! A scheme as a row of numbers, so that one kernel serves all eight schemes. Fields that are named like a condition
//! are masks, `ff` or `00`.
//!
//! With `kept` data bytes in a block of `size`, of which `last` is the final one (zero if there is none), and `count =
//! size - kept`, lane `i` of the padding is `(value ^ count & counts ^ last & follows) + (i - kept & steps) ^ (mark if
//! i == kept)`, the final lane is `count` if `ends_in_count`, and the noise that is already in the block is XORed in if
//! `noisy`.

use crate::Scheme;
use deadpan_ct::CtZero;

/// The numbers of a scheme, as the module describes them.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Bytes in a block, 1 to 255.
    pub size: u8,
    /// The start value of all padding bytes, unless it is drawn for each call.
    pub value: Value,
    /// Every padding byte is XORed with the count.
    pub counts: u8,
    /// Every padding byte is XORed with the last data byte.
    pub follows: u8,
    /// Every padding byte is one more than the one before.
    pub steps: u8,
    /// XORed into the first padding byte.
    pub mark: u8,
    /// The last padding byte is the count.
    pub ends_in_count: u8,
    /// The target holds random bytes, which stay where there are no data.
    pub noisy: u8,
    /// Padding bytes that may have any value, as bits. The lowest bit is the last byte; the highest bit is for all
    /// bytes further from the end.
    pub unchecked: i8,
    /// The last padding byte determines the value of the others, which otherwise is zero.
    pub tells_value: u8,
    /// The last padding byte is their number, which otherwise follows from where the padding begins.
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
    /// Returns the same value for both cases.
    const fn both(value: u8) -> Self {
        Self { data: value, empty: value }
    }

    /// Returns the value for a block with `kept` data bytes.
    #[inline(always)]
    pub fn pick(self, kept: usize) -> u8 {
        kept.ct_is_zero().select(self.empty, self.data)
    }
}

/// A row with no condition set, whose padding is zeros.
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
