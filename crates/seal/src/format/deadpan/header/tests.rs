//! Tests with headers that the reader must refuse, quickly and without much memory.

use std::time::{Duration, Instant};

use super::*;
use crate::primitive::entropy::Entropy;
use crate::tests::foreign::{Foreign, recipient};
use crate::{Header, Identity, LooksLike, Passphrase, Sealing};

fn sealed() -> Vec<u8> {
    Sealing::to(vec![recipient()])
        .expect("a passphrase is enough")
        .with_entropy(Entropy::Fixed(1))
        .seal(b"data")
        .expect("sealed")
}

fn error(bytes: &[u8]) -> Error {
    let begin = Instant::now();
    let error =
        Header::read(bytes).and_then(|header| header.open(&[Identity::Passphrase(Passphrase::new(b"straight face"))]));
    // The limit is a minute, because other programs can delay a test for seconds. The check detects only work whose
    // duration depends on a number in the file.
    assert!(begin.elapsed() < Duration::from_secs(60), "it took {:?}", begin.elapsed());
    error.err().unwrap_or_else(|| panic!("{} bytes were taken", bytes.len()))
}

fn with(change: impl Fn(&mut Vec<u8>)) -> Error {
    let mut bytes = sealed();
    change(&mut bytes);
    error(&bytes)
}

#[test]
fn a_header_that_no_reader_accepts_is_not_built() {
    let (key, metadata) = (crate::tests::foreign::file_key(0), [0; crate::format::deadpan::metadata::SHORTEST]);
    let entry = crate::tests::foreign::entry(&recipient(), 0);
    let build = |entries: &[Entry]| build(&key, entries, &metadata, 1 << 16);
    assert!(build(std::slice::from_ref(&entry)).is_ok());
    let unknown = Entry { kind: 0x7fff, body: vec![1; 100] };
    let short = Entry { kind: entry.kind, body: vec![1; 10] };
    for bad in [vec![], vec![entry.clone(), entry.clone()], vec![entry.clone(), unknown], vec![entry.clone(), short]] {
        assert!(matches!(build(&bad), Err(Error::System(_))), "{bad:?}");
    }
}

#[test]
fn other_files_are_told_apart() {
    for (bytes, expected) in [
        (&b""[..], LooksLike::Empty),
        (b"-----BEGIN AGE ENCRYPTED FILE-----\n", LooksLike::Age),
        (b"-----BEGIN DEADPAN SEALED FILE-----\n", LooksLike::Armor),
        (b"-----BEGIN PGP MESSAGE-----\n\n", LooksLike::OpenPgp),
        (b"-----BEGIN PRIVATE KEY-----\n", LooksLike::Pem),
        (b"Salted__01234567", LooksLike::OpenSsl),
        // The first bytes of four messages from GnuPG: messages encrypted for an RSA key, for a key on Curve25519 and
        // for a passphrase, and a signed message. New packets follow.
        (b"\x85\x02\x0c\x03................", LooksLike::OpenPgp),
        (b"\x84\x5e\x03.................", LooksLike::OpenPgp),
        (b"\x8c\x0d\x04\x09\x03\x02............", LooksLike::OpenPgp),
        (b"\xa3\x02\x01.................", LooksLike::OpenPgp),
        (b"\xc1\xc0\x4c\x03................", LooksLike::OpenPgp),
        (b"\xc3\x0d\x04.................", LooksLike::OpenPgp),
        (b"\xd2\xff\x00\x00\x01\x00\x01.............", LooksLike::OpenPgp),
        (b"PK\x03\x04................", LooksLike::Format("a zip file")),
        (b"\x1f\x8b\x08.................", LooksLike::Format("a gzip file")),
        (b"7z\xbc\xaf\x27\x1c..............", LooksLike::Format("a 7z archive")),
        (b"<!doctype html>\n<!-- Deadpan", LooksLike::Html),
        (b"<!DOCTYPE HTML PUBLIC", LooksLike::Html),
        (b"<HTML>\n<body>hello there", LooksLike::Html),
        (b"\x89PNG\r\n\x1a\n............", LooksLike::Png),
        (b"RIFF\x04\0\0\0WEBPVP8L....", LooksLike::WebP),
        (b"\x85\x02\x0c\x09................", LooksLike::Unknown),
        (b"\xc3\xa9t\xc3\xa9 en fran\xc3\xa7ais", LooksLike::Unknown),
        (b"hello, this is a text", LooksLike::Unknown),
        (b"\x89DPN\x0a\x1a\x0a\x01..........", LooksLike::ChangedLineEnds),
    ] {
        let error = error(bytes);
        assert!(matches!(error, Error::NotSealed(looks_like) if looks_like == expected), "{error}");
    }
    let sealed = sealed();
    (1..FIXED).for_each(|length| assert!(matches!(error(&sealed[..length]), Error::Truncated), "{length} bytes"));
}

#[test]
fn the_future_is_told_apart_from_damage() {
    assert!(matches!(with(|bytes| bytes[8] = 2), Error::Newer(_)));
    assert!(matches!(with(|bytes| bytes[9] = 2), Error::Newer(_)));
    assert!(matches!(with(|bytes| bytes[9] = 3), Error::Newer(_)));
    assert!(matches!(with(|bytes| bytes[9] = 0x80), Error::Newer(_)));
    assert!(matches!(with(|bytes| bytes[FIXED + 1] = 9), Error::Newer(_)));
}

fn length_field(bytes: &mut [u8], length: usize) {
    bytes[10..14].copy_from_slice(&(length as u32).to_be_bytes());
}

