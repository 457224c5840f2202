//! Numbers in headers, in the forms in use since 1979.

/// Decodes a header field: an octal number between spaces and zero bytes, or GNU's binary form for larger numbers. A
/// blank field is 0.
pub(super) fn field(bytes: &[u8]) -> Option<i64> {
    match bytes.first() {
        Some(first) if first & 0x80 != 0 => binary(bytes),
        _ => octal(bytes),
    }
}

/// Whether the field begins with the zero byte that terminates the number in the preceding field. Archives from AIX
/// contain fields of this kind for sizes of 8 GiB and more.
pub(super) fn overflown(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0) && bytes.get(1).is_some_and(u8::is_ascii_digit)
}

fn octal(bytes: &[u8]) -> Option<i64> {
    // Skip a zero byte that belongs to the preceding field.
    let bytes = if overflown(bytes) { &bytes[1..] } else { bytes };
    let start = bytes.iter().position(|byte| *byte != b' ').unwrap_or(bytes.len());
    let digits = &bytes[start..];
    let length = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(length);
    if rest.iter().any(|byte| !matches!(byte, b' ' | 0)) {
        return None;
    }
    digits.iter().try_fold(0_i64, |number, digit| match digit {
        b'0'..=b'7' => number.checked_mul(8)?.checked_add((digit - b'0').into()),
        _ => None,
    })
}

/// Reads a number in two's complement. The first bit only shows that the form is binary, so the sign is in the second
/// bit.
fn binary(bytes: &[u8]) -> Option<i64> {
    let mut rest = bytes.iter();
    let first = rest.next()? & 0x7f;
    let start = if first & 0x40 == 0 { i128::from(first) } else { i128::from(first) - 0x80 };
    // At most twelve bytes: 96 bits.
    let number = rest.take(11).fold(start, |number, byte| number << 8 | i128::from(*byte));
    i64::try_from(number).ok()
}

/// Decodes a number in a pax record or a sparse map; only decimal digits are allowed.
pub(super) fn decimal(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return None;
    }
    bytes.iter().try_fold(0_u64, |number, digit| match digit {
        b'0'..=b'9' => number.checked_mul(10)?.checked_add((digit - b'0').into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octal_as_people_write_it() {
        for (bytes, number) in [
            (&b"0000644\0"[..], 0o644),
            (b"   644 \0", 0o644),
            (b"644     ", 0o644),
            (b"77777777", 0o77_777_777),
            (b"        ", 0),
            (b"\0\0\0\0\0\0\0\0", 0),
            (b"\x00007346545000", 0o7_346_545_000),
        ] {
            assert_eq!(field(bytes), Some(number), "{bytes:?}");
        }
        for bytes in [&b"0000648\0"[..], b"644x    ", b"-644    ", b"6 4     ", b"0x1F   ", b"\0\x00644   "] {
            assert_eq!(field(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn binary_where_octal_ends() {
        assert_eq!(field(&[0x80, 0, 0, 2, 0, 0, 0, 0]), Some(0x2_0000_0000));
        assert_eq!(field(&[0xff; 12]), Some(-1));
        assert_eq!(field(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]), Some(-2));
        assert_eq!(field(&[0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Some(i64::MAX));
        assert_eq!(field(&[0x80, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn decimal_is_digits_only() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        for bytes in [&b""[..], b"18446744073709551616", b"+1", b"-1", b" 1", b"1 "] {
            assert_eq!(decimal(bytes), None, "{bytes:?}");
        }
    }
}
