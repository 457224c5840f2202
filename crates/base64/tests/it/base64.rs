//! Tests of one-shot encoding and decoding through the public interface.
#![cfg(feature = "alloc")]

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use proptest::prelude::*;

use deadpan_base64::{Alphabet, Base64, Error, Padding, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// RFC 4648 section 10.
const RFC_4648: [(&str, &str); 7] = [
    ("", ""),
    ("f", "Zg=="),
    ("fo", "Zm8="),
    ("foo", "Zm9v"),
    ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
];

#[test]
fn rfc_4648_examples() {
    for (plain, text) in RFC_4648 {
        assert_eq!(STANDARD.encode(plain.as_bytes()), text);
        assert_eq!(STANDARD.decode(text.as_bytes()).unwrap(), plain.as_bytes());
        let bare = text.trim_end_matches('=');
        assert_eq!(URL_SAFE_NO_PAD.encode(plain.as_bytes()), bare);
        assert_eq!(URL_SAFE_NO_PAD.decode(bare.as_bytes()).unwrap(), plain.as_bytes());
    }
}

#[test]
fn the_alphabets_differ_in_two_symbols() {
    assert_eq!(STANDARD.encode(&[0xfb, 0xff]), "+/8=");
    assert_eq!(URL_SAFE.encode(&[0xfb, 0xff]), "-_8=");
    assert_eq!(STANDARD.decode(b"-_8="), Err(Error::Invalid));
    assert_eq!(URL_SAFE.decode(b"+/8="), Err(Error::Invalid));
}

#[test]
fn padding_is_where_it_must_be() {
    let optional = STANDARD.with_padding(Padding::Optional);
    for (text, required, forbidden, either) in [
        ("Zg==", true, false, true),
        ("Zm8=", true, false, true),
        ("Zm9v", true, true, true),
        ("Zg", false, true, true),
        ("Zm8", false, true, true),
        // Padding that is in the wrong place, missing or too long.
        ("Zg=", false, false, false),
        ("=", false, false, false),
        ("==", false, false, false),
        ("====", false, false, false),
        ("Z===", false, false, false),
        ("Zg==Zg==", false, false, false),
        ("Z=g=", false, false, false),
        ("=Zg=", false, false, false),
        ("Zm9v====", false, false, false),
        ("Zm9v=", false, false, false),
        ("Zm9vZ", false, false, false),
        ("Z", false, false, false),
        ("", true, true, true),
    ] {
        for (codec, valid) in [(STANDARD, required), (STANDARD_NO_PAD, forbidden), (optional, either)] {
            assert_eq!(codec.decode(text.as_bytes()).is_ok(), valid, "{text:?} with {:?}", codec);
            assert_eq!(
                codec.skipping_white_space().decode(text.as_bytes()).is_ok(),
                valid,
                "{text:?} with {codec:?} and white space"
            );
        }
    }
}

#[test]
fn bits_behind_the_last_byte_are_refused_unless_asked_for() {
    for (text, bytes) in [("Zh==", &b"f"[..]), ("Zm9=", b"fo"), ("Zm9vZg==", b"foof"), ("Zm9vZv==", b"foof")] {
        let canonical = STANDARD.encode(bytes) == text;
        assert_eq!(STANDARD.decode(text.as_bytes()).is_ok(), canonical, "{text}");
        assert_eq!(STANDARD.ignoring_trailing_bits().decode(text.as_bytes()).unwrap(), bytes, "{text}");
    }
}

#[test]
fn white_space_is_passed_over_only_when_asked_for() {
    for text in [" Zm9v\tYmFy\r\n", "Zm 9v\nYm\x0bFy\x0c", "Z m 9 v Y m F y", "\n\n\nZm9vYmFy"] {
        assert_eq!(STANDARD.decode(text.as_bytes()), Err(Error::Invalid));
        let mut buffer = text.as_bytes().to_vec();
        let codec = STANDARD.skipping_white_space();
        assert_eq!(codec.decode(text.as_bytes()).unwrap(), b"foobar");
        assert_eq!(codec.decode_in_place(&mut buffer).unwrap(), b"foobar");
        assert_eq!(codec.decode_into(text.as_bytes(), &mut [0; 6]).unwrap(), b"foobar");
    }
    // These bytes are not white space: a no-break space in Latin-1, a null, a delete, a file separator.
    for byte in [0xa0, 0x00, 0x7f, 0x1c, 0x08, 0x0e, 0x1f, 0x21] {
        assert_eq!(
            STANDARD.skipping_white_space().decode([b'Z', b'g', byte, b'=', b'=']),
            Err(Error::Invalid),
            "{byte:#x}"
        );
    }
}

#[test]
fn output_is_exact_and_wiped_on_failure() {
    let mut output = [0xaa; 8];
    assert_eq!(STANDARD.decode_into(b"Zm9vYg==", &mut output).unwrap(), b"foob");
    assert_eq!(output, *b"foob\xaa\xaa\xaa\xaa");
    let mut output = [0xaa; 8];
    assert_eq!(STANDARD.decode_into(b"Zm9v!g==", &mut output), Err(Error::Invalid));
    assert_eq!(output, *b"\0\0\0\0\xaa\xaa\xaa\xaa");
    let mut buffer = *b"Zm9v!g==";
    assert_eq!(STANDARD.decode_in_place(&mut buffer), Err(Error::Invalid));
    assert_eq!(buffer, [0; 8]);
    let mut output = [0xaa; 8];
    assert_eq!(STANDARD.skipping_white_space().decode_into(b"Zm9v\n!g==", &mut output), Err(Error::Invalid));
    assert_eq!(output, *b"\0\0\0\0\xaa\xaa\xaa\xaa");
}

#[test]
fn a_small_output_is_the_callers_fault() {
    assert_eq!(STANDARD.encode_into(b"foob", &mut [0; 7]), Err(Error::Output { needed: 8 }));
    let mut room = [std::mem::MaybeUninit::uninit(); 8];
    assert_eq!(STANDARD.encode_uninit(b"foob", &mut room[..7]), Err(Error::Output { needed: 8 }));
    assert_eq!(STANDARD.encode_uninit(b"foob", &mut room).unwrap(), b"Zm9vYg==");
    assert_eq!(STANDARD.encode_in_place(&mut [0; 7], 4), Err(Error::Output { needed: 8 }));
    assert_eq!(STANDARD.decode_into(b"Zm9vYg==", &mut [0; 3]), Err(Error::Output { needed: 4 }));
    let long = STANDARD.encode(&[7; 10_000]);
    assert_eq!(
        STANDARD.skipping_white_space().decode_into(long.as_bytes(), &mut [0; 9_999]),
        Err(Error::Output { needed: 10_000 })
    );
    assert_eq!(STANDARD.encoded_len(usize::MAX), None);
    assert_eq!(STANDARD.encoded_len(3), Some(4));
    assert_eq!(STANDARD_NO_PAD.encoded_len(4), Some(6));
}

#[test]
fn every_symbol_alone() {
    for alphabet in [Alphabet::Standard, Alphabet::UrlSafe] {
        let symbols = alphabet.symbols();
        for value in 0..=255 {
            assert_eq!(alphabet.encode_symbol(value), symbols[usize::from(value & 63)]);
        }
        for byte in 0..=255_u8 {
            let symbol = alphabet.decode_symbol(byte);
            let value = symbols.iter().position(|known| *known == byte);
            let (space, padding) = (matches!(byte, 9..=13 | b' '), byte == b'=');
            assert_eq!(symbol.value().declassify().map(usize::from), value, "{byte:#x}");
            assert_eq!(symbol.is_white_space().declassify(), space, "{byte:#x}");
            assert_eq!(symbol.is_padding().declassify(), padding, "{byte:#x}");
            assert_eq!(symbol.is_invalid().declassify(), value.is_none() && !space && !padding, "{byte:#x}");
            assert_eq!(format!("{symbol:?}"), "Symbol(..)");
        }
    }
}

/// Returns pairs of codecs with the same rules: one codec of this crate, and one codec of the crate `base64`.
fn pairs() -> Vec<(Base64, GeneralPurpose)> {
    let alphabets = [(Alphabet::Standard, base64::alphabet::STANDARD), (Alphabet::UrlSafe, base64::alphabet::URL_SAFE)];
    let paddings = [
        (Padding::Required, DecodePaddingMode::RequireCanonical, true),
        (Padding::Forbidden, DecodePaddingMode::RequireNone, false),
        (Padding::Optional, DecodePaddingMode::Indifferent, true),
    ];
    let mut pairs = Vec::new();
    for (ours, theirs) in alphabets {
        for (padding, mode, write) in paddings {
            for lenient in [false, true] {
                let codec = Base64::new(ours, padding);
                let codec = if lenient { codec.ignoring_trailing_bits() } else { codec };
                let config = GeneralPurposeConfig::new().with_encode_padding(write).with_decode_padding_mode(mode);
                pairs.push((codec, GeneralPurpose::new(&theirs, config.with_decode_allow_trailing_bits(lenient))));
            }
        }
    }
    pairs
}

proptest! {
    #[test]
    fn encodes_like_the_base64_crate(input in proptest::collection::vec(any::<u8>(), 0..2000)) {
        for (ours, theirs) in pairs() {
            let text = ours.encode(&input);
            prop_assert_eq!(&text, &theirs.encode(&input));
            let mut buffer = input.clone();
            buffer.resize(text.len(), 0xaa);
            prop_assert_eq!(ours.encode_in_place(&mut buffer, input.len()).unwrap(), &text);
            prop_assert_eq!(ours.decode_in_place(&mut buffer).unwrap(), &input);
            prop_assert_eq!(ours.decode(text.as_bytes()).unwrap(), input.clone());
        }
    }

    #[test]
    fn decodes_like_the_base64_crate(text in "[A-Za-z0-9+/_=-]{0,12}|[AQgw=]{0,8}|.{0,9}") {
        for (ours, theirs) in pairs() {
            // If padding is optional, the two codecs differ on purpose: our codec accepts only complete padding or no
            // padding.
            if ours == ours.with_padding(Padding::Optional) && text.contains('=') && text.len() % 4 != 0 {
                prop_assert!(ours.decode(text.as_bytes()).is_err());
                continue;
            }
            prop_assert_eq!(ours.decode(text.as_bytes()).ok(), theirs.decode(&text).ok(), "{:?} with {:?}", text, ours);
        }
    }

    #[test]
    fn white_space_changes_nothing_else(
        input in proptest::collection::vec(any::<u8>(), 0..7000),
        spaces in proptest::collection::vec((any::<prop::sample::Index>(), "[ \t\n\r\x0b\x0c]{1,9}"), 0..20),
    ) {
        let mut text = STANDARD.encode(&input);
        for (place, space) in spaces {
            text.insert_str(place.index(text.len() + 1), &space);
        }
        let codec = STANDARD.skipping_white_space();
        prop_assert_eq!(&codec.decode(text.as_bytes()).unwrap(), &input);
        let mut output = vec![0; input.len()];
        prop_assert_eq!(&*codec.decode_into(text.as_bytes(), &mut output).unwrap(), &input);
    }
}
