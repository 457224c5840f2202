//! Tests with forged files. A recipient has the file key and can seal other data with this key. The signatures must
//! reveal the change.

use super::*;
use crate::format::deadpan::trailer::contents::TrailerContents as Box;
use crate::format::deadpan::trailer::footer::{FOOTER, Footer};
use crate::format::deadpan::trailer::part::{self, PartCipher};
use crate::format::deadpan::trailer::statement::Statement;
use crate::format::deadpan::trailer::tree::{self, LeafHasher, Tree};

const SEGMENTS: usize = 20;
const FULL: usize = 4064;

type Change<T> = (&'static str, fn(&mut T));

/// The parts of a signed file. Somebody with the file key can change the parts.
struct TrailerParts {
    key: FileKey,
    begin: Vec<u8>,
    message: Message,
    data: Vec<Vec<u8>>,
    leaves: Vec<u8>,
    inside: Box,
}

impl TrailerParts {
    fn from_sealed(sealed: &[u8]) -> Self {
        let (opened, payload) = opened(sealed).expect("the passphrase");
        let key = opened.expected().expect("a signed file").key.clone();
        let begin = sealed.len() - payload.len() + crate::format::deadpan::floe::HEADER;
        let header = &payload[..crate::format::deadpan::floe::HEADER];
        let resume = |key: &[u8; KEY]| Message::resume(key, Preamble::SIGNED.bytes(), header);
        let message = key.message(resume).expect("a message");
        let data = opened.open(payload).expect("opened");
        let footer: &[u8; FOOTER] = sealed.last_chunk().expect("longer");
        let footer = Footer::open(footer, &key).expect("a footer");
        let trailer = sealed.len() - footer.trailer() as usize;
        let sealed_box = &sealed[trailer + footer.leaf_pages() as usize..sealed.len() - FOOTER];
        let inside =
            PartCipher::new(&key, part::BOX).and_then(|it| it.open(footer.segments, sealed_box)).expect("a box");
        let page = &sealed[trailer..trailer + footer.leaf_pages() as usize];
        let leaves = PartCipher::new(&key, part::LEAVES).and_then(|it| it.open(0, page)).expect("a page").to_vec();
        Self {
            begin: sealed[..begin].to_vec(),
            message,
            data: data.chunks(FULL).map(<[u8]>::to_vec).collect(),
            leaves,
            inside: Box::decode(&inside, 1).expect("a box"),
            key,
        }
    }

    /// Seals the parts again.
    fn seal(&self) -> Vec<u8> {
        let mut sealed = self.begin.clone();
        let mut cipher = self.message.cipher();
        for (i, data) in self.data.iter().enumerate() {
            let mut segment = vec![0; data.len() + crate::format::deadpan::floe::OVERHEAD];
            cipher.seal(i as u64, i + 1 == self.data.len(), data, &mut segment).expect("a segment");
            sealed.extend(segment);
        }
        let segments = self.data.len() as u64;
        let cipher = |label| PartCipher::new(&self.key, label).expect("a cipher");
        sealed.extend(cipher(part::LEAVES).seal(0, [1; 12], &self.leaves).expect("a page"));
        let inside = self.inside.encode().expect("a box");
        let sealed_box = cipher(part::BOX).seal(segments, [2; 12], &inside).expect("a box");
        sealed.extend(&sealed_box);
        sealed.extend(Footer { segments, sealed_box: sealed_box.len() }.encode(&self.key).expect("a footer"));
        sealed
    }

    /// Changes the hashes so that they fit the data, up to this level. The levels are the leaves, the page, and the
    /// root in the statement.
    fn rehash(&mut self, level: usize) {
        let leaf = |(i, data): (usize, &Vec<u8>)| LeafHasher::new().leaf(i as u64, data);
        if level >= 1 {
            self.leaves = self.data.iter().enumerate().flat_map(leaf).collect();
        }
        if level >= 2 {
            self.inside.pages = vec![tree::page(0, &self.leaves)];
        }
        if level >= 3 {
            let length = self.data.iter().map(|data| data.len() as u64).sum();
            let tree = Tree { segments: self.data.len() as u64, length, pages: self.inside.pages.clone() };
            self.state(|statement| (statement.root, statement.length) = (tree.root(), length));
        }
    }

    fn state(&mut self, change: impl FnOnce(&mut Statement)) {
        let mut statement = Statement::decode(&self.inside.statement).expect("a statement");
        change(&mut statement);
        self.inside.statement = statement.encode();
    }

    /// Signs the file again. The statement names these signers.
    fn sign(&mut self, signers: &[&Signer]) {
        let hashes = statement::signers(signers.iter().map(|signer| signer.public()));
        self.state(|statement| statement.signers = hashes);
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA512, &self.inside.statement);
        let digest = digest.as_ref().try_into().expect("64 bytes");
        let sign = |it: &&Signer| it.sign(statement::NAMESPACE, digest).expect("signed").encode().to_vec();
        self.inside.signatures = signers.iter().map(sign).collect();
    }
}