#[test]
fn every_length_is_held_against_the_others() {
    let length = Header::read(&sealed()[..]).expect("a header").length() as usize;
    assert!(matches!(with(|bytes| length_field(bytes, length + 1)), Error::Header(_) | Error::HeaderForged));
    assert!(matches!(with(|bytes| length_field(bytes, length - 1)), Error::Header(_)));
    assert!(matches!(with(|bytes| length_field(bytes, 0)), Error::Header(_)));
    assert!(matches!(with(|bytes| length_field(bytes, LONGEST + 1)), Error::Limit(_)));
    assert!(matches!(with(|bytes| length_field(bytes, u32::MAX as usize)), Error::Limit(_)));
    assert!(matches!(with(|bytes| length_field(bytes, LONGEST)), Error::Truncated));
    assert!(matches!(with(|bytes| bytes[15] = 0), Error::Header(_)), "no recipient");
    assert!(
        matches!(with(|bytes| bytes[15] = 2), Error::Header(_) | Error::Newer(_)),
        "a recipient more than there is"
    );
    assert!(matches!(with(|bytes| bytes[FIXED + 3] -= 1), Error::Header(_)), "a body that is too short");
    let metadata = FIXED + 4 + 108;
    assert!(matches!(with(|bytes| bytes[metadata + 3] ^= 1), Error::Header(_)), "a box of no multiple");
    assert!(matches!(with(|bytes| bytes[metadata] = 0xff), Error::Header(_)), "a huge box");
}

#[test]
fn hostile_headers_cost_next_to_nothing() {
    // The header claims to have 65 535 recipients. The header has 64 KiB, or the maximum length.
    for length in [64 << 10, LONGEST] {
        let mut bytes = sealed();
        bytes.resize(length + 1000, 0xff);
        length_field(&mut bytes, length);
        bytes[14..16].fill(0xff);
        assert!(matches!(error(&bytes), Error::Header(_)), "{length}");
        // The header has as many recipients as fit, all of an unknown kind. Random bytes follow.
        bytes[14..16].copy_from_slice(&((length / 100) as u16).to_be_bytes());
        assert!(matches!(error(&bytes), Error::Newer(_) | Error::Header(_)), "{length}");
        bytes[FIXED..].fill(0);
        assert!(matches!(error(&bytes), Error::Newer(_) | Error::Header(_)), "{length}");
    }
    // The entry requires a terabyte of memory, or so many passes of Argon2 that hashing would take years.
    for (at, value) in [(0, 1_u32 << 30), (4, u32::MAX), (8, u32::MAX), (0, 0), (4, 0), (8, 0)] {
        let place = FIXED + 4 + at;
        let refused = with(|bytes| bytes[place..place + 4].copy_from_slice(&value.to_be_bytes()));
        assert!(matches!(refused, Error::Limit(_) | Error::Header(_)), "{refused}");
    }
}

#[test]
fn a_second_passphrase_is_refused() {
    assert!(matches!(Sealing::to(vec![recipient(), recipient()]), Err(Error::TooMany(_))));
    let sealed = sealed();
    let entry = &sealed[FIXED..FIXED + 112];
    let mut twice = [&sealed[..FIXED], entry, &sealed[FIXED..]].concat();
    twice[15] = 2;
    let length = Header::read(&sealed[..]).expect("a header").length() as usize;
    length_field(&mut twice, length + 112);
    assert!(matches!(error(&twice), Error::Limit(_)));
}

#[test]
fn slack_is_zero_and_counts() {
    let sealing = Sealing::to(vec![recipient()]).expect("a passphrase is enough");
    let sealed = sealing.seal(&vec![1; 600_000]).expect("sealed");
    let header = Header::read(&sealed[..]).expect("a header");
    assert_eq!((header.length() as usize + crate::format::deadpan::floe::HEADER) % PAGE, 0);
    assert!(header.slack() > 0);
    let mut changed = sealed;
    changed[header.length() as usize - MAC - 1] = 1;
    assert!(matches!(error(&changed), Error::Header("its slack")));
}

#[test]
fn a_wrong_passphrase_is_called_that() {
    let open = |text: &[u8]| {
        Header::read(&sealed()[..]).expect("a header").open(&[Identity::Passphrase(Passphrase::new(text))])
    };
    assert!(matches!(open(b"Straight face"), Err(Error::WrongPassphrase)));
    assert!(open(b"straight face").is_ok());
    let nobody = Header::read(&sealed()[..]).expect("a header").open(&[]);
    assert!(nobody.is_err_and(|error| error.to_string().contains("sealed to one passphrase")));
}

#[test]
fn lengths_of_segments_are_bounded() {
    for (length, allowed) in
        [(0, false), (33, false), (4095, false), (4096, true), (16 << 20, true), ((16 << 20) + 1, false)]
    {
        assert_eq!(check_segment(length).is_ok(), allowed, "{length}");
    }
    assert!(matches!(check_segment(4095), Err(Error::Limit(_))));
    // The bounds are checked both when the payload is opened and when its segments are computed.
    for (segment, allowed) in [(4095, false), (4096, true), (16 << 20, true), ((16 << 20) + 1, false)] {
        let sealed = Foreign { segment, ..Foreign::default() }.seal(b"data");
        let mut payload = &sealed[..];
        let header = Header::read(&mut payload).expect("a header");
        let segments = header.segments(payload, sealed.len() as u64);
        assert_eq!(segments.is_ok(), allowed, "{segment}");
        assert!(allowed || matches!(segments, Err(Error::Limit(_))));
        let opened = header.open(&[Identity::Passphrase(Passphrase::new(b"straight face"))]).expect("the passphrase");
        let result = opened.open(payload);
        assert!(if allowed { result.is_ok() } else { matches!(result, Err(Error::Limit(_))) }, "{segment}: {result:?}");
    }
}
