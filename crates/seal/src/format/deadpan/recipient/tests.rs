//! Tests for lists of recipients, and for the identities that open each entry.

use super::*;
use crate::format::deadpan::header::{FIXED, MAC, Parsed};
use crate::format::deadpan::layout::Preamble;
use crate::primitive::hpke;
use crate::tests::foreign::{CHEAP, Foreign, entry, file_key, recipient};
use crate::{Header, Identity, Opened, PrivateKey, Sealing};

fn key(kem: Kem) -> PrivateKey {
    PrivateKey::generate(kem).expect("a key")
}

fn to(key: &PrivateKey) -> Recipient {
    Recipient::Key(key.public().clone())
}

fn open(sealed: &[u8], identity: Identity) -> Result<Opened, Error> {
    Header::read(sealed)?.open(&[identity])
}

fn passphrase() -> Identity {
    Identity::Passphrase(Passphrase::new(b"straight face"))
}

#[test]
fn one_recipient_or_several_are_given_as_they_are() {
    let (one, other) = (key(Kem::XWing), key(Kem::XWing));
    let keys = vec![one.public().clone(), other.public().clone()];
    let sealed = [
        seal_bytes([one.public(), other.public()]),
        seal_bytes(&keys),
        seal_bytes(keys.as_slice()),
        seal_bytes(keys.iter().map(Recipient::from).collect::<Vec<_>>()),
        seal_bytes([to(&one), to(&other)]),
    ];
    for sealed in &sealed {
        assert!([&one, &other].iter().all(|key| crate::open(*key, sealed).is_ok_and(|plain| plain == b"data")));
    }
    assert!(crate::open(&other, &seal_bytes(one.public())).is_err());
    assert!(matches!(crate::seal([] as [&PublicKey; 0], b"data"), Err(Error::NoRecipients)));
}

fn seal_bytes(recipients: impl IntoRecipients) -> Vec<u8> {
    crate::seal(recipients, b"data").expect("sealed")
}

#[test]
fn a_classical_recipient_beside_others_has_to_be_asked_for() {
    let all = Kem::ALL.map(|kem| (kem.mode(), to(&key(kem))));
    for (mode, one) in &all {
        for (other_mode, other) in &all {
            let mixed = (*mode == Mode::Ecc) != (*other_mode == Mode::Ecc);
            // A list can have a passphrase together with classical, hybrid and post-quantum recipients. The passphrase
            // may be at any position in the list.
            for list in [vec![one.clone(), other.clone()], vec![recipient(), one.clone(), other.clone()]] {
                let refused = Sealing::to(list.clone()).err();
                assert_eq!(matches!(refused, Some(Error::Mixed(_))), mixed, "{mode:?} and {other_mode:?}: {refused:?}");
                assert_eq!(refused.is_some(), mixed);
                Sealing::mixed(list).expect("asked for");
            }
        }
        Sealing::to(vec![one.clone(), recipient()]).expect("a passphrase goes with any key");
    }
    let names_the_weakest = check(&[to(&key(Kem::XWing)), to(&key(Kem::P256))], false);
    assert!(matches!(names_the_weakest, Err(Error::Mixed(who)) if who.contains("P-256")));
}

#[test]
fn lists_that_protect_nothing_are_refused() {
    for seal in [Sealing::to, Sealing::mixed] {
        assert!(matches!(seal(Vec::new()), Err(Error::NoRecipients)));
        let empty = || Recipient::Passphrase(Passphrase::new(b""), CHEAP);
        assert!(matches!(seal(vec![empty()]), Err(Error::EmptyPassphrase)));
        assert!(matches!(seal(vec![to(&key(Kem::X25519)), empty()]), Err(Error::EmptyPassphrase)));
        let cost = Cost { memory: 7, ..CHEAP };
        assert!(matches!(seal(vec![Recipient::Passphrase(Passphrase::new(b"p"), cost)]), Err(Error::Invalid(_))));
    }
}

/// A body consists of the cost up to byte 12, the salt up to byte 28, the commitment up to byte 60, and the sealed file
/// key.
#[test]
fn a_passphrase_entry_tells_another_passphrase_from_a_changed_file() {
    type Wanted = fn(&Error) -> bool;
    let wrong: Wanted = |error| matches!(error, Error::WrongPassphrase);
    let forged: Wanted = |error| matches!(error, Error::HeaderForged);
    let good = entry(&recipient(), 0);
    for (part, wanted) in [(12..28, wrong), (28..60, wrong), (60..108, forged)] {
        for place in part {
            let mut changed = good.clone();
            changed.body[place] ^= 1;
            // The error depends only on the entry, and not on whether the header's MAC is right.
            let mut sealed = Foreign::default().seal(b"data");
            sealed[FIXED + 4 + place] ^= 1;
            for sealed in [Foreign::default().seal_to(&[changed], b"data"), sealed] {
                let error = open(&sealed, passphrase()).expect_err("refused");
                assert!(wanted(&error), "byte {place}: {error}");
            }
        }
    }
    open(&Foreign::default().seal_to(&[good], b"data"), passphrase()).expect("unchanged it opens");
}