fn assert_forged(sealed: &[u8], what: &str) {
    for error in assert_refused(sealed, what) {
        assert!(matches!(error, Error::SignatureForged), "{what}: {error}");
    }
}

fn parts() -> (TrailerParts, Vec<u8>, Signer, VerifyingKey) {
    let (signer, key) = signer();
    let data = sample(SEGMENTS * FULL - 100);
    (TrailerParts::from_sealed(&ForeignTrailer::new().seal(&data, &[&signer])), data, signer, key)
}

#[test]
fn changed_data_show_however_much_is_sealed_again() {
    let (whole, data, _, key) = parts();
    assert_opens(&whole.seal(), &data, &[key], "sealed again as it was");
    for level in 0..=3 {
        for segment in [0, 7, SEGMENTS - 1] {
            let (mut parts, ..) = parts();
            parts.data[segment][50] ^= 1;
            parts.rehash(level);
            assert_forged(&parts.seal(), &format!("segment {segment}, hashed again up to {level}"));
        }
        let changes: [fn(&mut Vec<Vec<u8>>); 5] = [
            |data| data.last_mut().expect("segments").truncate(1000),
            // An additional zero gives the same hash input as the zeros of the padding, so only the length field
            // changes the leaf.
            |data| data.last_mut().expect("segments").push(0),
            |data| data.last_mut().expect("segments").push(1),
            |data| data.swap(3, 4),
            |data| data[5] = data[6].clone(),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let (mut parts, ..) = parts();
            change(&mut parts.data);
            parts.rehash(level);
            assert_forged(&parts.seal(), &format!("change {i}, hashed again up to {level}"));
        }
    }
}

#[test]
fn ranges_of_changed_data_show() {
    let (mut parts, data, ..) = parts();
    parts.data[7][50] ^= 1;
    let sealed = parts.seal();
    let (opened, _) = opened(&sealed).expect("the passphrase");
    let mut reader = opened.seek_in(Cursor::new(&sealed)).expect("the end is right");
    for segment in 0..SEGMENTS as u64 - 1 {
        let mut piece = vec![0; FULL];
        reader.seek(std::io::SeekFrom::Start(segment * FULL as u64)).expect("a place");
        match reader.read_exact(&mut piece) {
            Ok(()) => assert!(segment != 7 && piece == data[segment as usize * FULL..][..FULL], "segment {segment}"),
            Err(error) => {
                assert!(segment == 7 && matches!(library(error), Error::SignatureForged), "segment {segment}");
                assert!(piece.iter().all(|byte| *byte == 0), "data that were not signed");
            }
        }
    }
}

/// A stream may return data before the end, but must then end with an error.
#[test]
fn leaves_pages_and_the_statement_count() {
    let cases: [Change<TrailerParts>; 9] = [
        ("a leaf", |parts| parts.leaves[40] ^= 1),
        ("a leaf and its page", |parts| {
            parts.leaves[40] ^= 1;
            parts.inside.pages = vec![tree::page(0, &parts.leaves)];
        }),
        ("a page", |parts| parts.inside.pages[0][0] ^= 1),
        ("the root", |parts| parts.state(|statement| statement.root[0] ^= 1)),
        ("the length", |parts| parts.state(|statement| statement.length -= 1)),
        ("the time", |parts| parts.state(|statement| statement.time -= 1)),
        ("the metadata", |parts| parts.state(|statement| statement.metadata[0] = 2)),
        ("the signers", |parts| parts.state(|statement| statement.signers[0][0] ^= 1)),
        ("the audience", |parts| {
            parts.state(|statement| statement.audience = Addressees::Named { salt: [0; 32], marks: vec![[0; 32]] });
        }),
    ];
    for (what, change) in cases {
        let (mut parts, ..) = parts();
        change(&mut parts);
        assert_forged(&parts.seal(), what);
    }
}

/// Even if the signature is right, the signed statement must be about this file.
#[test]
fn a_right_signature_of_another_statement_is_refused() {
    let cases: [Change<Statement>; 4] = [
        ("another preamble", |statement| statement.preamble = *Preamble::PLAIN.bytes()),
        ("another root", |statement| statement.root[0] ^= 1),
        ("another length", |statement| statement.length += 1),
        ("other metadata", |statement| statement.metadata[0] = 2),
    ];
    for (what, change) in cases {
        let (mut parts, _, signer, _) = parts();
        parts.state(change);
        parts.sign(&[&signer]);
        assert_forged(&parts.seal(), what);
    }
}

