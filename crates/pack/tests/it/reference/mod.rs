//! A slow and simple writer of packs, written from docs/format-pack.md. From the crate, this writer uses only the types
//! that describe entries.

// Each test program uses only a part of this module.
#![allow(dead_code)]

use deadpan_pack::{Entry, Kind, Time};

/// An entry to write, without its position.
#[derive(Clone, Debug)]
pub struct Item {
    pub path: Vec<u8>,
    pub kind: Kind,
    pub mode: u32,
    pub modified: Time,
    pub size: u64,
    pub stored: u64,
    pub target: Vec<u8>,
}

impl Item {
    pub fn new(path: impl AsRef<[u8]>, kind: Kind) -> Self {
        let (path, target) = (path.as_ref().to_vec(), Vec::new());
        Self { path, kind, mode: 0o644, modified: Time::default(), size: 0, stored: 0, target }
    }

    pub fn folder(path: impl AsRef<[u8]>) -> Self {
        Self { mode: 0o755, ..Self::new(path, Kind::Folder) }
    }

    pub fn file(path: impl AsRef<[u8]>, size: u64) -> Self {
        Self { size, stored: size, ..Self::new(path, Kind::File) }
    }

    pub fn link(path: impl AsRef<[u8]>, kind: Kind, target: impl AsRef<[u8]>) -> Self {
        Self { target: target.as_ref().to_vec(), ..Self::new(path, kind) }
    }

    /// A placeholder for the hash, different for each entry.
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(&self.path).as_bytes()
    }
}

/// A part of the index whose position is not known yet.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The offset of the part in the pack, if the part is in an index block.
    pub place: Option<u64>,
    pub count: u32,
    pub first: Vec<u8>,
    pub bytes: Vec<u8>,
}

/// Returns a pack with the given number of entries in each part. If `inside` is set, complete parts of the index are
/// written into the archive.
pub fn pack(items: &[Item], counts: &[usize], inside: bool) -> (Vec<u8>, Vec<Entry>) {
    let (archive, parts, entries) = archive(items, counts, inside);
    (with_index(archive, &parts), entries)
}

/// Returns an archive, the parts of its index, and its entries.
pub fn archive(items: &[Item], counts: &[usize], inside: bool) -> (Vec<u8>, Vec<Part>, Vec<Entry>) {
    let mut archive = global(b"deadpan pack 1");
    let (mut parts, mut entries) = (Vec::new(), Vec::new());
    let (mut rest, mut turn) = (items, 0);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(counts[turn % counts.len()].min(rest.len()));
        let mut part = Part { count: now.len() as u32, first: now[0].path.clone(), ..Part::default() };
        part.bytes.extend((archive.len() as u64).to_be_bytes());
        part.bytes.extend(part.count.to_be_bytes());
        let mut before = &Item::new("", Kind::Folder);
        for item in now {
            let entry = put(&mut archive, item);
            record(&mut part.bytes, item, before, 0, (entry.content - entry.begin) / 512);
            before = item;
            entries.push(entry);
        }
        if inside && !later.is_empty() {
            let comment = [b"deadpan index ", &part.bytes[..]].concat();
            let block = global(&comment);
            let at = block.windows(14).position(|window| window == b"deadpan index ").unwrap() + 14;
            part.place = Some((archive.len() + at) as u64);
            archive.extend(block);
        }
        parts.push(part);
        (rest, turn) = (later, turn + 1);
    }
    archive.extend([0; 1024]);
    (archive, parts, entries)
}

pub fn with_index(mut pack: Vec<u8>, parts: &[Part]) -> Vec<u8> {
    let mut table = Vec::new();
    for part in parts {
        let offset = part.place.unwrap_or(pack.len() as u64);
        if part.place.is_none() {
            pack.extend(&part.bytes);
        }
        table.extend(offset.to_be_bytes());
        table.extend((part.bytes.len() as u32).to_be_bytes());
        table.extend(part.count.to_be_bytes());
        table.extend(blake3::hash(&part.bytes).as_bytes());
        table.extend((part.first.len() as u16).to_be_bytes());
        table.extend(&part.first);
    }
    with_table(pack, &table, parts.iter().map(|part| u64::from(part.count)).sum(), parts.len() as u32)
}

pub fn with_table(mut pack: Vec<u8>, table: &[u8], entries: u64, parts: u32) -> Vec<u8> {
    let offset = pack.len() as u64;
    pack.extend(table);
    pack.resize((pack.len() + 64).next_multiple_of(10_240) - 64, 0);
    pack.extend(offset.to_be_bytes());
    pack.extend((table.len() as u64).to_be_bytes());
    pack.extend(entries.to_be_bytes());
    pack.extend(parts.to_be_bytes());
    pack.extend([0; 4]);
    pack.extend(&blake3::hash(table).as_bytes()[..24]);
    pack.extend(b"DPNPACK\x01");
    pack
}

