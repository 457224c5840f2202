//! Padmé: lengths that say little about the data.

/// The next length at or above `length` that Padmé allows, or `None` if it does not fit 64 bits.
///
/// Blocks hide a length to within a block, which is next to nothing for a file. Padmé (Nikitin et al., "Reducing Metadata Leakage from
/// Encrypted Files and Communication with PURBs", PoPETs 2019) allows about `log2(length)` lengths between two powers of two: of a length
/// L only O(log log L) bits show, for at most 12 % more bytes, and less the longer the data. Pad with zeros up to it inside the encryption,
/// and carry the true length inside too.
///
/// Nothing jumps on the length, except that `None` shows. What it returns is public by design.
///
/// ```
/// use deadpan_pad::padme;
///
/// assert_eq!(padme(9), Some(10));
/// assert_eq!(padme(1_000_000), Some(1_015_808));
/// ```
#[inline]
#[must_use]
pub const fn padme(length: u64) -> Option<u64> {
    // A length is a number of `floating` bits of which the first `kept` may be set. For 0 and 1, `exponent` is zero and so are both.
    // `| 1` because counting the zeros of zero may be compiled to a jump.
    let exponent = 63 - (length | 1).leading_zeros();
    let kept = 31 - (2 * exponent + 1).leading_zeros();
    let cleared = (1 << (exponent - kept)) - 1;
    match length.checked_add(cleared) {
        Some(raised) => Some(raised & !cleared),
        None => None,
    }
}