#[test]
fn a_signature_of_another_purpose_or_signer_does_not_do() {
    let (mut parts, data, alice, alice_key) = parts();
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA512, &parts.inside.statement);
    let digest: &[u8; 64] = digest.as_ref().try_into().expect("64 bytes");
    parts.inside.signatures = vec![alice.sign("file", digest).expect("signed").encode().to_vec()];
    assert_refused(&parts.seal(), "another namespace");
    // Everybody who can open a file can sign it again in their own name.
    let (mallory, key) = signer();
    parts.data[7][50] ^= 1;
    parts.rehash(3);
    parts.sign(&[&mallory]);
    let mut forged = data;
    forged[7 * FULL + 50] ^= 1;
    assert_opens(&parts.seal(), &forged, std::slice::from_ref(&key), "signed anew");
    assert_ne!(key, alice_key);
    // All signatures must be right, and nobody may sign twice.
    parts.sign(&[&mallory, &alice]);
    assert_opens(&parts.seal(), &forged, &[key, alice_key], "both signed");
    let last = parts.inside.signatures[1].len() - 1;
    parts.inside.signatures[1][last] ^= 1;
    assert_forged(&parts.seal(), "the second signature is wrong");
    parts.sign(&[&mallory, &mallory]);
    assert_refused(&parts.seal(), "the same signer twice");
}

/// Everybody who can open a file can open its box, remove a signature, and add a right signature.
#[test]
fn a_signature_that_was_removed_or_added_shows() {
    let ((alice, alice_key), (bob, bob_key), (mallory, _)) = (signer(), signer(), signer());
    let data = sample(5000);
    let both = || TrailerParts::from_sealed(&ForeignTrailer::new().seal(&data, &[&alice, &bob]));
    assert_opens(&both().seal(), &data, &[alice_key, bob_key.clone()], "signed by both");
    for removed in 0..2 {
        let mut parts = both();
        parts.inside.signatures.remove(removed);
        assert_forged(&parts.seal(), &format!("without signature {removed}"));
    }
    let mut parts = both();
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA512, &parts.inside.statement);
    let digest: &[u8; 64] = digest.as_ref().try_into().expect("64 bytes");
    let more = mallory.sign(statement::NAMESPACE, digest).expect("signed").encode().to_vec();
    parts.inside.signatures.push(more.clone());
    assert_forged(&parts.seal(), "a third signature");
    parts.inside.signatures.remove(0);
    assert_forged(&parts.seal(), "another one in the place of the first");
    // After a removal, the remaining signers must sign a new statement.
    parts.sign(&[&bob]);
    assert_opens(&parts.seal(), &data, &[bob_key], "signed by one anew");
}

/// The metadata are not part of the payload. A recipient can seal other metadata.
#[test]
fn changed_metadata_show() {
    let (signer, key) = signer();
    let (foreign, data) = (ForeignTrailer::new(), sample(5000));
    let sealed = foreign.seal(&data, &[&signer]);
    let length = Header::read(&sealed[..]).expect("a header").length() as usize;
    let with = |contents: &Contents| {
        let (begin, _) = foreign.begin(contents);
        [&begin[..begin.len() - crate::format::deadpan::floe::HEADER], &sealed[length..]].concat()
    };
    assert_opens(&with(&ForeignTrailer::contents()), &data, &[key], "the same metadata");
    let mut other = ForeignTrailer::contents();
    other.metadata.name = Some(b"b file".to_vec());
    assert_forged(&with(&other), "another name");
}

/// The length of the segments is not signed, so a recipient can choose another length. Even if the segments have
/// another length, the check must distinguish data from the zeros that fill a leaf.
#[test]
fn zeros_do_not_move_from_one_segment_to_another() {
    let (signer, key) = signer();
    let data = [vec![7; FULL], vec![8; 1000], vec![0; 100]].concat();
    let signed = TrailerParts::from_sealed(&ForeignTrailer::new().seal(&data, &[&signer]));
    assert_opens(&signed.seal(), &data, &[key], "as it was");
    for more in [1, 8, 16] {
        let moved = [vec![7; FULL], vec![0; more], vec![8; 1000], vec![0; 100 - more]].concat();
        let longer = ForeignTrailer { segment: 4096 + more as u32, ..ForeignTrailer::new() };
        let TrailerParts { begin, message, .. } = TrailerParts::from_sealed(&longer.seal(&moved, &[&signer]));
        let data = moved.chunks(FULL + more).map(<[u8]>::to_vec).collect();
        let TrailerParts { key, leaves, inside, .. } = TrailerParts::from_sealed(&signed.seal());
        assert_forged(
            &TrailerParts { key, begin, message, data, leaves, inside }.seal(),
            &format!("{more} bytes longer"),
        );
    }
}
