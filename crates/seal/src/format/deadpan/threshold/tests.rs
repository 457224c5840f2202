//! Tests of thresholds. The tests check which owners open a file together, and use headers and shares that were changed
//! or made up.

use super::entry::Part;
use super::*;
use crate::format::deadpan::header::FIXED;
use crate::format::deadpan::layout::Preamble;
use crate::primitive::hpke;
use crate::primitive::imp::hkdf::{self, HkdfHash};
use crate::tests::foreign::{Foreign, file_key, recipient};
use crate::{Fault, Header, Identity, Kem, Mode, Opened, PrivateKey, Recipient, Sealing, Secret, Stanza};

fn keys(kem: Kem, count: usize) -> Vec<PrivateKey> {
    (0..count).map(|_| PrivateKey::generate(kem).expect("a key")).collect()
}

fn members(keys: &[PrivateKey]) -> Vec<PublicKey> {
    keys.iter().map(|key| key.public().clone()).collect()
}

fn sealed(needed: usize, keys: &[PrivateKey]) -> Vec<u8> {
    Sealing::mixed(vec![Recipient::Threshold(Threshold::new(needed, members(keys)).expect("a group"))])
        .and_then(|it| it.seal(b"data"))
        .expect("sealed")
}

/// Returns the entries for the file key 0.
fn entries(needed: usize, keys: &[PrivateKey]) -> Vec<Entry> {
    let threshold = Threshold::new(needed, members(keys)).expect("a group");
    threshold.wrap(&file_key(0), Entropy::Fixed(0)).expect("wrapped")
}

fn identities(keys: &[PrivateKey]) -> Vec<Identity> {
    keys.iter().map(Identity::from).collect()
}

fn open(sealed: &[u8], identities: &[Identity]) -> Result<Opened, Error> {
    Header::read(sealed)?.open(identities)
}

fn error(sealed: &[u8], identities: &[Identity]) -> Error {
    open(sealed, identities).expect_err("refused")
}

fn shares(sealed: &[u8], keys: &[PrivateKey]) -> Vec<Share> {
    Header::read(sealed).and_then(|header| header.shares(&identities(keys))).expect("shares")
}

/// Returns the elements whose bits are set in `choice`.
fn chosen<T: Clone>(all: &[T], choice: u32) -> Vec<T> {
    all.iter().enumerate().filter(|(i, _)| choice >> i & 1 == 1).map(|(_, it)| it.clone()).collect()
}

#[test]
fn every_five_of_nine_open_a_file_and_no_four_do() {
    let keys = keys(Kem::X25519, 9);
    let sealed = sealed(5, &keys);
    let (keys, shares) = (identities(&keys), shares(&sealed, &keys));
    let shares: Vec<_> = shares.into_iter().map(Identity::Share).collect();
    let mut opened = 0;
    for choice in 1_u32..1 << 9 {
        let count = choice.count_ones();
        let of_keys = if count == 4 || count == 5 { open(&sealed, &chosen(&keys, choice)) } else { continue };
        for result in [of_keys, open(&sealed, &chosen(&shares, choice))] {
            match result {
                Ok(_) if count == 5 => opened += 1,
                Err(Error::TooFewShares { needed: 5, of: 9, found: 4 }) if count == 4 => {}
                other => panic!("{choice:09b}: {other:?}"),
            }
        }
        let both = [chosen(&keys, choice & 0b1_1111), chosen(&shares, choice & 0b1_1110_0000)].concat();
        assert_eq!(open(&sealed, &both).is_ok(), count == 5, "{choice:09b}");
    }
    assert_eq!(opened, 2 * 126);
}

#[test]
fn the_same_share_counts_once() {
    let keys = keys(Kem::X25519, 3);
    let sealed = sealed(2, &keys);
    let first = Identity::Share(shares(&sealed, &keys[..1])[0].clone());
    let again = [Identity::from(&keys[0]), first.clone(), first, Identity::from(&keys[0])];
    assert!(matches!(error(&sealed, &again), Error::TooFewShares { needed: 2, of: 3, found: 1 }));
}

