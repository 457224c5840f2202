//! Builds archives byte by byte, including hostile ones.
#![allow(dead_code)] // Each file of tests uses some of it.

pub mod pack;

/// A header with a correct checksum.
pub fn header(path: &[u8], kind: u8, size: u64, target: &[u8]) -> [u8; 512] {
    let mut block = [0; 512];
    block[..path.len()].copy_from_slice(path);
    block[100..108].copy_from_slice(if kind == b'5' { b"0000755\0" } else { b"0000644\0" });
    block[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    block[136..148].copy_from_slice(format!("{:011o}\0", 1_000_000_000).as_bytes());
    block[156] = kind;
    block[157..157 + target.len()].copy_from_slice(target);
    block[257..265].copy_from_slice(b"ustar\x0000");
    sum(block)
}

pub fn sum(mut block: [u8; 512]) -> [u8; 512] {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

fn filled(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

pub fn file(path: &str, content: &[u8]) -> Vec<u8> {
    filled([&header(path.as_bytes(), b'0', content.len() as u64, b"")[..], content].concat())
}

pub fn folder(path: &str) -> Vec<u8> {
    header(path.as_bytes(), b'5', 0, b"").to_vec()
}

pub fn symlink(path: &str, target: &str) -> Vec<u8> {
    header(path.as_bytes(), b'2', 0, target.as_bytes()).to_vec()
}

pub fn hard_link(path: &str, target: &str) -> Vec<u8> {
    header(path.as_bytes(), b'1', 0, target.as_bytes()).to_vec()
}

pub fn pax(kind: u8, records: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in records {
        let bare = key.len() + value.len() + 3;
        let length = (bare..).find(|length| bare + length.to_string().len() == *length).unwrap();
        bytes.extend_from_slice(format!("{length} {key}=").as_bytes());
        bytes.extend_from_slice(value);
        bytes.push(b'\n');
    }
    filled([&header(b"pax", kind, bytes.len() as u64, b"")[..], &bytes].concat())
}

/// The two blocks of zeros at the end.
pub fn end() -> Vec<u8> {
    vec![0; 1024]
}

pub fn ended(parts: &[Vec<u8>]) -> Vec<u8> {
    [parts.concat(), end()].concat()
}
