//! Tests that replace a header by a header for other recipients. The new header overwrites the old header, or is put
//! before a copy of the payload.

mod excerpt;
mod keeping;

use super::*;
use crate::format::deadpan::header::MAC;
use crate::tests::foreign::{CHEAP, recipient};
use crate::{Kem, Passphrase, PrivateKey, Recipient, Sealing};

fn passphrase(text: &[u8]) -> Identity {
    Identity::Passphrase(Passphrase::new(text))
}

fn other() -> Recipient {
    Recipient::Passphrase(Passphrase::new(b"another"), CHEAP)
}

fn key(kem: Kem) -> (PrivateKey, Recipient) {
    let key = PrivateKey::generate(kem).expect("a key");
    let recipient = Recipient::Key(key.public().clone());
    (key, recipient)
}

fn sealed(data: &[u8]) -> (Vec<u8>, Opened, usize) {
    let sealed = Sealing::to(vec![recipient()]).and_then(|it| it.seal(data)).expect("sealed");
    let header = Header::read(&sealed[..]).expect("a header");
    let length = header.length() as usize;
    let opened = header.open(&[passphrase(b"straight face")]).expect("the passphrase");
    (sealed, opened, length)
}

fn data_of(mut sealed: &[u8], identity: Identity) -> Result<Vec<u8>, Error> {
    let opened = Header::read(&mut sealed)?.open(&[identity])?;
    opened.open(sealed)
}

#[test]
fn a_whole_file_in_place_of_its_payload_is_named() {
    for format in [Format::Deadpan, Format::Age] {
        let (key, recipient) = key(Kem::X25519);
        let sealed = Sealing::to(recipient).and_then(|it| it.format(format)?.seal(b"data")).expect("sealed");
        let header = Header::read(&sealed[..]).expect("a header");
        let rest = &sealed[header.length() as usize..];
        let opened = header.clone().open(&[Identity::Key(key)]).expect("the key");
        let work = crate::Work::default();
        let errors = [
            opened.read_from(&sealed[..]).err(),
            opened.open_stream(&sealed[..], std::io::sink(), &work).err(),
            opened.open(&sealed).err(),
        ];
        assert!(errors.iter().all(|error| matches!(error, Some(Error::WholeFile))), "{format:?}: {errors:?}");
        if format == Format::Deadpan {
            assert!(matches!(header.segments(&sealed[..], sealed.len() as u64), Err(Error::WholeFile)));
        }
        assert!(header.segments(rest, sealed.len() as u64).is_ok());
        assert_eq!(opened.open(rest).expect("the rest"), b"data");
    }
}

#[test]
fn recipients_can_be_changed_without_the_payload() {
    let data = vec![7; 600_000];
    let (mut sealed, opened, length) = sealed(&data);
    let new = opened.rewrap(&[other()], false).expect("a header");
    assert_eq!(new.len(), length);
    sealed[..length].copy_from_slice(&new);
    assert!(data_of(&sealed, passphrase(b"another")).expect("the new passphrase") == data);
    assert!(matches!(data_of(&sealed, passphrase(b"straight face")), Err(Error::WrongPassphrase)));
}

#[test]
fn a_new_header_is_as_long_as_the_old_one_or_refused() {
    let (sealed, opened, length) = sealed(b"data");
    assert_eq!(Header::read(&sealed[..]).expect("a header").slack(), 0, "a short file has no room");
    // The entry of this key is 28 bytes shorter than the passphrase's entry. These 28 bytes become slack.
    let (small_key, small) = key(Kem::X25519);
    let new = opened.rewrap(&[small], false).expect("it fits");
    assert_eq!(new.len(), length);
    assert_eq!(new[length - MAC - 28..length - MAC], [0; 28]);
    assert_eq!(data_of(&[&new, &sealed[length..]].concat(), Identity::Key(small_key)).expect("the new key"), b"data");

    let (large_key, large) = key(Kem::XWing);
    for list in [vec![large.clone()], vec![other(), large.clone()]] {
        assert!(matches!(opened.rewrap(&list, false), Err(Error::TooMany(_))));
        let longer = opened.rewrap_longer(&list, false).expect("as long as it has to be");
        let needed = length - 112 + list.iter().flat_map(Recipient::bodies).map(|body| 4 + body).sum::<usize>();
        assert_eq!(longer.len(), needed);
        let copied = [&longer, &sealed[length..]].concat();
        assert_eq!(data_of(&copied, Identity::Key(large_key.clone())).expect("the new key"), b"data");
        assert!(data_of(&copied, passphrase(b"straight face")).is_err());
    }
    assert_eq!(opened.rewrap_longer(&[other()], false).expect("a header").len(), length);
}

#[test]
fn new_recipients_are_held_to_the_same_rules() {
    let (_, opened, _) = sealed(&[7; 600_000]);
    let list = [key(Kem::X25519).1, key(Kem::XWing).1];
    for rewrap in [Opened::rewrap, Opened::rewrap_longer] {
        assert!(matches!(rewrap(&opened, &list, false), Err(Error::Mixed(_))));
        rewrap(&opened, &list, true).expect("asked for");
        assert!(matches!(rewrap(&opened, &[], false), Err(Error::NoRecipients)));
        assert!(matches!(rewrap(&opened, &[other(), other()], false), Err(Error::TooMany(_))));
        let empty = Recipient::Passphrase(Passphrase::new(b""), CHEAP);
        assert!(matches!(rewrap(&opened, &[empty], false), Err(Error::EmptyPassphrase)));
    }
}

/// The new header seals the file key again, under a new key.
#[test]
fn a_new_header_has_a_new_salt() {
    let (sealed, opened, length) = sealed(b"data");
    let salt = |header: &[u8]| header[32..48].to_vec();
    let again = || opened.rewrap(&[recipient()], false).expect("it fits");
    let (one, two) = (again(), again());
    assert!(salt(&one) != salt(&two) && salt(&one) != salt(&sealed[..length]) && salt(&one) != [0; 16]);
}
