//! Computes the worked example of docs/format-seal.md and compares it with the page, so that the page and the program
//! stay consistent.
//!
//! `DEADPAN_BLESS=1 cargo test -p deadpan-seal example -- --test-threads=1` writes the examples into the page again.

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::floe;
use crate::format::deadpan::header::{FIXED, MAC};
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::format::deadpan::threshold::entry::{Part, Split};
use crate::primitive::entropy::Entropy;
use crate::{Cost, Header, Identity, Kem, Kind, Metadata, Passphrase, PrivateKey, Recipient, Sealing, Secret, Session};
use deadpan_base64::hex;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/format-seal.md");
const FILE: [&str; 2] = ["<!-- example -->\n", "<!-- end of example -->\n"];
const KEY_ITEM: [&str; 2] = ["<!-- key example -->\n", "<!-- end of key example -->\n"];
const SPLIT: [&str; 2] = ["<!-- threshold example -->\n", "<!-- end of threshold example -->\n"];
const SHARE: [&str; 2] = ["<!-- share example -->\n", "<!-- end of share example -->\n"];
const ITEM: [&str; 2] = ["<!-- session example -->\n", "<!-- end of session example -->\n"];

const PASSPHRASE: &[u8] = b"correct horse";
const DATA: &[u8] = b"Nothing about this shows.\n";
const ENTROPY: Entropy = Entropy::Fixed(0);

/// Writes bytes in lines of 32 bytes. Each line begins with its offset.
pub(crate) fn dump(text: &mut String, begin: usize, bytes: &[u8]) {
    for (i, line) in bytes.chunks(32).enumerate() {
        writeln!(text, "{:6}  {}", begin + 32 * i, hex::encode(line)).expect("a string takes it");
    }
}

fn example() -> String {
    let metadata = Metadata {
        kind: Kind::File,
        name: Some(b"note.txt".to_vec()),
        modified: Some(UNIX_EPOCH + Duration::new(1_800_000_000, 5)),
        mode: Some(0o644),
    };
    let recipient = Recipient::Passphrase(Passphrase::new(PASSPHRASE), Cost { memory: 64, passes: 1, lanes: 1 });
    let sealing = Sealing::to(vec![recipient]).and_then(|it| it.metadata(metadata.clone())).expect("a file");
    let sealed = sealing.hide_length(true).with_entropy(ENTROPY).seal(DATA).expect("sealed");

    let mut payload = &sealed[..];
    let header = Header::read(&mut payload).expect("a header");
    let (length, stanza) = (header.length() as usize, 4 + 108);
    let opened = header.open(&[Identity::Passphrase(Passphrase::new(PASSPHRASE))]).expect("the passphrase");
    let data = opened.open(payload).expect("opened");
    assert!(data == DATA && *opened.metadata() == metadata, "the example does not open");

    let key = file_key();
    let mut text = String::new();
    let mut line =
        |name: &str, bytes: &[u8]| writeln!(text, "{name:14}{}", hex::encode(bytes)).expect("a string takes it");
    line("file key", key.bytes());
    line("metadata key", &key.metadata_key().expect("derived"));
    line("FLOE key", &key.payload_key().expect("derived"));
    let mut parts = format!("```\n{text}```\n");
    let mut part = |title: &str, begin: usize, end: usize| {
        write!(parts, "\n{title}:\n\n```\n").expect("a string takes it");
        dump(&mut parts, begin, &sealed[begin..end]);
        parts.push_str("```\n");
    };
    let (metadata, slack) = (FIXED + stanza, length - MAC);
    part("Preamble, header length, one recipient", 0, FIXED);
    part("The passphrase recipient: type, length, cost, salt, commitment, sealed file key", FIXED, metadata);
    part("The metadata box, with its length; there is no slack", metadata, slack);
    part("The MAC", slack, length);
    part("FLOE's header", length, length + floe::HEADER);
    part("The only segment, which is the last", length + floe::HEADER, sealed.len());
    parts
}

/// Returns the example of a header entry for a session, which hashes a passphrase only once.
fn in_a_session() -> String {
    let cost = Cost { memory: 64, passes: 1, lanes: 1 };
    let session = Session::with_entropy(&Passphrase::new(PASSPHRASE), cost, ENTROPY).expect("a session");
    let key = file_key();
    let entry = session.recipient().wrap(&key, ENTROPY).expect("wrapped").remove(0);
    let bytes = [&entry.kind.to_be_bytes()[..], &(entry.body.len() as u16).to_be_bytes(), &entry.body].concat();
    let mut text = "```\n".to_owned();
    dump(&mut text, FIXED, &bytes);
    text + "```\n"
}

fn file_key() -> FileKey {
    let mut secret = Secret::zeroed(KEY);
    ENTROPY.fill("file key", 0, &mut secret).expect("no randomness is needed");
    FileKey::from_secret(secret, Preamble::PLAIN).expect("32 bytes")
}

