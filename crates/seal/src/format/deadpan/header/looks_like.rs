//! Recognizes the kind of a file that is not a sealed file. The first bytes of the file decide. The error message can
//! then name the kind.

use crate::LooksLike;

const FORMATS: &[(&[u8], &str)] = &[
    (b"\x1f\x8b\x08", "a gzip file"),
    (b"PK\x03\x04", "a zip file"),
    (b"PK\x05\x06", "an empty zip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"LUKS\xba\xbe", "a LUKS volume"),
    (b"%PDF-", "a PDF file"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\x7fELF", "a program"),
];

/// Returns the kind of a file that does not begin with the signature of a sealed file. The first 16 bytes decide.
pub(super) fn looks_like(start: &[u8]) -> LooksLike {
    let begins = |with: &[u8]| start.starts_with(with);
    if start.is_empty() {
        LooksLike::Empty
    } else if begins(b"-----BEGIN AGE E") {
        LooksLike::Age
    } else if begins(b"-----BEGIN DEADP") {
        LooksLike::Armor
    } else if begins(b"-----BEGIN PGP") || is_openpgp(start) {
        LooksLike::OpenPgp
    } else if begins(b"-----BEGIN") {
        LooksLike::Pem
    } else if begins(b"Salted__") {
        LooksLike::OpenSsl
    } else if begins(&[0x89, b'D', b'P', b'N']) {
        LooksLike::ChangedLineEnds
    } else if let Some((_, name)) = FORMATS.iter().find(|(bytes, _)| begins(bytes)) {
        LooksLike::Format(name)
    } else if [&b"<!doctype html"[..], b"<html"].iter().any(|tag| begins_in_any_case(start, tag)) {
        LooksLike::Html
    } else if begins(b"RIFF") && start.get(8..12) == Some(b"WEBP") {
        LooksLike::WebP
    } else if begins(b"\x89PNG\r\n\x1a\n") {
        LooksLike::Png
    } else {
        LooksLike::Unknown
    }
}

/// Returns whether these bytes begin with a tag, whose letters may be large or small.
fn begins_in_any_case(start: &[u8], tag: &[u8]) -> bool {
    start.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
}

/// Returns whether these bytes look like the beginning of a binary OpenPGP file. The first packet of such a file
/// contains a session key that is encrypted for a public key or a passphrase. If there is no session key, the first
/// packet contains encrypted, compressed or padded data (RFC 9580, sections 4.2 and 5). About one in 500 other files
/// passes this check by chance.
fn is_openpgp(start: &[u8]) -> bool {
    let Some((&first, rest)) = start.split_first() else { return false };
    let (tag, length) = match first {
        0xc0.. => match rest.first() {
            Some(192..=223) => (first & 0x3f, 2),
            Some(255) => (first & 0x3f, 5),
            _ => (first & 0x3f, 1),
        },
        0x80.. => (first >> 2 & 0x0f, [1, 2, 4, 0][usize::from(first & 3)]),
        _ => return false,
    };
    // The byte after the packet's length is the version of the packet or, for compressed data, the number of the
    // compression algorithm.
    match (tag, rest.get(length)) {
        (1, Some(3 | 6)) | (3, Some(4..=6)) | (18, Some(1 | 2)) => true,
        // If compressed data have no length field, the number of their compression algorithm is from 0 to 3. Compressed
        // data with a length field are not recognized, because many other files begin in the same way.
        (8, Some(0..=3)) => length == 0,
        _ => false,
    }
}
