//! Lists of recipients, and what an entry gives to whom.

use super::*;
use crate::foreign::{CHEAP, Foreign, entry, file_key, recipient};
use crate::header::{FIXED, MAC, Parsed};
use crate::{Header, Identity, Opened, PrivateKey, Sealing, hpke};

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
fn a_classical_recipient_beside_others_has_to_be_asked_for() {
    let all = Kem::ALL.map(|kem| (kem.mode(), to(&key(kem))));
    for (mode, one) in &all {
        for (other_mode, other) in &all {
            let mixed = (*mode == Mode::Ecc) != (*other_mode == Mode::Ecc);
            // The passphrase goes with any of them, wherever it stands.
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
        assert!(matches!(seal(vec![empty()]), Err(Error::Invalid(_))));
        assert!(matches!(seal(vec![to(&key(Kem::X25519)), empty()]), Err(Error::Invalid(_))));
        let cost = Cost { memory: 7, ..CHEAP };
        assert!(matches!(seal(vec![Recipient::Passphrase(Passphrase::new(b"p"), cost)]), Err(Error::Invalid(_))));
    }
}

/// Where things are in a body: the cost, the salt, the commitment, the sealed file key.
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
            // Under a code that is right, and under one that the change made wrong: the entry is what decides.
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

/// A commitment that fits another passphrase too would let one file open to two contents: the key alone is not enough.
#[test]
fn no_entry_opens_without_its_commitment() {
    let mut entry = entry(&recipient(), 0);
    entry.body[28..60].fill(0);
    let sealed = Foreign::default().seal_to(&[entry], b"data");
    assert!(matches!(open(&sealed, passphrase()), Err(Error::WrongPassphrase)));
}

/// As docs/format-seal.md has it: no other body is tried.
#[test]
fn the_first_body_that_opens_decides() {
    for kem in [Kem::X25519, Kem::XWing] {
        let (mine, other) = (key(kem), key(kem));
        let mine_of = |number| entry(&to(&mine), number);
        let try_it = |entries: &[_]| open(&Foreign::default().seal_to(entries, b"data"), Identity::Key(mine.clone()));
        try_it(&[mine_of(0)]).expect("the right one alone");
        assert!(matches!(try_it(&[mine_of(1), mine_of(0)]), Err(Error::HeaderForged)), "a wrong file key before the right one");
        try_it(&[mine_of(0), mine_of(1)]).expect("a wrong file key after the right one");
        try_it(&[entry(&to(&other), 1), mine_of(0)]).expect("somebody else's before the right one");
        assert!(matches!(try_it(&[entry(&to(&other), 0)]), Err(Error::NoKeyFits(_))));
    }
}

/// The words and bytes are those of docs/format-seal.md, written out: constants of the program's would change with it.
#[test]
fn hpke_is_bound_to_what_the_page_says() {
    const INFO: &[u8] = b"deadpan v1 recipient";
    const AAD: &[u8] = b"\x89DPN\x0d\x0a\x1a\x0a\x01\x00";
    let key = key(Kem::X25519);
    let sealed = Sealing::to(vec![to(&key)]).and_then(|it| it.bytes(b"data")).expect("sealed");
    assert_eq!(sealed[..FIXED + 4], [AAD, &sealed[10..14], b"\0\x01", b"\0\x20\0\x50"].concat());
    let (enc, ciphertext) = sealed[FIXED + 4..][..80].split_at(32);
    let by_hand = |info, aad| hpke::open(&key, enc, info, aad, ciphertext).expect("the system works");
    let file = by_hand(INFO, AAD).and_then(FileKey::from_secret).expect("it opens with the page's info and aad");
    let header = Parsed::read(&sealed[..]).expect("a header");
    assert!(file.verify(&sealed[..header.length() - MAC], &header.mac).expect("the system works"), "it is not the file key");
    assert!(by_hand(b"deadpan v2 recipient", AAD).is_none() && by_hand(b"", AAD).is_none());
    assert!(by_hand(INFO, &AAD[..9]).is_none() && by_hand(INFO, b"").is_none());

    // And the other way: made by hand, opened by the program.
    let (mut body, ciphertext) = hpke::seal(key.public(), INFO, AAD, file_key(0).bytes()).expect("sealed");
    body.extend_from_slice(&ciphertext);
    let sealed = Foreign::default().seal_to(&[Entry { kind: 0x0020, body }], b"data");
    open(&sealed, Identity::Key(key)).expect("the program opens it");
}
