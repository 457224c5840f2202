//! Padmé as in algorithm 1 of the paper, with numbers that cannot overflow.

/// Returns the padded length, if it fits into 64 bits.
#[must_use]
pub fn padme(length: u64) -> Option<u64> {
    if length < 2 {
        return Some(length);
    }
    let exponent = length.ilog2();
    let significant = exponent.ilog2() + 1;
    let step = 1_u128 << (exponent - significant);
    u64::try_from(u128::from(length).div_ceil(step) * step).ok()
}
