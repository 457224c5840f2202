//! Tests of new headers that keep some recipients. The tests find, add and remove recipients.

use super::*;
use crate::Session;
use crate::format::deadpan::floe::HEADER;
use crate::format::deadpan::header::{LONGEST, PAGE, ROOM, with_room};
use crate::primitive::entropy::Entropy;
use crate::primitive::hpke;
use crate::tests::foreign::{Foreign, entry, file_key};

fn open(sealed: &[u8], identity: &Identity) -> Result<Opened, Error> {
    Header::read(sealed)?.open(std::slice::from_ref(identity))
}

/// Returns keys of all kinds, and a file for these keys and a passphrase.
fn for_everybody(data: &[u8]) -> (Vec<PrivateKey>, Vec<u8>) {
    let keys: Vec<_> = Kem::ALL.iter().map(|kem| PrivateKey::generate(*kem).expect("a key")).collect();
    let mut recipients: Vec<Recipient> = keys.iter().map(|key| Recipient::from(key.public())).collect();
    recipients.push(recipient());
    (keys, Sealing::mixed(recipients).and_then(|it| it.seal(data)).expect("sealed"))
}

#[test]
fn each_kind_of_recipient_is_found_and_removed_alone() {
    let data = vec![7; 600_000];
    let (keys, sealed) = for_everybody(&data);
    let opened = open(&sealed, &passphrase(b"straight face")).expect("the passphrase");
    let length = opened.header_length() as usize;
    assert_eq!(opened.stanzas(), Header::read(&sealed[..]).expect("a header").stanzas());
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(opened.recipients_with(key.public()).expect("found"), [number]);
        assert_eq!(opened.recipients_of(key).expect("found"), [number]);
        let kept: Vec<_> = (0..=keys.len()).filter(|other| *other != number).collect();
        let mut changed = sealed.clone();
        changed[..length].copy_from_slice(&opened.rewrap_keeping(&kept, &[], false).expect("a header"));
        assert!(matches!(open(&changed, &Identity::from(key)), Err(Error::NoKeyFits(_))), "{:?}", key.kem());
        for other in keys.iter().filter(|other| other.public() != key.public()) {
            assert!(data_of(&changed, Identity::from(other)).expect("it stays") == data, "{:?}", other.kem());
        }
        // A recipient who is added again gets the same entry as before.
        let back = open(&changed, &passphrase(b"straight face")).expect("the passphrase stays");
        let mut order: Vec<_> = (0..kept.len()).collect();
        assert!(back.recipients_with(key.public()).expect("searched").is_empty());
        let again = back.rewrap_keeping(&order, &[Recipient::from(key.public())], true).expect("a header");
        order.rotate_right(1);
        let moved = open(&again, &Identity::from(key)).expect("added");
        assert_eq!(moved.recipients_with(key.public()).expect("found"), [kept.len()]);
    }
    let stranger = PrivateKey::generate(Kem::XWing).expect("a key");
    assert!(opened.recipients_with(stranger.public()).expect("searched").is_empty());
    assert!(opened.recipients_of(&stranger).expect("searched").is_empty());
}

/// The entries of one recipient in two files have nothing in common, and reveal nothing to a stranger. Only a holder of
/// the file key can find the recipient's entry.
#[test]
fn a_recipient_is_found_with_the_right_file_key_only() {
    for kem in Kem::ALL {
        let key = PrivateKey::generate(kem).expect("a key");
        let to = Recipient::from(key.public());
        assert_eq!(entry(&to, 0), entry(&to, 0));
        let (one, two) = (entry(&to, 0).body, entry(&to, 1).body);
        let shared = one.chunks_exact(16).zip(two.chunks_exact(16)).filter(|(one, two)| one == two).count();
        assert_eq!(shared, 0, "{kem:?}: two files share a part of an entry");
        // The file is sealed with file key number 0, and holds an entry for file key number 1.
        let ours = entry(&recipient(), 0);
        let sealed = Foreign::default().seal_to(&[entry(&to, 1), ours], b"data");
        let opened = open(&sealed, &passphrase(b"straight face")).expect("the passphrase");
        assert!(opened.recipients_with(key.public()).expect("searched").is_empty(), "{kem:?}");
        assert!(opened.recipients_of(&key).expect("searched").is_empty(), "{kem:?}: it opens to another file key");
    }
}

