//! Padmé: lengths that reveal little about the length of the data.

/// Returns the smallest length that Padmé allows and that is at least `length`, or `None` if this length does not fit
/// into 64 bits.
///
/// Padding to blocks hides the length only within one block, which hides little for a file. Padmé (Nikitin et al.,
/// "Reducing Metadata Leakage from Encrypted Files and Communication with PURBs", PoPETs 2019) allows about
/// `log2(length)` lengths between two powers of two. A padded length L then reveals only O(log log L) bits. Padmé adds
/// at most 12 % to the length, and less than 12 % for longer data. Pad with zeros before you encrypt, and encrypt the
/// true length as well.
///
/// The function does not jump on the length, except to return `None`. The returned length may be public.
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
    // An allowed length may have ones only in its leading bits: the highest bit and the next `kept` bits. For 0 and 1,
    // `exponent` and `kept` are zero. The code uses `length | 1`, because the compiler may use a jump to count the
    // leading zeros of zero.
    let exponent = 63 - (length | 1).leading_zeros();
    let kept = 31 - (2 * exponent + 1).leading_zeros();
    let cleared = (1 << (exponent - kept)) - 1;
    match length.checked_add(cleared) {
        Some(raised) => Some(raised & !cleared),
        None => None,
    }
}
