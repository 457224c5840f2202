//! Reading any age header never panics, consumes only the header, and finds the same header for all sizes of the pieces
//! in which the bytes arrive. Stanzas are the same after writing and reading them. Reading armor returns the bytes that
//! were written as armor.
//!
//! Input: a header without its first line, which the target adds. If the input begins with `A`, the rest is written as
//! armor; if it begins with `a`, the rest is read as armor.
#![no_main]

use std::io::{Read, Write};

use libfuzzer_sys::fuzz_target;

use deadpan_seal::age::{AgeStanza, armor};
use deadpan_seal::{Error, Format, Header};

const VERSION: &[u8] = b"age-encryption.org/v1\n";

fuzz_target!(|data: &[u8]| match data {
    [b'A', bytes @ ..] => written_in_armor(bytes),
    [b'a', text @ ..] => {
        let mut bytes = Vec::new();
        let _ = armor::ArmorReader::new(text).read_to_end(&mut bytes);
        assert!(bytes.len() <= text.len(), "more bytes than symbols");
    }
    other => header(&[VERSION, other].concat()),
});

fn header(bytes: &[u8]) {
    let mut rest = bytes;
    let Ok(header) = Header::read(&mut rest) else { return };
    let length = bytes.len() - rest.len();
    assert_eq!((header.length(), header.format()), (length as u64, Format::Age), "bytes that were taken");
    let stanzas = header.age_stanzas().expect("an age file");
    assert!(!stanzas.is_empty() && stanzas.len() == header.stanzas().len());
    let passphrases = header.stanzas().iter().filter(|it| it.is_passphrase()).count();
    assert!(passphrases == 0 || stanzas.len() == 1, "a passphrase beside others");
    // Each header has only one encoding.
    let mut text = VERSION.to_vec();
    stanzas.iter().for_each(|stanza| stanza.encode_onto(&mut text).expect("what was read"));
    assert!(bytes.starts_with(&text) && bytes[text.len()..length].starts_with(b"--- "));
    let again: Option<AgeStanza> = AgeStanza::read(&text[VERSION.len()..]).expect("what was written");
    assert_eq!(again.as_ref(), stanzas.first().copied());
    assert!(matches!(Header::read(&bytes[..length - 1]), Err(Error::Truncated)), "a header without its last byte");
}

fn written_in_armor(bytes: &[u8]) {
    let mut writer = armor::ArmorWriter::new(Vec::new());
    let step = bytes.first().map_or(1, |step| usize::from(*step).max(1));
    bytes.chunks(step).for_each(|piece| writer.write_all(piece).expect("memory"));
    let text = writer.finish().expect("memory");
    let mut back = Vec::new();
    armor::ArmorReader::new(&text[..]).read_to_end(&mut back).expect("what was written");
    assert!(back == bytes, "other bytes");
}