/// Earlier versions made each entry with random bytes. A private key still finds an entry that was made with random
/// bytes.
#[test]
fn entries_of_other_writers_are_found_by_their_own_keys() {
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let info = [b"deadpan v1 recipient", &b"\x89DPN\x0d\x0a\x1a\x0a\x01\x00"[..]].concat();
    let (mut body, ciphertext) = hpke::seal(key.public(), &info, b"", file_key(0).bytes()).expect("sealed");
    body.extend_from_slice(&ciphertext);
    let other = crate::format::deadpan::layout::Entry { kind: Kem::XWing.id(), body };
    let sealed = Foreign::default().seal_to(&[other, entry(&Recipient::from(key.public()), 0)], b"data");
    let opened = open(&sealed, &Identity::from(&key)).expect("either entry opens");
    assert_eq!(opened.recipients_with(key.public()).expect("searched"), [1]);
    assert_eq!(opened.recipients_of(&key).expect("searched"), [0, 1]);
}

#[test]
fn a_repeated_key_is_one_recipient() {
    let key = PrivateKey::generate(Kem::X25519).expect("a key");
    let to = Recipient::from(key.public());
    let sealed =
        Sealing::to(vec![to.clone(), recipient(), to.clone()]).and_then(|it| it.seal(b"data")).expect("sealed");
    let opened = open(&sealed, &Identity::from(&key)).expect("opened");
    assert_eq!(opened.stanzas().len(), 2);
    let header = opened.rewrap_longer(&[to.clone(), to], false).expect("a header");
    assert_eq!(Header::read(&header[..]).expect("a header").stanzas().len(), 1);
}

#[test]
fn a_change_is_held_to_the_rules_of_sealing() {
    let (large, small) = (key(Kem::XWing).1, key(Kem::X25519).1);
    let sealed = Sealing::to(vec![large.clone(), recipient()]).and_then(|it| it.seal(&[7; 600_000])).expect("sealed");
    let opened = open(&sealed, &passphrase(b"straight face")).expect("opened");
    let change = |kept: &[usize], added: &[Recipient]| opened.rewrap_keeping(kept, added, false);
    assert!(matches!(change(&[], &[]), Err(Error::NoRecipients)));
    assert!(matches!(change(&[0, 1], &[other()]), Err(Error::TooMany(_))), "a second passphrase");
    change(&[0], &[other()]).expect("another passphrase instead of the old one");
    assert!(matches!(change(&[0], std::slice::from_ref(&small)), Err(Error::Mixed(who)) if who.contains("X25519")));
    change(&[1], std::slice::from_ref(&small)).expect("a passphrase goes with any key");
    assert!(matches!(change(&[2], &[]), Err(Error::Invalid(_))), "there is no third recipient");
    let empty = Recipient::Passphrase(Passphrase::new(b""), CHEAP);
    assert!(matches!(change(&[0], &[empty]), Err(Error::EmptyPassphrase)));
    let session = Session::new(&Passphrase::new(b"another"), CHEAP).expect("a session");
    assert!(matches!(change(&[0, 1], &[session.recipient()]), Err(Error::TooMany(_))));

    // A classical file stays classical. Adding a post-quantum key to a classical file also needs `mixed`.
    let sealed = Sealing::to(vec![small, recipient()]).and_then(|it| it.seal(b"data")).expect("sealed");
    let opened = open(&sealed, &passphrase(b"straight face")).expect("opened");
    let refused = opened.rewrap_keeping(&[0, 1], std::slice::from_ref(&large), false);
    assert!(matches!(refused, Err(Error::Mixed(who)) if who.contains("X25519")));
    let mixed = opened.rewrap_keeping(&[0, 1], std::slice::from_ref(&large), true).expect("asked for");
    let opened = open(&mixed, &passphrase(b"straight face")).expect("opened");
    opened.rewrap_keeping(&[0, 1, 2], &[key(Kem::P256).1], false).expect("it was mixed before");
}

