//! Tests the hexadecimal functions of `deadpan-base64`.

use crate::plain;
use crate::secret::{bytes, hide, lengths, show};
use crate::tally::Tally;
use deadpan_base64::Error;
use deadpan_base64::hex::{self, Case};

pub(crate) fn run(tally: &mut Tally) {
    for length in lengths() {
        let plain = bytes(length, 30);
        let secret = hide(&plain);
        let lower = plain::hex(b"0123456789abcdef", &plain);
        let upper = plain::hex(b"0123456789ABCDEF", &plain);
        tally.case(format_args!("hex encode {length}"), || show(hex::encode(&secret).as_bytes()) == lower);
        for (case, digits) in [(Case::Lower, &lower), (Case::Upper, &upper)] {
            tally.case(format_args!("hex encode_into {case:?} {length}"), || {
                let mut output = vec![0; 2 * length + 1];
                hex::encode_into(case, &secret, &mut output).is_ok_and(|written| show(written.as_bytes()) == *digits)
            });
            decoding(tally, &format!("{case:?} {length}"), digits, Ok(&plain));
        }
        decoding(tally, &format!("odd {length}"), &[&lower[..], b"0"].concat(), Err(Error::Invalid));
        for (place, byte) in [(0, b'g'), (length, b'/'), (2 * length, b'@'), (length / 2, 0xb0)] {
            let mut flawed = lower.clone();
            if let Some(digit) = flawed.get_mut(place) {
                *digit = byte;
                decoding(tally, &format!("{length}, {byte:#x} at {place}"), &flawed, Err(Error::Invalid));
            }
        }
    }
}

fn decoding(tally: &mut Tally, name: &str, digits: &[u8], plain: Result<&[u8], Error>) {
    let secret = hide(digits);
    let expected = plain.map(<[u8]>::to_vec);
    tally.case(format_args!("hex decode {name}"), || hex::decode(&secret).map(|output| show(&output)) == expected);
    tally.case(format_args!("hex decode_into {name}"), || {
        let mut output = vec![0; digits.len() / 2 + 1];
        hex::decode_into(&secret, &mut output).map(|output| show(output)) == expected
    });
}