/// Without the commitment, one file could open to different contents with two passphrases.
#[test]
fn no_entry_opens_without_its_commitment() {
    let mut entry = entry(&recipient(), 0);
    entry.body[28..60].fill(0);
    let sealed = Foreign::default().seal_to(&[entry], b"data");
    assert!(matches!(open(&sealed, passphrase()), Err(Error::WrongPassphrase)));
}

/// According to docs/format-seal.md, the reader tries no other body after a body that opens.
#[test]
fn the_first_body_that_opens_decides() {
    for kem in [Kem::X25519, Kem::XWing] {
        let (mine, other) = (key(kem), key(kem));
        let mine_of = |number| entry(&to(&mine), number);
        let try_it = |entries: &[_]| open(&Foreign::default().seal_to(entries, b"data"), Identity::Key(mine.clone()));
        try_it(&[mine_of(0)]).expect("the right one alone");
        assert!(
            matches!(try_it(&[mine_of(1), mine_of(0)]), Err(Error::HeaderForged)),
            "a wrong file key before the right one"
        );
        try_it(&[mine_of(0), mine_of(1)]).expect("a wrong file key after the right one");
        try_it(&[entry(&to(&other), 1), mine_of(0)]).expect("somebody else's before the right one");
        assert!(matches!(try_it(&[entry(&to(&other), 0)]), Err(Error::NoKeyFits(_))));
    }
}

/// The test contains a copy of the bytes in docs/format-seal.md. The test does not use the program's constants, because
/// the constants would change together with the program.
#[test]
fn hpke_is_bound_to_what_the_page_says() {
    const INFO: &[u8] = b"deadpan v1 recipient\x89DPN\x0d\x0a\x1a\x0a\x01\x00";
    let key = key(Kem::X25519);
    let sealed = Sealing::to(vec![to(&key)]).and_then(|it| it.seal(b"data")).expect("sealed");
    assert_eq!(sealed[..FIXED + 4], [&INFO[20..], &sealed[10..14], b"\0\x01", b"\0\x20\0\x50"].concat());
    let (enc, ciphertext) = sealed[FIXED + 4..][..80].split_at(32);
    let by_hand = |info, aad| hpke::open(&key, enc, info, aad, ciphertext).expect("the system works");
    let file = by_hand(INFO, b"")
        .and_then(|it| FileKey::from_secret(it, Preamble::PLAIN))
        .expect("it opens with the page's info and no aad");
    let header = Parsed::read(&sealed[..]).expect("a header");
    assert!(
        file.verify(&sealed[..header.length() - MAC], &header.mac).expect("the system works"),
        "it is not the file key"
    );
    let changed = [&INFO[..INFO.len() - 1], &[1]].concat();
    for info in [&INFO[..20], &INFO[20..], &INFO[..INFO.len() - 1], &changed, b"", b"deadpan v2 recipient"] {
        assert!(by_hand(info, b"").is_none(), "{info:?}");
    }
    assert!(by_hand(INFO, &INFO[20..]).is_none() && by_hand(INFO, b"\0").is_none());

    // The test also makes an entry by hand, which the program must open.
    let (mut body, ciphertext) = hpke::seal(key.public(), INFO, b"", file_key(0).bytes()).expect("sealed");
    body.extend_from_slice(&ciphertext);
    let sealed = Foreign::default().seal_to(&[Entry { kind: 0x0020, body }], b"data");
    open(&sealed, Identity::Key(key)).expect("the program opens it");
}

/// The passphrases have the same letters in different bytes: in NFC, in NFD, and in neither form.
#[test]
fn a_passphrase_opens_in_each_unicode_form() {
    const FORMS: [&str; 3] = ["\u{1e69}\u{e9}", "s\u{323}\u{307}e\u{301}", "s\u{307}\u{323}\u{e9}"];
    let passphrases = FORMS.map(|text| Passphrase::new(text.as_bytes()));
    for typed in &passphrases {
        let session = Session::new(typed, CHEAP).expect("a session");
        for recipient in [Recipient::Passphrase(typed.clone(), CHEAP), session.recipient()] {
            let sealed = Sealing::to(vec![recipient]).and_then(|it| it.seal(b"data")).expect("sealed");
            for other in &passphrases {
                open(&sealed, Identity::from(other)).expect("opened by the passphrase");
                open(&sealed, Identity::from(&Session::new(other, CHEAP).expect("a session"))).expect("by a session");
            }
            for wrong in ["\u{1e69}e", "s\u{e9}", "fi"] {
                let wrong = Identity::Passphrase(Passphrase::new(wrong.as_bytes()));
                assert!(matches!(open(&sealed, wrong), Err(Error::WrongPassphrase)));
            }
        }
        // Another program may hash the bytes as they were typed. The same bytes open such a file. A passphrase in NFC
        // also opens a file whose passphrase was typed in NFD.
        let raw = passphrase::wrap(typed, Form::Typed, CHEAP, &file_key(0), Entropy::Fixed(0)).expect("wrapped");
        let raw = Foreign::default().seal_to(&[raw], b"data");
        open(&raw, Identity::from(typed)).expect("as it was typed");
        let by_nfc = open(&raw, Identity::from(&passphrases[0]));
        // The third passphrase is in neither NFC nor NFD, and no Unicode form of the other passphrases is equal to it.
        assert_eq!(by_nfc.is_ok(), typed.as_bytes() != passphrases[2].as_bytes());
    }
}
