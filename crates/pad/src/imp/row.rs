//! A scheme as a row of bytes, so that one kernel serves all eight. Fields named like a condition are masks, `ff` or `00`.
//!
//! With `kept` data bytes in a block of `size`, of which `last` is the final one (zero if there is none), and `count = size - kept`, lane
//! `i` of the padding is
//! `(value ^ count & counts ^ last & follows) + (i - kept & steps) ^ (mark if i == kept)`,
//! the final lane is `count` if `ends_in_count`, and the noise that already stands in the block is mixed in if `noisy`.

use crate::Scheme;
use deadpan_ct::CtZero;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Bytes in a block, 1 to 255.
    pub size: u8,
    /// What all padding bytes begin with, unless it is drawn for each call.
    pub value: Value,
    /// Every padding byte is mixed with the count.
    pub counts: u8,
    /// Every padding byte is mixed with the last data byte.
    pub follows: u8,
    /// Every padding byte is one more than the one before.
    pub steps: u8,
    /// Mixed into the first padding byte.
    pub mark: u8,
    /// The last padding byte is the count, whatever the others are.
    pub ends_in_count: u8,
    /// The target holds random bytes, which stay where there is no data.
    pub noisy: u8,
    /// Padding bytes that may be anything, as bits: the lowest is the last byte, and the highest is all that are further from the end.
    pub unchecked: i8,
    /// What the padding bytes must be is derived from the last one, instead of being zero.
    pub tells_value: u8,
    /// How many there are is said by the last one, instead of being seen from where they begin.
    pub tells_count: u8,
}

/// What all padding bytes of a block begin with.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// If there is data in the block.
    pub data: u8,
    /// If there is none.
    pub empty: u8,
}

impl Value {
    /// The same in both cases.
    const fn both(value: u8) -> Self {
        Self { data: value, empty: value }
    }

    /// The one for a block with `kept` data bytes.
    #[inline(always)]
    pub fn pick(self, kept: usize) -> u8 {
        kept.ct_is_zero().select(self.empty, self.data)
    }
}

/// A row with nothing set: zeros.
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
    /// The row of a scheme for blocks of `size` bytes.
    pub const fn of(scheme: Scheme, size: u8) -> Self {
        let zero = Self { size, ..ZERO };
        match scheme {
            Scheme::Zero => zero,
            Scheme::Pkcs7 => Self { counts: YES, tells_value: YES, tells_count: YES, ..zero },
            Scheme::AnsiX923 => Self { ends_in_count: YES, unchecked: 1, tells_count: YES, ..zero },
            Scheme::Iso10126 => Self { ends_in_count: YES, noisy: YES, unchecked: -1, tells_count: YES, ..zero },
            Scheme::Rfc4303 => Self { value: Value::both(1), steps: YES, tells_value: YES, tells_count: YES, ..zero },
            Scheme::Iso7816 => Self { mark: 0x80, ..zero },
            Scheme::ArbitraryTail => Self { follows: YES, tells_value: YES, ..zero },
            Scheme::NotLast => Self { value: Value { data: 0xff, empty: 0xaa }, follows: YES, tells_value: YES, ..zero },
        }
    }
}
