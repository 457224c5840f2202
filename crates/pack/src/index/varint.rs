//! Numbers of few bytes: unsigned LEB128 in its shortest form.

/// Seven bits a byte, the lowest first.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Small numbers of either sign stay small.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Takes one from the front; `None` if there is none, it is not the shortest, or it does not fit.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            let shortest = byte != 0 || place == 0;
            let fits = place < 9 || byte == 1;
            return (shortest && fits).then_some(number);
        }
    }
    None
}

/// A number with a sign, from its zigzag form.
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
        for (mut bytes, number) in cases {
            assert_eq!(take(&mut bytes), Some(number));
            assert!(bytes.is_empty());
        }
        let ten = [0xff; 9];
        for mut bad in [&[][..], &[0x80], &[0x80, 0], &[0xff, 0x80, 0], &[&ten[..], &[2]].concat(), &[&ten[..], &[0x81]].concat()] {
            assert_eq!(take(&mut bad), None);
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