/// One record of the index.
pub fn record(bytes: &mut Vec<u8>, item: &Item, before: &Item, gap: u64, headers: u64) {
    bytes.push(match item.kind {
        Kind::File => 1,
        Kind::Folder => 2,
        Kind::SymbolicLink => 3,
        Kind::HardLink => 4,
        _ => 5,
    });
    let shared = item.path.iter().zip(&before.path).take_while(|(one, other)| one == other).count();
    varint(bytes, shared as u64);
    string(bytes, &item.path[shared..]);
    varint(bytes, gap);
    varint(bytes, headers);
    varint(bytes, item.mode.into());
    let difference = item.modified.seconds.wrapping_sub(before.modified.seconds);
    varint(bytes, (difference << 1 ^ difference >> 63) as u64);
    varint(bytes, item.modified.nanoseconds.into());
    match item.kind {
        Kind::Folder => {}
        Kind::SymbolicLink | Kind::HardLink => string(bytes, &item.target),
        kind => {
            varint(bytes, item.size);
            if kind == Kind::Sparse {
                varint(bytes, item.stored);
            }
            bytes.extend(item.hash());
        }
    }
}

pub fn string(bytes: &mut Vec<u8>, string: &[u8]) {
    varint(bytes, string.len() as u64);
    bytes.extend(string);
}

pub fn varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn put(archive: &mut Vec<u8>, item: &Item) -> Entry {
    let begin = archive.len() as u64;
    let below = |path: &[u8]| if path.is_empty() { b"root".to_vec() } else { [b"root/", path].concat() };
    let mut path = below(&item.path);
    let (kind, target) = match item.kind {
        Kind::Folder => {
            path.push(b'/');
            (b'5', Vec::new())
        }
        Kind::SymbolicLink => (b'2', item.target.clone()),
        Kind::HardLink => (b'1', below(&item.target)),
        _ => (b'0', Vec::new()),
    };
    let mut records = Vec::new();
    let mut add = |key: &str, value: &[u8]| records.extend(pax(key, value));
    if path.len() > 100 && item.kind != Kind::Sparse {
        add("path", &path);
    }
    if target.len() > 100 {
        add("linkpath", &target);
    }
    let time = item.modified;
    if time.nanoseconds > 0 {
        add("mtime", format!("{}.{:09}", time.seconds, time.nanoseconds).trim_end_matches('0').as_bytes());
    }
    if item.kind == Kind::Sparse {
        add("GNU.sparse.major", b"1");
        add("GNU.sparse.minor", b"0");
        add("GNU.sparse.name", &path);
        add("GNU.sparse.realsize", item.size.to_string().as_bytes());
    }
    if !records.is_empty() {
        archive.extend(header(b"PaxHeaders/x", b'x', records.len() as u64, 0o644, 0, b""));
        archive.extend(&records);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.extend(header(&path, kind, item.stored, item.mode, time.seconds, &target));
    let content = archive.len() as u64;
    archive.resize((content + item.stored) as usize, b'.');
    archive.resize(archive.len().next_multiple_of(512), 0);
    let (is_file, is_link) =
        (matches!(item.kind, Kind::File | Kind::Sparse), matches!(item.kind, Kind::SymbolicLink | Kind::HardLink));
    Entry {
        path: item.path.clone(),
        kind: item.kind,
        mode: item.mode,
        modified: time,
        size: item.size,
        begin,
        content,
        stored: item.stored,
        hash: is_file.then(|| item.hash()),
        target: is_link.then(|| item.target.clone()),
    }
}

/// A global header with a comment.
fn global(comment: &[u8]) -> Vec<u8> {
    let record = pax("comment", comment);
    let mut bytes = header(b"pax_global_header", b'g', record.len() as u64, 0o644, 0, b"").to_vec();
    bytes.extend(record);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// A record, which begins with its own length.
fn pax(key: &str, value: &[u8]) -> Vec<u8> {
    let rest = [b" ", key.as_bytes(), b"=", value, b"\n"].concat();
    let length = (rest.len()..).find(|length| length.to_string().len() + rest.len() == *length).unwrap();
    [length.to_string().as_bytes(), &rest].concat()
}

fn header(path: &[u8], kind: u8, size: u64, mode: u32, seconds: i64, target: &[u8]) -> [u8; 512] {
    let mut header = [0; 512];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &path[..path.len().min(100)]);
    put(100, format!("{mode:07o}\0").as_bytes());
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    let seconds = if (0..1 << 33).contains(&seconds) { seconds } else { 0 };
    put(136, format!("{seconds:011o}\0").as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(157, &target[..target.len().min(100)]);
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}
