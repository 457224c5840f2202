//! Padmé: lengths that reveal little about the length of the data.

/// Returns the smallest length that Padmé allows and that is at least `length`, or `None` if it does not fit 64 bits.
///
/// Padding to blocks hides the length within a block only, which is little for a file. Padmé (Nikitin et al., "Reducing
/// Metadata Leakage from Encrypted Files and Communication with PURBs", PoPETs 2019) allows about `log2(length)`
/// lengths between two powers of two. A length L then shows only O(log log L) bits. It costs at most 12 % more bytes,
/// and less for longer data. Pad with zeros before encrypting, and encrypt the true length as well.
///
/// The function does not jump on the length, except to return `None`. The returned length is meant to be public.
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
    // A length is a number of `floating` bits of which the first `kept` may be set. For 0 and 1, `exponent` is zero and
    // so are both. `| 1` because counting the zeros of zero may be compiled to a jump.
    let exponent = 63 - (length | 1).leading_zeros();
    let kept = 31 - (2 * exponent + 1).leading_zeros();
    let cleared = (1 << (exponent - kept)) - 1;
    match length.checked_add(cleared) {
        Some(raised) => Some(raised & !cleared),
        None => None,
    }
}