/// Returns the three shares of the file key before they are sealed. Any two of the shares give the file key.
fn split() -> String {
    let split = Split::new(&file_key(), 2, 3, ENTROPY).expect("split");
    let mut coefficient = Secret::zeroed(KEY);
    ENTROPY.fill("coefficient", 1, &mut coefficient).expect("no randomness is needed");
    let mut text = "```\n".to_owned();
    let mut line =
        |name: &str, bytes: &[u8]| writeln!(text, "{name:14}{}", hex::encode(bytes)).expect("a string takes it");
    line("c1", &coefficient);
    split.shares.iter().for_each(|(numbers, share, _)| line(&format!("share {}", numbers.index), share));
    line("key check", &split.key_check);
    split.shares.iter().for_each(|(numbers, _, check)| line(&format!("check {}", numbers.index), check));
    line("group", &split.digest(Preamble::PLAIN));
    text + "```\n"
}

/// Returns the bytes of the hexadecimal dump between the texts `begin` and `end` on the page. If `DEADPAN_BLESS` is
/// set, calls `make` and writes a dump of the returned entry to the page.
fn dumped([begin, end]: [&str; 2], make: impl FnOnce() -> Entry) -> Option<Vec<u8>> {
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let (before, rest) = page.split_once(begin).expect("the example has a place");
    let (shown, after) = rest.split_once(end).expect("the example has an end");
    if std::env::var_os("DEADPAN_BLESS").is_some() {
        let Entry { kind, body } = make();
        let bytes = [&kind.to_be_bytes()[..], &(body.len() as u16).to_be_bytes(), &body].concat();
        let mut text = "```\n".to_owned();
        dump(&mut text, FIXED, &bytes);
        let page = [before, begin, &text, "```\n", end, after].concat();
        std::fs::write(PAGE, page).expect("the page can be written");
        return None;
    }
    let digits: String = shown.lines().filter_map(|line| line.trim().split_once("  ")).map(|(_, hex)| hex).collect();
    Some(hex::decode(digits.as_bytes()).expect("hexadecimal digits"))
}

/// Checks that a private key opens the sealed share on the page, and that the result is the share that the page shows.
#[test]
fn the_page_shows_a_share_that_a_key_opens() {
    let private = PrivateKey::from_seed(Kem::X25519, &[0x42; 32]).expect("a scalar");
    let split = Split::new(&file_key(), 2, 3, ENTROPY).expect("split");
    let digest = split.digest(Preamble::PLAIN);
    let make = || split.seal(0, private.public(), Preamble::PLAIN, &digest).expect("sealed");
    let Some(bytes) = dumped(SHARE, make) else { return };
    let [0xff, 4, 0, 149, body @ ..] = &bytes[..] else { panic!("a share for an X25519 key: {bytes:02x?}") };
    let part = Part::read(body).expect("an entry");
    let opened = part.unwrap(&private, Preamble::PLAIN, &digest).expect("the system works");
    assert!(opened.expect("the key opens it").same(&split.shares[0].1));
    assert_eq!(body[..69], make().body[..69]);
}

/// Returns the example of a header entry that seals the example's file key to an X25519 key.
fn for_a_key() -> String {
    let private = PrivateKey::from_seed(Kem::X25519, &[0x42; 32]).expect("a scalar");
    let file = file_key();
    let entry = Recipient::from(private.public()).wrap(&file, ENTROPY).expect("wrapped").remove(0);
    let opened = crate::format::deadpan::recipient::unwrap_with_key(&private, Preamble::PLAIN, &entry)
        .expect("the system works");
    assert_eq!(opened.expect("the key opens it").bytes(), file.bytes());
    let bytes = [&entry.kind.to_be_bytes()[..], &(entry.body.len() as u16).to_be_bytes(), &entry.body].concat();
    let mut text = "```\n".to_owned();
    dump(&mut text, FIXED, &bytes);
    text + "```\n"
}

#[test]
fn the_page_shows_what_the_program_writes() {
    let examples = [(FILE, example()), (ITEM, in_a_session()), (KEY_ITEM, for_a_key()), (SPLIT, split())];
    for (place, example) in examples {
        check(place, &example);
    }
}

/// Checks that the page shows `example` between the texts `begin` and `end`, or writes `example` between them.
pub(crate) fn check([begin, end]: [&str; 2], example: &str) {
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let (before, rest) = page.split_once(begin).expect("the example has a place");
    let (shown, after) = rest.split_once(end).expect("the example has an end");
    if std::env::var_os("DEADPAN_BLESS").is_some() {
        std::fs::write(PAGE, [before, begin, example, end, after].concat()).expect("the page can be written");
    } else {
        assert!(shown == example, "docs/format-seal.md shows another example; it would be:\n{example}");
    }
}