#[test]
fn all_kinds_of_keys_can_be_members() {
    for one in Kem::ALL {
        for other in Kem::ALL {
            let keys = [keys(one, 1), keys(other, 1)].concat();
            let sealed = sealed(2, &keys);
            let opened = open(&sealed, &identities(&keys)).expect("both together");
            assert_eq!(opened.opened_by(), members(&keys), "{one:?}, {other:?}");
            for key in &keys {
                let alone = error(&sealed, &[Identity::from(key)]);
                assert!(matches!(alone, Error::TooFewShares { needed: 2, of: 2, found: 1 }), "{alone}");
                assert_eq!(alone.fault(), Fault::Key);
            }
            let mixed = (one.mode() == Mode::Ecc) != (other.mode() == Mode::Ecc);
            let refused = Sealing::threshold(2, members(&keys)).err();
            assert_eq!(matches!(refused, Some(Error::Mixed(_))), mixed, "{refused:?}");
        }
    }
}

#[test]
fn groups_that_make_no_sense_are_refused() {
    let five = members(&keys(Kem::X25519, 5));
    for (needed, count) in [(0, 0), (0, 3), (1, 3), (4, 3), (6, 5), (2, 1), (256, 3)] {
        let refused = Threshold::new(needed, five[..count].to_vec());
        assert!(matches!(refused, Err(Error::Threshold(_))), "{needed} of {count}");
    }
    let twice = vec![five[0].clone(), five[1].clone(), five[0].clone()];
    assert!(matches!(Threshold::new(2, twice), Err(Error::Threshold(what)) if what.contains("twice")));
    let many = keys(Kem::X25519, 256);
    assert!(matches!(Threshold::new(2, members(&many)), Err(Error::Threshold(_))));
    for needed in [2, 255] {
        let sealed = sealed(needed, &many[..255]);
        open(&sealed, &identities(&many[255 - needed..255])).expect("the most members");
        assert!(matches!(error(&sealed, &identities(&many[..needed - 1])), Error::TooFewShares { of: 255, .. }));
    }
    let group = || Recipient::Threshold(Threshold::new(2, five.clone()).expect("a group"));
    assert!(matches!(Sealing::to(vec![group(), group()]), Err(Error::TooMany(_))));
}

#[test]
fn a_threshold_can_stand_beside_other_recipients() {
    let all = keys(Kem::XWing, 4);
    let group = Recipient::Threshold(Threshold::new(2, members(&all[..3])).expect("a group"));
    let list = vec![recipient(), group, Recipient::from(all[3].public())];
    let sealed = Sealing::to(list).and_then(|it| it.seal(b"data")).expect("sealed");
    assert_eq!(open(&sealed, &identities(&all)).expect("a key alone").opened_by(), &members(&all)[3..]);
    assert_eq!(open(&sealed, &identities(&all[1..3])).expect("two").opened_by(), &members(&all)[1..3]);
    let passphrase = Identity::Passphrase(crate::Passphrase::new(b"straight face"));
    assert!(open(&sealed, &[passphrase]).expect("the passphrase").opened_by().is_empty());
    let stranger = error(&sealed, &identities(&keys(Kem::XWing, 1)));
    assert_eq!(
        stranger.to_string(),
        "no key fits: the file is sealed to one passphrase and one X-Wing key and any 2 of 3 X-Wing keys"
    );
    let stanzas = Header::read(&sealed[..]).expect("a header").stanzas();
    assert_eq!(stanzas[3], Stanza::Share { kem: Kem::XWing, needed: 2, of: 3, index: 3 });
}

