//! Stores numbers in few bytes, as unsigned LEB128 in its shortest form.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The bytes end within the number.
    Incomplete,
    /// The number is not in its shortest form, or exceeds 64 bits.
    Malformed,
}

/// Writes seven bits of the number in each byte, beginning with the lowest bits.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a signed number in zigzag form: small numbers of either sign take few bytes.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Removes a number from the front of `bytes` and returns it. If the bytes do not begin with a complete number, `bytes`
/// does not change.
pub(crate) fn take(bytes: &mut &[u8]) -> Result<u64, Unread> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate() {
        // The tenth byte may hold only the last of the 64 bits.
        if place == 9 && *byte > 1 || place > 0 && *byte == 0 {
            return Err(Unread::Malformed);
        }
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            *bytes = &bytes[place + 1..];
            return Ok(number);
        }
    }
    Err(Unread::Incomplete)
}

/// Returns the signed number that is stored as `number` in zigzag form.
pub(crate) fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_form_for_each_number() {
        let cases = [
            (&[0][..], 0),
            (&[0x7f], 127),
            (&[0x80, 1], 128),
            (&[0xff, 0x7f], 16_383),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], u64::MAX),
        ];
        for (bytes, number) in cases {
            let mut rest = bytes;
            assert_eq!((take(&mut rest), rest), (Ok(number), &[][..]));
            let mut written = Vec::new();
            put(&mut written, number);
            assert_eq!(written, bytes);
            for cut in 0..bytes.len() {
                assert_eq!(take(&mut &bytes[..cut]), Err(Unread::Incomplete));
            }
        }
        let nine = [0xff; 9];
        let bad = [vec![0x80, 0], vec![0xff, 0x80, 0], [&nine[..], &[2]].concat(), [&nine[..], &[0x81]].concat()];
        for bad in &bad {
            assert_eq!(take(&mut &bad[..]), Err(Unread::Malformed));
        }
    }

    #[test]
    fn zigzag() {
        let cases = [(0, 0), (1, -1), (2, 1), (3, -2), (u64::MAX - 1, i64::MAX), (u64::MAX, i64::MIN)];
        for (number, value) in cases {
            assert_eq!(signed(number), value);
        }
    }
}
