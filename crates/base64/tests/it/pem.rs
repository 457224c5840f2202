//! Tests of PEM through the public interface.
#![cfg(feature = "alloc")]

use proptest::prelude::*;

use deadpan_base64::pem::{self, Error};

/// The first example of RFC 7468 section 10, after a line of other text, which the RFC allows.
const RFC_7468: &str = "Subject: CN=Atlantis\n\
-----BEGIN PRIVATE KEY-----\n\
MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgVcB/UNPxalR9zDYAjQIf\n\
jojUDiQuGnSJrFEEzZPT/92hRANCAASc7UJtgnF/abqWM60T3XNJEzBv5ez9TdwK\n\
H0M6xpM2q+53wmsN/eYLdgtjgBd3DBmHtPilCkiFICXyaA8z9LkJ\n\
-----END PRIVATE KEY-----\n";

#[test]
fn rfc_7468_example() {
    let document = pem::decode(RFC_7468.as_bytes()).unwrap();
    assert_eq!(document.label, "PRIVATE KEY");
    assert_eq!(document.contents[..4], [0x30, 0x81, 0x84, 0x02]);
    assert_eq!(document.contents.len(), 0x87);
    let block = RFC_7468.split_once('\n').unwrap().1;
    assert_eq!(pem::encode(document.label, &document.contents).unwrap(), block);
    assert_eq!(format!("{document:?}"), "Document { label: \"PRIVATE KEY\", contents: Wiped(..) }");
}

#[test]
fn line_ends_and_white_space_do_not_matter() {
    let expected = pem::decode(RFC_7468.as_bytes()).unwrap().contents.to_vec();
    for text in [
        RFC_7468.replace('\n', "\r\n"),
        RFC_7468.replace('\n', "\r"),
        RFC_7468.replace('\n', "\n\n"),
        RFC_7468.replace("\nj", "\n  j").replace("K\n", "K \t\n"),
        RFC_7468.replace("-----\n", "----- \n"),
        RFC_7468.trim_end().to_owned(),
    ] {
        assert_eq!(*pem::decode(text.as_bytes()).unwrap().contents, expected, "{text}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("", Error::Missing),
        ("no key here\n", Error::Missing),
        ("----BEGIN KEY-----\nAAAA\n-----END KEY-----\n", Error::Missing),
        ("-----BEGIN ", Error::Begin),
        ("-----BEGIN -----BEGIN -----", Error::Begin),
        ("-----BEGIN KEY----\nAAAA\n-----END KEY-----\n", Error::Begin),
        ("-----BEGIN KEY-----AAAA-----END KEY-----\n", Error::Begin),
        ("-----BEGIN A  KEY-----\nAAAA\n-----END A  KEY-----\n", Error::Begin),
        ("-----BEGIN K\u{c9}Y-----\nAAAA\n-----END K\u{c9}Y-----\n", Error::Begin),
        ("-----BEGIN KEY-----\nAAAA\n", Error::End),
        ("-----BEGIN KEY-----\n", Error::End),
        ("-----BEGIN KEY-----\nAAAA\n-----END LOCK-----\n", Error::End),
        ("-----BEGIN KEY-----\nAAAA\n-----END KEY----\n", Error::End),
        ("-----BEGIN KEY-----\nAAAA\n-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n", Error::End),
        ("-----BEGIN KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END KEY-----\n", Error::Headers),
        ("-----BEGIN KEY-----\nDEK-Info: AES\n\nAAAA\n-----END KEY-----\n", Error::Headers),
        ("-----BEGIN KEY-----\nComment: none\nAAAA\n-----END KEY-----\n", Error::Headers),
        ("-----BEGIN KEY-----\nVersion: 1\n\nAAAA\n=AAAA\n-----END KEY-----\n", Error::Headers),
        ("-----BEGIN KEY-----\nProc-Type: 4\nAAAA\n", Error::End),
        ("-----BEGIN KEY-----\nAAA\n-----END KEY-----\n", Error::Body),
        ("-----BEGIN KEY-----\nAAAA====\n-----END KEY-----\n", Error::Body),
        ("-----BEGIN KEY-----\nAAB=\n-----END KEY-----\n", Error::Body),
        ("-----BEGIN KEY-----\nAA-A\n-----END KEY-----\n", Error::Body),
    ];
    for (text, expected) in cases {
        assert_eq!(pem::decode(text.as_bytes()).unwrap_err(), expected, "{text}");
        assert!(!expected.to_string().is_empty());
    }
}

#[test]
fn several_blocks_in_one_text() {
    let text =
        ["ONE", "", "X.509-CRL"].map(|label| pem::encode(label, label.as_bytes()).unwrap()).join("text between\n");
    let found: Vec<_> = pem::documents(text.as_bytes()).map(|document| document.unwrap().label).collect();
    assert_eq!(found, ["ONE", "", "X.509-CRL"]);
    let damaged = text.replacen("END ONE", "END TWO", 1);
    let found: Vec<_> =
        pem::documents(damaged.as_bytes()).map(|document| document.map(|document| document.label)).collect();
    assert_eq!(found, [Err(Error::End), Ok(""), Ok("X.509-CRL")]);
}

#[test]
fn labels_to_write_are_checked() {
    for label in ["-", "A-", " A", "A--B", "A  B", "A- B", "K\n", "K\u{c9}Y", "A\0"] {
        assert_eq!(pem::encode(label, b"").unwrap_err(), Error::Label, "{label:?}");
    }
    assert_eq!(pem::encode("", b"").unwrap(), "-----BEGIN -----\n-----END -----\n");
}

proptest! {
    #[test]
    fn round_trips_in_64_columns(
        contents in proptest::collection::vec(any::<u8>(), 0..500),
        label in "[A-Z]{1,5}([ -][A-Z0-9.#]{1,5}){0,3}",
    ) {
        let text = pem::encode(&label, &contents).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let (body, last) = (&lines[1..lines.len() - 1], lines.len().saturating_sub(3));
        for (place, line) in body.iter().enumerate() {
            prop_assert!(line.len() == 64 || (place == last && line.len() < 64 && !line.is_empty()));
        }
        let document = pem::decode(text.as_bytes()).unwrap();
        prop_assert_eq!(document.label, &label);
        prop_assert_eq!(&*document.contents, &contents);
    }

    #[test]
    fn any_text_is_read_or_refused(
        text in "(-----BEGIN [A-Z ]{0,3}-----\n?|[A-Za-z=\n -]{0,9}|-----END [A-Z ]{0,3}-----\n?){0,6}",
    ) {
        for document in pem::documents(text.as_bytes()).flatten() {
            let marker = format!("-----BEGIN {}-----", document.label);
            prop_assert!(text.contains(&marker));
        }
    }
}
