//! Writes signed files part by part, as docs/format-seal.md says. Each part of the trailer can be wrong while it opens.

use std::sync::OnceLock;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, hmac};

use super::sealed::identity;
use deadpan_seal::floe::{self, OVERHEAD, Parameters};
use deadpan_seal::hpke;

/// Signature, version and flags of a signed file.
pub const PREAMBLE: [u8; 10] = *b"\x89DPN\r\n\x1a\n\x01\x01";
/// Bytes in a segment.
pub const SEGMENT: usize = 4096;
const FILE_KEY: [u8; 32] = [7; 32];

fn derive(label: &str) -> [u8; 32] {
    let mut key = [0; 32];
    let extracted = hkdf::Salt::new(hkdf::HKDF_SHA256, &PREAMBLE).extract(&FILE_KEY);
    let label = [label.as_bytes()];
    let expanded = extracted.expand(&label, hkdf::HKDF_SHA256).expect("a short key");
    expanded.fill(&mut key).expect("as long as the hash");
    key
}

fn seal(label: &str, about: &[u8], plain: &[u8]) -> Vec<u8> {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &derive(label)).expect("a key"));
    let nonce = [3; 12];
    let (mut sealed, aad) = (plain.to_vec(), Aad::from([&PREAMBLE[..], about].concat()));
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed).expect("sealed");
    [&nonce[..], &sealed].concat()
}

fn code(label: &str, bytes: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &derive(label)), bytes).as_ref().to_vec()
}

/// The header, for the identity of [`super::sealed`] and without metadata.
fn header() -> &'static [u8] {
    static HEADER: OnceLock<Vec<u8>> = OnceLock::new();
    HEADER.get_or_init(|| {
        let info = [&b"deadpan v1 recipient"[..], &PREAMBLE].concat();
        let (enc, sealed) = hpke::seal(identity().public(), &info, b"", &FILE_KEY).expect("a recipient");
        let body = [enc, sealed].concat();
        let metadata = seal("deadpan v1 metadata", b"", &[0; 256]);
        let length = 10 + 4 + 2 + 4 + body.len() + 4 + metadata.len() + 32;
        let mut header = PREAMBLE.to_vec();
        header.extend((length as u32).to_be_bytes());
        header.extend(1_u16.to_be_bytes());
        header.extend(0x20_u16.to_be_bytes());
        header.extend((body.len() as u16).to_be_bytes());
        header.extend(body);
        header.extend((metadata.len() as u32).to_be_bytes());
        header.extend(metadata);
        header.extend(code("deadpan v1 header", &header.clone()));
        header
    })
}

/// The hashes of the data in segments: the leaves, the one page, and the root.
#[must_use]
pub fn hashes(data: &[u8]) -> (Vec<u8>, [u8; 32], [u8; 32]) {
    let hash = |context, parts: &[&[u8]]| blake3::derive_key(context, &parts.concat());
    let pieces: Vec<&[u8]> = if data.is_empty() { vec![&[]] } else { data.chunks(SEGMENT - OVERHEAD).collect() };
    let leaf = |(i, piece): (usize, &&[u8])| hash("deadpan v1 signed segment", &[&(i as u64).to_be_bytes(), piece]);
    let leaves: Vec<u8> = pieces.iter().enumerate().flat_map(leaf).collect();
    let page = hash("deadpan v1 signed page", &[&[0; 8], &leaves]);
    let numbers = [(pieces.len() as u64).to_be_bytes(), (data.len() as u64).to_be_bytes()].concat();
    let root = hash("deadpan v1 signed tree", &[&numbers, &page]);
    (leaves, page, root)
}

/// A file whose box has these contents and whose only page has these leaves. The footer's number of segments is wrong
/// by `lie`.
#[must_use]
pub fn file(data: &[u8], leaves: &[u8], contents: &[u8], lie: u64) -> Vec<u8> {
    let parameters = Parameters::with_segment(SEGMENT as u32).expect("room for data");
    let mut file = header().to_vec();
    file.extend(floe::seal(parameters, &derive("deadpan v1 payload"), &PREAMBLE, data).expect("sealed"));
    let segments = (data.len().div_ceil(SEGMENT - OVERHEAD).max(1) as u64).wrapping_add(lie);
    file.extend(seal("deadpan v1 leaves", &[0; 8], leaves));
    let sealed = seal("deadpan v1 signatures", &segments.to_be_bytes(), contents);
    let mut footer = segments.to_be_bytes().to_vec();
    footer.extend((sealed.len() as u32).to_be_bytes());
    footer.extend(code("deadpan v1 footer", &footer.clone()));
    file.extend(sealed);
    file.extend(footer);
    file
}
