//! Tests the one-shot functions of `deadpan-base64`: every codec, with valid and invalid text.

use crate::plain;
use crate::secret::{bytes, hide, lengths, show};
use crate::tally::Tally;
use deadpan_base64::{Alphabet, Base64, Error, Padding};

pub(crate) fn is_padded(padding: Padding) -> bool {
    padding != Padding::Forbidden
}

pub(crate) fn run(tally: &mut Tally) {
    for alphabet in [Alphabet::Standard, Alphabet::UrlSafe] {
        for padding in [Padding::Required, Padding::Forbidden, Padding::Optional] {
            for length in lengths() {
                let strict = Base64::new(alphabet, padding);
                let plain = bytes(length, 10);
                let text = plain::base64(alphabet, is_padded(padding), &plain);
                let name = format!("{alphabet:?} {padding:?} {length}");
                encoding(tally, &name, strict, &plain, &text);
                decoding(tally, &name, strict, &text, Some(&plain));
                decoding(tally, &format!("{name}, lenient"), strict.ignoring_trailing_bits(), &text, Some(&plain));
                wrong(tally, &name, strict, &text);
                trailing_bits(tally, &name, strict, &plain, &text);
                for gap in [1, 7, 64, 100] {
                    let name = format!("{name}, white space each {gap}");
                    decoding(tally, &name, strict.skipping_white_space(), &plain::spaced(&text, gap), Some(&plain));
                }
                decoding(tally, &format!("{name}, refusing white space"), strict, &[&text[..], b"\n"].concat(), None);
                wrong(tally, &format!("{name}, skipping"), strict.skipping_white_space(), &text);
            }
        }
    }
}

fn encoding(tally: &mut Tally, name: &str, codec: Base64, plain: &[u8], text: &[u8]) {
    let secret = hide(plain);
    tally.case(format_args!("encode {name}"), || show(codec.encode(&secret).as_bytes()) == text);
    tally.case(format_args!("encode_onto {name}"), || {
        let mut output = hide(b"before ");
        codec.encode_onto(&secret, &mut output);
        show(&output) == [b"before ", text].concat()
    });
    tally.case(format_args!("encode_into {name}"), || {
        let mut output = vec![0; text.len() + 3];
        codec.encode_into(&secret, &mut output).is_ok_and(|written| show(written.as_bytes()) == text)
    });
    tally.case(format_args!("encode_in_place {name}"), || {
        let mut buffer = hide(&[plain, &vec![9; text.len() - plain.len()]].concat());
        codec.encode_in_place(&mut buffer, plain.len()).is_ok_and(|written| show(written.as_bytes()) == text)
    });
    if let Some(short) = text.len().checked_sub(1) {
        let needed = Error::Output { needed: text.len() };
        tally.case(format_args!("encode_into {name}, no room"), || {
            codec.encode_into(&secret, &mut vec![0; short]) == Err(needed)
        });
        tally.case(format_args!("encode_in_place {name}, no room"), || {
            let mut buffer = vec![0; short];
            codec.encode_in_place(&mut buffer, plain.len()).is_err()
        });
    }
}

/// Decodes a secret `text` with every decoding function. The text encodes `plain`, or the text is not valid.
fn decoding(tally: &mut Tally, name: &str, codec: Base64, text: &[u8], plain: Option<&[u8]>) {
    let secret = hide(text);
    let expected = plain.ok_or(Error::Invalid);
    tally.case(format_args!("decode {name}"), || {
        codec.decode(&secret).map(|output| show(&output)) == expected.map(<[u8]>::to_vec)
    });
    tally.case(format_args!("decode_into {name}"), || {
        let mut output = vec![0; codec.decoded_len_max(text.len())];
        codec.decode_into(&secret, &mut output).map(|output| show(output)) == expected.map(<[u8]>::to_vec)
    });
    tally.case(format_args!("decode_in_place {name}"), || {
        let mut buffer = secret.clone();
        codec.decode_in_place(&mut buffer).map(|output| show(output)) == expected.map(<[u8]>::to_vec)
    });
    if let Some(short) = plain.and_then(|plain| plain.len().checked_sub(1)) {
        tally.case(format_args!("decode_into {name}, no room"), || {
            codec.decode_into(&secret, &mut vec![0; short]).is_err()
        });
    }
}

/// Tests a byte that is not a symbol (at both ends and in the middle), `=` in wrong positions, and lengths that no
/// valid text has.
fn wrong(tally: &mut Tally, name: &str, codec: Base64, text: &[u8]) {
    if text.is_empty() {
        return;
    }
    for (place, byte) in [(0, b'!'), (text.len() / 2, 0x80), (text.len() - 1, 0xff), (text.len() / 3, 0), (0, b'=')] {
        let mut flawed = text.to_vec();
        flawed[place] = byte;
        decoding(tally, &format!("{name}, {byte:#x} at {place}"), codec, &flawed, None);
    }
    let symbols = text.iter().take_while(|byte| **byte != b'=').count();
    let single = symbols - symbols % 4 + 1;
    decoding(tally, &format!("{name}, one symbol too many"), codec, &[text, &text[..1]].concat()[..single], None);
    decoding(tally, &format!("{name}, ==="), codec, &[&text[..symbols], b"==="].concat(), None);
}

/// Tries bits after the last byte. If unused bits of the last symbol are set, a strict codec refuses the text, and a
/// lenient codec accepts it.
fn trailing_bits(tally: &mut Tally, name: &str, codec: Base64, plain: &[u8], text: &[u8]) {
    let (shift, bits) = match plain.len() % 3 {
        1 => (4, 0x30),
        2 => (2, 0x3c),
        _ => return,
    };
    let value = (plain[plain.len() - 1] << shift) & bits;
    let last = plain.len() + plain.len() / 3;
    let mut changed = text.to_vec();
    // The value is at most 61. The two alphabets have the same symbol for each value up to 61.
    changed[last] = Alphabet::Standard.symbols()[usize::from(value | 1)];
    decoding(tally, &format!("{name}, trailing bits"), codec, &changed, None);
    decoding(tally, &format!("{name}, trailing bits ignored"), codec.ignoring_trailing_bits(), &changed, Some(plain));
}