/// The error names the wrong share of a dishonest holder. The other holders can still open the file if they have enough
/// shares.
#[test]
fn a_wrong_share_is_named() {
    let keys = keys(Kem::X25519, 3);
    let sealed = sealed(2, &keys);
    let all = shares(&sealed, &keys);
    for place in 0..Share::LENGTH {
        let mut bytes = all[1].to_bytes().to_vec();
        bytes[place] ^= 1;
        let Ok(changed) = Share::from_bytes(&bytes) else {
            assert!(place < 19, "byte {place}");
            continue;
        };
        let changed = Identity::Share(changed);
        let expected = match place {
            19..51 => ShareFault::OtherFile,
            // The index 2 becomes 3. If the other numbers are changed, "any 2 of 3" becomes "any 3 of 3" or "any 2 of
            // 2".
            18 => ShareFault::Wrong(3),
            _ => ShareFault::Wrong(2),
        };
        for list in [vec![changed.clone()], vec![Identity::from(&keys[0]), changed.clone()]] {
            let error = error(&sealed, &list);
            assert!(matches!(error, Error::Share(fault) if fault == expected), "byte {place}: {error}");
            assert_eq!(error.fault(), Fault::Data);
        }
        open(&sealed, &[Identity::from(&keys[0]), changed, Identity::Share(all[2].clone())]).expect("enough are left");
    }
    assert!(matches!(Share::from_bytes(b""), Err(Error::Share(ShareFault::Form))));
    let bytes = all[1].to_bytes();
    for length in 0..bytes.len() {
        assert!(Share::from_bytes(&bytes[..length]).is_err());
    }
    assert!(Share::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    assert_eq!(Share::from_bytes(&bytes).expect("a share").to_bytes()[..], bytes[..]);
}

#[test]
fn shares_of_other_files_do_not_fit() {
    let keys = keys(Kem::X25519, 3);
    let (one, two) = (sealed(2, &keys), sealed(2, &keys));
    let opened = open(&one, &identities(&keys)).expect("the keys");
    let group = Recipient::Threshold(Threshold::new(2, members(&keys)).expect("a group"));
    let rewrapped = opened.rewrap(&[group], false).expect("a header");
    let foreign = [two, rewrapped, sealed(3, &keys)].map(|other| Identity::Share(shares(&other, &keys)[1].clone()));
    for share in foreign {
        let refused = error(&one, &[Identity::from(&keys[0]), share.clone()]);
        assert!(matches!(refused, Error::Share(ShareFault::OtherFile)), "{refused}");
        assert!(matches!(Header::read(&one[..]).expect("a header").shares(&[share]), Err(Error::Share(_))));
    }
    let plain = crate::seal(keys[0].public(), b"data").expect("sealed");
    let share = Identity::Share(shares(&one, &keys)[0].clone());
    assert!(matches!(error(&plain, std::slice::from_ref(&share)), Error::Share(ShareFault::OtherFile)));
    open(&plain, &[share, Identity::from(&keys[0])]).expect("the key opens it alone");
    let none = Header::read(&plain[..]).expect("a header").shares(&identities(&keys));
    assert!(matches!(none, Err(Error::Threshold(_))));
}

/// Holders open shares before the header's MAC can be checked. Each changed byte of the entries must give an error.
#[test]
fn every_changed_byte_of_the_entries_is_found() {
    let keys = keys(Kem::X25519, 3);
    let sealed = sealed(2, &keys);
    let end = FIXED + 3 * (4 + entry::body(Kem::X25519));
    for place in FIXED..end {
        for flip in [1, 0x80] {
            let mut changed = sealed.clone();
            changed[place] ^= flip;
            let error = error(&changed, &identities(&keys));
            let expected =
                matches!(error, Error::Header(_) | Error::HeaderForged | Error::Newer(_) | Error::NoKeyFits(_));
            assert!(expected, "byte {place}: {error}");
        }
    }
}

/// Checks that a list of entries is refused in a file whose MAC is right.
fn refused(entries: &[Entry], keys: &[PrivateKey], expected: impl Fn(&Error) -> bool, what: &str) {
    let error = error(&Foreign::default().seal_to(entries, b"data"), &identities(keys));
    assert!(expected(&error), "{what}: {error}");
}

#[test]
fn hostile_headers_are_refused() {
    let keys = keys(Kem::X25519, 3);
    let good = entries(2, &keys);
    open(&Foreign::default().seal_to(&good, b"data"), &identities(&keys)).expect("unchanged");
    let malformed = |error: &Error| matches!(error, Error::Header(_));
    let all = |place: usize, value: u8| {
        let mut entries = good.clone();
        entries.iter_mut().for_each(|entry| entry.body[place] = value);
        entries
    };
    for (place, value, what) in [
        (0, 0, "K = 0"),
        (0, 1, "K = 1"),
        (0, 4, "K > N"),
        (0, 255, "K > N"),
        (1, 0, "N = 0"),
        (1, 2, "N too small"),
        (1, 4, "N too great"),
        (1, 255, "N too great"),
        (2, 0, "index 0"),
        (2, 1, "the same index"),
        (2, 4, "an index above N"),
        (4, 0x10, "another kind of key"),
    ] {
        refused(&all(place, value), &keys, malformed, what);
    }
    refused(&all(4, 0x11), &keys, |error| matches!(error, Error::Newer(_)), "an unknown kind of key");
    for index in 0..3 {
        for (place, what) in [(0, "another K"), (1, "another N"), (2, "another index"), (5, "another check of the key")]
        {
            let mut entries = good.clone();
            entries[index].body[place] ^= 1;
            refused(&entries, &keys, malformed, what);
        }
        let mut entries = good.clone();
        entries.remove(index);
        refused(&entries, &keys, malformed, "a missing share");
        entries.insert((index + 1) % 3, good[index].clone());
        refused(&entries, &keys, malformed, "another order");
        let doubled = [&good[..], &good[index..=index]].concat();
        refused(&doubled, &keys, malformed, "a share twice");
        let mut between = good.clone();
        between.insert(index, crate::tests::foreign::entry(&recipient(), 0));
        let error = open(&Foreign::default().seal_to(&between, b"data"), &identities(&keys)).err();
        // A recipient before the group is allowed.
        assert_eq!(error.is_some(), index > 0, "{error:?}");
        for length in [0, 1, 4, 5, 68, 69, 148, 150] {
            let mut entries = good.clone();
            entries[index].body.resize(length, 0);
            refused(&entries, &keys, malformed, "another length");
        }
    }
    refused(&[&good[..], &good].concat(), &keys, malformed, "two groups");
}

/// A share opens only at its own position, because HPKE authenticates the index, the numbers, the check values and the
/// type.
#[test]
fn a_share_cannot_be_moved() {
    let keys = keys(Kem::X25519, 3);
    let (good, other) = (entries(2, &keys), entries(2, &keys));
    let same = keys.iter().map(|_| keys[0].clone()).collect::<Vec<_>>();
    let none_fits = |error: &Error| matches!(error, Error::NoKeyFits(_));
    // The sealed shares of two members are exchanged. After the exchange, keys 0 and 1 open no share, and key 2 alone
    // is not enough.
    let mut swapped = good.clone();
    let (first, rest) = swapped.split_at_mut(1);
    first[0].body[69..].swap_with_slice(&mut rest[0].body[69..]);
    refused(&swapped, &keys[..2], none_fits, "two sealed shares in each other's place");
    refused(&swapped, &keys, |error| matches!(error, Error::TooFewShares { found: 1, .. }), "two places");
    // A changed check value changes the digest of the group, so no share opens.
    let mut checks = good.clone();
    checks[2].body[40] ^= 1;
    refused(&checks, &keys, none_fits, "another check value");
    // The last group has the same file key, but other coefficients. Entries of two groups with the same file key cannot
    // be exchanged.
    let mut mixed = good.clone();
    mixed[1] = other[1].clone();
    open(&Foreign::default().seal_to(&mixed, b"data"), &identities(&keys))
        .expect("the same coefficients, in this test");
    let mut real = Threshold::new(2, members(&keys)).and_then(|it| it.wrap(&file_key(0), Entropy::System)).expect("it");
    real[1] = good[1].clone();
    refused(&real, &keys, none_fits, "an entry of another group");
    // A share is put into a header as a plain recipient, and then a plain recipient is put into a header as a share.
    let plain = vec![Entry { kind: 0x20, body: good[0].body[69..].to_vec() }];
    refused(&plain, &keys, none_fits, "a share as a recipient");
    let mut share = good;
    let recipient = crate::tests::foreign::entry(&Recipient::from(keys[0].public()), 0);
    share[0].body[69..].copy_from_slice(&recipient.body);
    refused(&share, &same[..1], none_fits, "a recipient as a share");
}

/// A hostile sealer can make shares that do not belong together. No two groups of members get two different file keys
/// from shares that do not belong together.
#[test]
fn shares_that_do_not_belong_together_open_nothing() {
    let keys = keys(Kem::X25519, 3);
    let group = Threshold::new(2, members(&keys)).expect("a group");
    let mut split = Split::new(&file_key(0), 2, 3, Entropy::Fixed(0)).expect("split");
    let other = Split::new(&file_key(1), 2, 3, Entropy::Fixed(1)).expect("split");
    // The third share is a share of another file key. Its check value fits the share.
    split.shares[2] = other.shares[2].clone();
    let digest = split.digest(Preamble::PLAIN);
    let seal = |(number, key)| split.seal(number, key, Preamble::PLAIN, &digest).expect("sealed");
    let entries: Vec<_> = group.members.iter().enumerate().map(seal).collect();
    let sealed = Foreign::default().seal_to(&entries, b"data");
    open(&sealed, &identities(&keys[..2])).expect("two that belong together");
    for pair in [[0, 2], [1, 2]] {
        let pair = pair.map(|number: usize| Identity::from(&keys[number]));
        assert!(matches!(error(&sealed, &pair), Error::HeaderForged));
    }
    // The error names a share that does not match its check value, although HPKE opens the share.
    split.shares[2] = Split::new(&file_key(0), 2, 3, Entropy::Fixed(0)).expect("split").shares[2].clone();
    split.shares[2].1[0] ^= 1;
    let digest = split.digest(Preamble::PLAIN);
    let seal = |(number, key)| split.seal(number, key, Preamble::PLAIN, &digest).expect("sealed");
    let entries: Vec<_> = group.members.iter().enumerate().map(seal).collect();
    let sealed = Foreign::default().seal_to(&entries, b"data");
    let wrong = error(&sealed, &identities(&keys[1..]));
    assert!(matches!(wrong, Error::Share(ShareFault::Wrong(3))), "{wrong}");
    open(&sealed, &identities(&keys)).expect("the others are enough");
}

/// Another program may give two shares to one key. These shares count as two.
#[test]
fn a_key_can_hold_several_shares_of_other_writers() {
    let keys = keys(Kem::X25519, 2);
    let group = Threshold { needed: 2, members: [0, 1, 0].map(|number: usize| keys[number].public().clone()).to_vec() };
    let entries = group.wrap(&file_key(0), Entropy::System).expect("wrapped");
    let sealed = Foreign::default().seal_to(&entries, b"data");
    let opened = open(&sealed, &identities(&keys[..1])).expect("two shares");
    assert_eq!(opened.opened_by(), &members(&keys)[..1]);
    assert_eq!(shares(&sealed, &keys[..1]).iter().map(Share::index).collect::<Vec<_>>(), [1, 3]);
    assert!(matches!(error(&sealed, &identities(&keys[1..])), Error::TooFewShares { .. }));
}

/// The test contains a copy of the bytes in docs/format-seal.md. The test does not use the program's constants, because
/// the constants would change together with the program.
#[test]
fn the_bytes_are_what_the_page_says() {
    const P: &[u8] = b"\x89DPN\x0d\x0a\x1a\x0a\x01\x00";
    let keys = keys(Kem::X25519, 3);
    let sealed = sealed(2, &keys);
    let bodies: Vec<_> = (0..3).map(|number| &sealed[FIXED + number * 153..][..153]).collect();
    let derive = |secret: &[u8], info: &[u8]| {
        let (mut key, mut out) = ([0; 32], [0; 32]);
        hkdf::extract(P, secret, &mut key).expect("the system works");
        hkdf::expand(HkdfHash::Sha256, &key, info, &mut out).expect("the system works");
        out
    };
    let mut text = [b"deadpan v1 threshold", P, &[2, 3], &bodies[0][9..41]].concat();
    bodies.iter().for_each(|body| text.extend_from_slice(&body[41..73]));
    let group = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &text);
    let mut values = Vec::new();
    for (number, (body, key)) in bodies.iter().zip(&keys).enumerate() {
        let index = number as u8 + 1;
        assert_eq!(body[..9], [0xff, 4, 0, 149, 2, 3, index, 0, 0x20]);
        assert_eq!(body[9..41], bodies[0][9..41], "the check of the file key");
        let info = [b"deadpan v1 share", P, &[index], group.as_ref()].concat();
        let share = hpke::open(key, &body[73..105], &info, b"", &body[105..]).expect("the system works");
        let share = share.expect("the info of the page opens it");
        assert_eq!(body[41..73], derive(&share, &[b"deadpan v1 share check", &[2, 3, index][..]].concat()));
        values.push((index, share));
    }
    let file = shamir::combine(&[(1, &values[0].1), (3, &values[2].1)]);
    assert_eq!(sealed[FIXED + 9..FIXED + 41], derive(&file, b"deadpan v1 threshold check"));
    let all = shares(&sealed, &keys);
    let bytes = [b"deadpan v1 share", &[2, 3, 2][..], group.as_ref(), &values[1].1].concat();
    assert_eq!(all[1].to_bytes()[..], bytes[..]);
    assert!(Part::read(&bodies[1][4..]).is_ok());
    let _: &Secret = &file;
}

/// A new group for the same file key needs new coefficients. With the same coefficients, two groups would have the same
/// shares.
#[test]
fn coefficients_are_new_each_time() {
    let split = || Split::new(&file_key(0), 3, 3, Entropy::System).expect("split");
    let (one, two) = (split(), split());
    for (a, b) in one.shares.iter().zip(&two.shares) {
        for half in [0..16, 16..32] {
            assert!(a.1[half.clone()] != b.1[half.clone()] && a.1[half.clone()] != [0; 16]);
        }
    }
    assert_eq!(one.key_check, two.key_check);
}
