//! Encoding any bytes in all configurations: three ways of encoding give the same text as the reference, and decoding
//! returns the bytes. After one byte is replaced, the decoder and the reference still agree about the validity. The
//! checks for base64 also run for hexadecimal.
//!
//! Input: the position and the value of the byte to replace, then the bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_base64::Error;
use deadpan_base64::hex::{self, Case};
use deadpan_fuzz::{CANARY, Input, Rules, canaries, is_untouched, reference};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let flaw = (input.word(), input.byte());
    let bytes = &*input.bytes();
    for rules in Rules::all() {
        let text = reference::base64::encode(rules, bytes);
        // The rules for white space and trailing bits concern only decoding.
        if !rules.skip_white_space && !rules.ignore_trailing_bits {
            encode(rules, bytes, &text);
        }
        let codec = rules.codec();
        assert_eq!(codec.decode(text.as_bytes()).as_deref(), Ok(bytes), "decode");
        let text = damage(text, flaw);
        assert_eq!(codec.decode(&text).ok(), reference::base64::decode(rules, &text), "decode with a flaw");
    }
    hexadecimal(bytes, flaw);
});

fn encode(rules: Rules, bytes: &[u8], text: &str) {
    let codec = rules.codec();
    let needed = text.len();
    assert_eq!(codec.encoded_len(bytes.len()), Some(needed), "encoded_len");
    assert_eq!(codec.encode(bytes), text, "encode");
    let mut onto = vec![CANARY; 3];
    codec.encode_onto(bytes, &mut onto);
    assert!(is_untouched(&onto[..3]) && onto[3..] == *text.as_bytes(), "encode_onto");

    let mut output = canaries(needed + 70);
    assert_eq!(codec.encode_into(bytes, &mut output), Ok(text), "encode_into");
    assert!(is_untouched(&output[needed..]), "encode_into wrote too far");
    output[..bytes.len()].copy_from_slice(bytes);
    assert_eq!(codec.encode_in_place(&mut output, bytes.len()), Ok(text), "encode_in_place");
    assert!(is_untouched(&output[needed..]), "encode_in_place wrote too far");
    if let Some(less) = needed.checked_sub(1) {
        assert_eq!(
            codec.encode_into(bytes, &mut output[..less]),
            Err(Error::Output { needed }),
            "encode_into, a byte too little room"
        );
        let error = codec.encode_in_place(&mut output[..less], bytes.len());
        assert_eq!(error, Err(Error::Output { needed }), "encode_in_place, a byte too little room");
    }
}

fn hexadecimal(bytes: &[u8], flaw: (usize, u8)) {
    let text = reference::hex::encode(bytes);
    assert_eq!(hex::encode(bytes), text, "hex::encode");
    let mut output = canaries(text.len() + 70);
    for (case, text) in [(Case::Lower, text.clone()), (Case::Upper, text.to_ascii_uppercase())] {
        assert_eq!(hex::encode_into(case, bytes, &mut output), Ok(text.as_str()), "hex::encode_into");
        assert!(is_untouched(&output[text.len()..]), "hex::encode_into wrote too far");
        assert_eq!(hex::decode(text.as_bytes()).as_deref(), Ok(bytes), "hex::decode");
    }
    let text = damage(text, flaw);
    let expected = reference::hex::decode(&text);
    let mut output = canaries(text.len() / 2 + 70);
    assert_eq!(hex::decode(&text).ok(), expected, "hex::decode with a flaw");
    assert_eq!(
        hex::decode_into(&text, &mut output).ok().map(|bytes| bytes.to_vec()),
        expected,
        "hex::decode_into with a flaw"
    );
    assert!(is_untouched(&output[text.len() / 2..]), "hex::decode_into wrote too far");
    assert!(
        expected.is_some() || output[..text.len() / 2].iter().all(|byte| *byte == 0),
        "hex::decode_into left something behind"
    );
}

fn damage(text: String, (place, byte): (usize, u8)) -> Vec<u8> {
    let mut text = text.into_bytes();
    let length = text.len().max(1);
    if let Some(target) = text.get_mut(place % length) {
        *target = byte;
    }
    text
}
