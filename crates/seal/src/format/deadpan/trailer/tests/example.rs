//! Makes the trailer of the worked example in docs/format-seal.md again, so that the page and the program always agree.
//!
//! `DEADPAN_BLESS=1 cargo test -p deadpan-seal example -- --test-threads=1` writes the examples again.

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::format::deadpan::trailer::contents;
use crate::format::deadpan::trailer::footer::{FOOTER, Footer};
use crate::format::deadpan::trailer::part::{self, PartCipher};
use crate::format::deadpan::trailer::statement::Statement;
use crate::tests::example::{check, dump};
use crate::{Cost, Kind, Recipient};
use deadpan_base64::hex;

const PLACE: [&str; 2] = ["<!-- signed example -->\n", "<!-- end of signed example -->\n"];

fn example() -> String {
    let metadata = Metadata {
        kind: Kind::File,
        name: Some(b"note.txt".to_vec()),
        modified: Some(UNIX_EPOCH + Duration::new(1_800_000_000, 5)),
        mode: Some(0o644),
    };
    let passphrase = || Passphrase::new(b"correct horse");
    let recipient = Recipient::Passphrase(passphrase(), Cost { memory: 64, passes: 1, lanes: 1 });
    let signer = SigningKey::from_seed(Scheme::Ed25519, &[0x42; 32]).expect("a seed");
    let sealing =
        Sealing::to(vec![recipient]).and_then(|it| it.metadata(metadata)).and_then(|it| it.sign(signer.into()));
    let sealing = sealing.expect("a sealing").hide_length(true).with_entropy(Entropy::Fixed(0));
    let sealed = sealing.seal(b"Nothing about this shows.\n").expect("sealed");

    let opened = Header::read(&sealed[..]).and_then(|it| it.open(&[Identity::Passphrase(passphrase())]));
    let opened = opened.expect("the passphrase");
    opened.check_signatures(Cursor::new(&sealed)).expect("a signed file").expect("signatures");
    let key = opened.expected().expect("a signed file").key.clone();
    let (before, footer) = sealed.split_last_chunk::<FOOTER>().expect("longer");
    let lengths = Footer::open(footer, &key).expect("a footer");
    let (before, sealed_box) = before.split_at(before.len() - lengths.sealed_box);
    let (_, page) = before.split_at(before.len() - lengths.leaf_pages() as usize);
    let open = |label, number, sealed: &[u8]| PartCipher::new(&key, label).and_then(|it| it.open(number, sealed));
    let leaves = open(part::LEAVES, 0, page).expect("a page");
    let inside = open(part::BOX, lengths.segments, sealed_box).expect("a box");
    let contents = contents::TrailerContents::decode(&inside, 1).expect("contents");
    let statement = Statement::decode(&contents.statement).expect("a statement");

    let mut text = "```\n".to_owned();
    let mut line =
        |name: &str, bytes: &[u8]| writeln!(text, "{name:16}{}", hex::encode(bytes)).expect("a string takes it");
    line("leaves key", &key.derive(part::LEAVES).expect("derived"));
    line("box key", &key.derive(part::BOX).expect("derived"));
    line("footer key", &key.derive("deadpan v1 footer").expect("derived"));
    line("leaf 0", &leaves);
    line("page 0", &contents.pages[0]);
    line("root", &statement.root);
    text.push_str("```\n");
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, sealed_box);
    let ends = [&sealed_box[..12], &sealed_box[sealed_box.len() - 16..]].concat();
    for (title, bytes) in [
        ("The statement", &contents.statement[..]),
        ("The signature, an SSHSIG blob", &contents.signatures[0]),
        ("The only leaf page: IV, ciphertext, tag", page),
        ("IV and tag of the box, which has 4124 bytes", &ends),
        ("SHA-256 of the whole box", digest.as_ref()),
        ("The footer", footer),
    ] {
        write!(text, "\n{title}:\n\n```\n").expect("a string takes it");
        dump(&mut text, 0, bytes);
        text.push_str("```\n");
    }
    text
}

#[test]
fn the_page_shows_a_signed_example() {
    check(PLACE, &example());
}
