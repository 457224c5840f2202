//! The trailer of a signed file, whose sealed parts have valid authentication codes. For any contents of these parts,
//! opening never panics, all ways of opening agree, and opening succeeds only with a valid signature.
//!
//! The first byte of the input determines the test. After the first byte, the input contains the changes and then the
//! length of the data. If the test uses wrong contents for the signature box, these contents are at the end of the
//! input.
#![no_main]

use std::io::Cursor;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

use deadpan_fuzz::reference::{sealed, signed};
use deadpan_fuzz::{Input, change};
use deadpan_seal::sign::{Scheme, Signer, SigningKey};
use deadpan_seal::{Header, Identity, Signatures, Work};

const STEP: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let how = input.byte();
    let mut changes = Input(input.0.get(..16).unwrap_or_default());
    input.0 = input.0.get(16..).unwrap_or_default();
    let length = input.place() % 9000;
    let plain: Vec<u8> = (0..length).map(|i| i as u8 ^ how).collect();
    let (mut leaves, page, root) = signed::hashes(&plain);
    let mut contents = page.to_vec();
    let is_right = how & 1 == 0;
    if is_right {
        let statement = statement(&root, length as u64, &key());
        contents.extend((statement.len() as u32).to_be_bytes());
        contents.extend(&statement);
        contents.push(1);
        let signature = signature(&statement);
        contents.extend((signature.len() as u16).to_be_bytes());
        contents.extend(signature);
        pad(&mut contents);
    } else {
        contents.extend(input.bytes());
        if how & 2 == 0 {
            pad(&mut contents);
        }
    }
    let (right, right_leaves) = (contents.clone(), leaves.clone());
    if how & 4 != 0 {
        change(&mut changes, &mut contents, 0, 32);
    }
    if how & 8 != 0 {
        change(&mut changes, &mut leaves, 0, 32);
    }
    let lie = if how & 16 == 0 { 0 } else { changes.place() as u64 };
    let file = signed::file(&plain, &leaves, &contents, lie);
    let opens = is_right && right == contents && right_leaves == leaves && lie == 0;
    for (way, (found, signatures)) in ways(&file).into_iter().enumerate() {
        assert_eq!(signatures.is_some(), opens, "way {way}");
        assert!(!opens || found == plain, "way {way}");
    }
});

fn pad(contents: &mut Vec<u8>) {
    contents.resize(contents.len().next_multiple_of(STEP), 0);
}

fn statement(root: &[u8; 32], length: u64, signer: &SigningKey) -> Vec<u8> {
    let mut statement = vec![2];
    statement.extend(signed::PREAMBLE);
    // Metadata of three bytes: their kind is bytes in memory, and they have no padding and no fields.
    statement.extend([0, 3, 0, 0, 0]);
    statement.extend(root);
    statement.extend(length.to_be_bytes());
    statement.extend(1_800_000_000_u64.to_be_bytes());
    statement.push(1);
    statement.extend(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &signer.public().to_ssh()).as_ref());
    statement.push(0);
    statement
}

fn key() -> SigningKey {
    static KEY: OnceLock<SigningKey> = OnceLock::new();
    KEY.get_or_init(|| SigningKey::from_seed(Scheme::Ed25519, &[5; 32]).expect("a seed")).clone()
}

fn signature(statement: &[u8]) -> Vec<u8> {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA512, statement);
    let digest = digest.as_ref().try_into().expect("SHA-512 has 64 bytes");
    Signer::from(key()).sign("deadpan-v1", digest).expect("signed").encode().to_vec()
}

/// Opens the file in all ways. Returns the data, and the signatures if opening succeeded.
fn ways(file: &[u8]) -> [(Vec<u8>, Option<Signatures>); 3] {
    let mut payload = file;
    let identity = [Identity::Key(sealed::identity().clone())];
    let opened = Header::read(&mut payload).expect("a header").open(&identity).expect("the key");
    let mut bytes = vec![0; file.len()];
    let done = opened.open_into(&file, file.len() as u64, &mut bytes, &Work::default());
    assert!(done.is_ok() || bytes.iter().all(|byte| *byte == 0), "what a failure leaves");
    bytes.truncate(done.as_ref().map_or(0, |done| done.plain as usize));
    let in_memory = done.ok().and_then(|done| done.signatures);
    assert_eq!(opened.open(payload).ok(), in_memory.is_some().then(|| bytes.clone()));
    let mut streamed = Vec::new();
    let work = Work { threads: 1, ..Work::default() };
    let stream = opened.open_stream(payload, &mut streamed, &work).ok().and_then(|done| done.signatures);
    let mut sought = Vec::new();
    let seek = opened.seek_in(Cursor::new(file)).ok().and_then(|mut reader| {
        std::io::copy(&mut reader, &mut sought).ok()?;
        reader.signatures().cloned()
    });
    [(bytes, in_memory), (streamed, stream), (sought, seek)]
}