/// If the data are a mebibyte or longer, the header has room for eight more X-Wing keys. A ninth key needs a longer
/// header.
#[test]
fn the_slack_has_room_for_eight_more() {
    for (length, all_fit) in [(100_usize, false), (1 << 20, true), ((1 << 20) + 1, true)] {
        let sealed =
            Sealing::to(vec![key(Kem::XWing).1, recipient()]).and_then(|it| it.seal(&vec![7; length])).expect("sealed");
        let opened = open(&sealed, &passphrase(b"straight face")).expect("opened");
        let slack = Header::read(&sealed[..]).expect("a header").slack() as usize;
        assert_eq!(slack >= ROOM, all_fit, "{length}");
        let more: Vec<_> = (0..40).map(|_| key(Kem::XWing).1).collect();
        for count in 0..=20 {
            let header = opened.rewrap_keeping(&[0, 1], &more[..count], false).expect("a header");
            let old = opened.header_length() as usize;
            assert_eq!(header.len() == old, count * 1172 <= slack, "{length}, {count}");
            if all_fit {
                assert_eq!((header.len() + HEADER) % PAGE, 0, "{length}, {count}");
            } else if count > 0 {
                assert_eq!(header.len(), old + count * 1172);
            }
            let again = Header::read(&header[..]).expect("a header");
            assert_eq!(again.stanzas().len(), 2 + count);
            // If a header was made longer, it has free space for recipients again.
            assert!(header.len() == old || !all_fit || again.slack() as usize >= ROOM);
        }
        let by_one = [key(Kem::XWing).1, key(Kem::XWing).1];
        assert_eq!(opened.rewrap(&by_one, false).is_ok(), all_fit, "{length}");
    }
}

#[test]
fn room_ends_at_the_longest_header() {
    for needed in [420, 1508, 3 * PAGE - HEADER - ROOM, 3 * PAGE - HEADER - ROOM + 1, LONGEST / 2] {
        let length = with_room(needed);
        assert!((length + HEADER).is_multiple_of(PAGE) && (ROOM..ROOM + PAGE).contains(&(length - needed)), "{needed}");
    }
    let last = LONGEST / PAGE * PAGE - HEADER;
    assert_eq!(with_room(last - ROOM), last);
    assert_eq!(with_room(last - ROOM + 1), last, "less room");
    assert_eq!(with_room(last), last);
    for needed in [last + 1, LONGEST - 1, LONGEST] {
        assert_eq!(with_room(needed), needed);
    }
}

/// Entries that are kept are copied unchanged, whatever they contain.
#[test]
fn entries_that_nobody_here_opens_stay_as_they_are() {
    let mut stranger = entry(&Recipient::from(PrivateKey::generate(Kem::P256).expect("a key").public()), 0);
    stranger.body.fill(0x17);
    let sealed = Foreign::default().seal_to(&[stranger.clone(), entry(&recipient(), 0)], b"data");
    let opened = open(&sealed, &passphrase(b"straight face")).expect("opened");
    let header = opened.rewrap_keeping(&[1, 0], &[key(Kem::P256).1], false).expect("a header");
    let parsed = crate::format::deadpan::header::Parsed::read(&header[..]).expect("a header");
    assert_eq!(parsed.entries[1].1, stranger);
    assert_eq!(parsed.entries[0].1, entry(&recipient(), 0));
}

/// Computes the random bytes step by step, by the rule in docs/format-seal.md.
#[test]
fn the_random_bytes_are_those_of_the_page() {
    let key = PrivateKey::generate(Kem::XWing).expect("a key");
    let file = file_key(3);
    let mut extracted = [0; 32];
    crate::primitive::imp::hkdf::extract(b"\x89DPN\x0d\x0a\x1a\x0a\x01\x00", &[3; 32], &mut extracted)
        .expect("extracted");
    let info = [&b"deadpan v1 encapsulation\x64\x7a"[..], key.public().as_bytes()].concat();
    let mut random = [0; 64];
    crate::primitive::imp::hkdf::expand(crate::primitive::imp::hkdf::HkdfHash::Sha256, &extracted, &info, &mut random)
        .expect("expanded");
    let (enc, _) = key.public().encapsulate_from(&random).expect("encapsulated");
    let made = Recipient::from(key.public()).wrap(&file, Entropy::System).expect("wrapped").remove(0);
    assert_eq!(made.body[..enc.len()], enc);
}
