//! Writes signed files part by part, as docs/format-seal.md specifies. Each part of the trailer can have wrong contents
//! although its authentication code is right.

use std::sync::OnceLock;

use super::sealed;
use deadpan_seal::floe::{self, OVERHEAD, Parameters};

/// Signature, version and flags of a signed file.
pub const PREAMBLE: [u8; 10] = *b"\x89DPN\r\n\x1a\n\x01\x01";
/// The number of bytes in a segment.
pub const SEGMENT: usize = 4096;

/// Returns a header, without metadata, that the identity of [`sealed`] opens.
fn header() -> &'static [u8] {
    static HEADER: OnceLock<Vec<u8>> = OnceLock::new();
    HEADER.get_or_init(|| {
        let metadata = seal("deadpan v1 metadata", b"", &[0; 256]);
        sealed::header_after(&PREAMBLE, &[(0x20, sealed::body(&PREAMBLE))], &metadata, &[], 0, 0)
    })
}

fn seal(label: &str, about: &[u8], plain: &[u8]) -> Vec<u8> {
    sealed::seal(&PREAMBLE, label, about, plain)
}

/// Returns the hash tree over the segments: the leaves, the hash of the only page of leaves, and the root.
#[must_use]
pub fn hashes(data: &[u8]) -> (Vec<u8>, [u8; 32], [u8; 32]) {
    let hash = |context, parts: &[&[u8]]| blake3::derive_key(context, &parts.concat());
    let pieces: Vec<&[u8]> = if data.is_empty() { vec![&[]] } else { data.chunks(SEGMENT - OVERHEAD).collect() };
    let leaf = |(i, piece): (usize, &&[u8])| {
        let zeros = vec![0; (16 + piece.len()).next_multiple_of(1024) - 16 - piece.len()];
        let fields = [i as u64, piece.len() as u64].map(u64::to_be_bytes);
        hash("deadpan v1 signed segment", &[fields.as_flattened(), piece, &zeros])
    };
    let leaves: Vec<u8> = pieces.iter().enumerate().flat_map(leaf).collect();
    let page = hash("deadpan v1 signed page", &[&[0; 8], &leaves]);
    let numbers = [(pieces.len() as u64).to_be_bytes(), (data.len() as u64).to_be_bytes()].concat();
    let root = hash("deadpan v1 signed tree", &[&numbers, &page]);
    (leaves, page, root)
}

/// Makes a file. The signature box of the file contains `contents`, and its only page of hashes contains `leaves`.
/// `lie` is added to the number of segments in the footer.
#[must_use]
pub fn file(data: &[u8], leaves: &[u8], contents: &[u8], lie: u64) -> Vec<u8> {
    let parameters = Parameters::with_segment(SEGMENT as u32).expect("room for data");
    let mut file = header().to_vec();
    file.extend(
        floe::seal(parameters, &sealed::derive(&PREAMBLE, "deadpan v1 payload"), &PREAMBLE, data).expect("sealed"),
    );
    let segments = (data.len().div_ceil(SEGMENT - OVERHEAD).max(1) as u64).wrapping_add(lie);
    file.extend(seal("deadpan v1 leaves", &[0; 8], leaves));
    let sealed_box = seal("deadpan v1 signatures", &segments.to_be_bytes(), contents);
    let mut footer = segments.to_be_bytes().to_vec();
    footer.extend((sealed_box.len() as u32).to_be_bytes());
    footer.extend(sealed::code(&PREAMBLE, "deadpan v1 footer", &footer));
    file.extend(sealed_box);
    file.extend(footer);
    file
}
