//! Decoding any text in any configuration gives the same result, the same bytes and the same state of the output as the
//! reference implementation.
//!
//! Input: the configuration, and then the text.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_base64::Error;
use deadpan_fuzz::reference::{base64, hex};
use deadpan_fuzz::{Input, Rules, canaries, is_untouched, is_wiped};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let rules = Rules::from_byte(input.byte());
    let text = input.text(rules.alphabet);
    let expected = base64::decode(rules, &text).ok_or(Error::Invalid);
    assert_eq!(rules.codec().decode(&text), expected, "decode");
    in_place(rules, &text, &expected);
    into(rules, &text, &expected);
    assert_eq!(deadpan_base64::hex::decode(&text).ok(), hex::decode(&text), "hex");
});

fn in_place(rules: Rules, text: &[u8], expected: &Result<Vec<u8>, Error>) {
    let mut buffer = text.to_vec();
    let found = rules.codec().decode_in_place(&mut buffer).map(|bytes| bytes.to_vec());
    assert_eq!(found, *expected, "decode_in_place");
    assert!(found.is_ok() || buffer.iter().all(|byte| *byte == 0), "decode_in_place left something behind");
}

fn into(rules: Rules, text: &[u8], expected: &Result<Vec<u8>, Error>) {
    let codec = rules.codec();
    let longest = codec.decoded_len_max(text.len());
    let mut output = canaries(longest + 70);
    let found = codec.decode_into(text, &mut output).map(|bytes| bytes.to_vec());
    assert_eq!(found, *expected, "decode_into");
    match expected {
        Ok(bytes) => {
            assert!(bytes.len() <= longest, "decoded_len_max");
            assert!(is_untouched(&output[bytes.len()..]), "decode_into wrote too far");
            let mut exact = canaries(bytes.len());
            assert_eq!(
                codec.decode_into(text, &mut exact).map(|bytes| bytes.to_vec()),
                *expected,
                "exactly enough room"
            );
            if exact.pop().is_some() {
                let needed = bytes.len();
                exact.fill(deadpan_fuzz::CANARY);
                assert_eq!(
                    codec.decode_into(text, &mut exact),
                    Err(Error::Output { needed }),
                    "a byte too little room"
                );
                assert!(is_wiped(&exact), "an error left something behind");
            }
        }
        Err(_) => assert!(is_wiped(&output), "decode_into left something behind"),
    }
}
