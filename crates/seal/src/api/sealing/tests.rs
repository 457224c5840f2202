//! Tests that every random field is filled with random bytes.

use super::*;
use crate::format::deadpan::floe;
use crate::format::deadpan::header::Parsed;
use crate::format::deadpan::layout::Preamble;
use crate::format::deadpan::recipient::{unwrap_with_key, unwrap_with_passphrase};
use crate::tests::foreign::recipient;
use crate::{Kem, Passphrase, PrivateKey};

/// Returns the name and the value of every field that must be random in a sealed file.
fn random_fields(sealed: &[u8], key: &PrivateKey) -> Vec<(&'static str, Vec<u8>)> {
    let mut payload = sealed;
    let header = Parsed::read(&mut payload).expect("a header");
    let [(_, passphrase), (_, to_key)] = &header.entries[..] else { panic!("two recipients") };
    let file = unwrap_with_passphrase(&Passphrase::new(b"straight face"), Preamble::PLAIN, passphrase)
        .expect("it opens")
        .expect("the passphrase");
    let same = unwrap_with_key(key, Preamble::PLAIN, to_key).expect("it opens").expect("the key");
    assert!(file.bytes() == same.bytes(), "two file keys in one file");
    vec![
        ("file key", file.bytes().to_vec()),
        ("salt", passphrase.body[12..28].to_vec()),
        ("encapsulated secret", to_key.body[..32].to_vec()),
        ("metadata IV", header.metadata[..12].to_vec()),
        ("FLOE IV", payload[10..42].to_vec()),
        ("segment IV", payload[floe::HEADER + 4..floe::HEADER + 16].to_vec()),
    ]
}

#[test]
fn two_files_share_nothing_that_should_be_random() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let recipients = vec![recipient(), Recipient::Key(key.public().clone())];
    let (to, mixed) = (Sealing::to(recipients.clone()).expect("a list"), Sealing::mixed(recipients).expect("a list"));
    let mut writer = to.write_to(Vec::new()).expect("a header");
    writer.write_all(b"data").expect("written");
    let written = writer.finish().expect("finished");
    let files = [
        to.seal(b"data").expect("sealed"),
        to.seal(b"data").expect("sealed"),
        mixed.seal(b"data").expect("sealed"),
        written,
    ];
    let fields: Vec<_> = files.iter().map(|sealed| random_fields(sealed, &key)).collect();
    for (i, of_one) in fields.iter().enumerate() {
        for (which, (name, value)) in of_one.iter().enumerate() {
            // The test compares the halves of a field, so that it also detects a field of which only one half is
            // random.
            for half in [0..value.len() / 2, value.len() / 2..value.len()] {
                let others = fields[..i].iter().map(|other| &other[which].1[half.clone()]);
                assert!(value[half.clone()].iter().any(|byte| *byte != 0), "{name}: zeros");
                assert!(others.into_iter().all(|other| *other != value[half.clone()]), "{name}: the same in two files");
            }
        }
    }
}
