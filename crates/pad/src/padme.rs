//! Padmé: lengths that reveal little about the length of the data.

/// Returns the smallest length that Padmé allows and that is not below `length`. Returns `None` if this length does not
/// fit into 64 bits.
///
/// Padding to whole blocks hides the length only within one block, which is little compared with the length of a file.
/// Padmé (Nikitin et al., "Reducing Metadata Leakage from Encrypted Files and Communication with PURBs", PoPETs 2019)
/// allows about `log2(length)` lengths between two powers of two. A padded length L then reveals only O(log log L)
/// bits. Padmé makes the data at most 12 % longer, and long data by less than 12 %. Pad with zeros before you encrypt,
/// and encrypt the true length as well.
///
/// The function does not jump depending on the length, except to return `None`. The returned length may be public.
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
    // In an allowed length, only the leading bits may be ones: the highest bit and the `kept` bits after it. For 0 and
    // 1, `exponent` and `kept` are zero. The code counts in `length | 1`, because the compiler may need a jump to count
    // the leading zeros of zero.
    let exponent = 63 - (length | 1).leading_zeros();
    let kept = 31 - (2 * exponent + 1).leading_zeros();
    let cleared = (1 << (exponent - kept)) - 1;
    match length.checked_add(cleared) {
        Some(raised) => Some(raised & !cleared),
        None => None,
    }
}
