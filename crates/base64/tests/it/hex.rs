//! Tests of hexadecimal through the public interface.
#![cfg(feature = "alloc")]

use proptest::prelude::*;

use deadpan_base64::Error;
use deadpan_base64::hex::{self, Case};

#[test]
fn rfc_4648_examples() {
    assert_eq!(hex::encode(b"foobar"), "666f6f626172");
    assert_eq!(hex::decode(b"666F6F626172").unwrap(), b"foobar");
    assert_eq!(hex::encode_into(Case::Upper, &[0xab, 0xcd], &mut [0; 4]).unwrap(), "ABCD");
}

#[test]
fn every_pair_of_bytes() {
    for (high, low) in (0..=255_u8).flat_map(|high| (0..=255_u8).map(move |low| (high, low))) {
        let digits = (char::from(high).to_digit(16), char::from(low).to_digit(16));
        let expected =
            if let (Some(high), Some(low)) = digits { Ok(vec![(high * 16 + low) as u8]) } else { Err(Error::Invalid) };
        assert_eq!(hex::decode([high, low]), expected, "{high:#x} {low:#x}");
    }
}

#[test]
fn wrong_lengths_and_small_buffers() {
    assert_eq!(hex::decode(b"abc"), Err(Error::Invalid));
    assert_eq!(hex::decode_into(b"abcd", &mut [0; 1]), Err(Error::Output { needed: 2 }));
    assert_eq!(hex::encode_into(Case::Lower, b"ab", &mut [0; 3]), Err(Error::Output { needed: 4 }));
    let mut output = [0xaa; 3];
    assert_eq!(hex::decode_into(b"abcx", &mut output), Err(Error::Invalid));
    assert_eq!(output, [0, 0, 0xaa]);
}

proptest! {
    #[test]
    fn round_trips(
        input in proptest::collection::vec(any::<u8>(), 0..300),
        place in any::<prop::sample::Index>(),
        wrong in any::<u8>(),
    ) {
        let mut text: Vec<u8> = input.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
        prop_assert_eq!(hex::encode(&input).into_bytes(), text.clone());
        prop_assert_eq!(hex::decode(text.to_ascii_uppercase()).unwrap(), input);
        if !text.is_empty() {
            let place = place.index(text.len());
            text[place] = wrong;
            prop_assert_eq!(hex::decode(&text).is_ok(), wrong.is_ascii_hexdigit());
        }
    }
}
