//! Builds packs byte by byte, according to docs/format-pack.md.

use super::{file, folder, hard_link, header, pax, symlink};

/// An entry: its blocks in the archive, and its fields in the index.
#[derive(Clone)]
pub struct Entry {
    /// The entry's blocks in the archive.
    pub blocks: Vec<u8>,
    pub kind: u8,
    pub path: String,
    pub headers: u64,
    pub mode: u64,
    pub seconds: i64,
    pub nanoseconds: u64,
    /// The content, or a link's target.
    pub content: Vec<u8>,
    /// The size of a file with holes.
    pub size: Option<u64>,
    /// The length of the content according to the index, if the index states a wrong length.
    pub stored: Option<u64>,
}

fn entry(kind: u8, path: &str, blocks: Vec<u8>, content: &[u8]) -> Entry {
    let mode = if kind == 2 { 0o755 } else { 0o644 };
    let (path, content) = (path.to_string(), content.to_vec());
    let (seconds, size, stored) = (1_000_000_000, None, None);
    Entry { blocks, kind, path, headers: 1, mode, seconds, nanoseconds: 0, content, size, stored }
}

fn rooted(path: &str) -> String {
    format!("root/{path}")
}

pub fn root() -> Entry {
    entry(2, "", folder("root/"), b"")
}

pub fn a_folder(path: &str) -> Entry {
    entry(2, path, folder(&format!("root/{path}/")), b"")
}

/// An entry whose path is long in the index, although the archive contains a folder with a short path.
pub fn a_far_folder(path: &str) -> Entry {
    Entry { path: path.into(), ..a_folder("x") }
}

pub fn a_file(path: &str, content: &[u8]) -> Entry {
    entry(1, path, file(&rooted(path), content), content)
}

pub fn a_link(path: &str, target: &str) -> Entry {
    entry(3, path, symlink(&rooted(path), target), target.as_bytes())
}

pub fn a_hard_link(path: &str, target: &str) -> Entry {
    entry(4, path, hard_link(&rooted(path), &rooted(target)), target.as_bytes())
}

/// A file with nanoseconds in its time, which needs a pax header.
pub fn a_fine_file(path: &str, content: &[u8]) -> Entry {
    let blocks = [pax(b'x', &[("mtime", b"-5.25")]), file(&rooted(path), content)].concat();
    Entry { blocks, headers: 3, seconds: -6, nanoseconds: 750_000_000, ..a_file(path, content) }
}

/// A file with one hole, and one piece of data at the end.
pub fn a_file_with_holes(path: &str, size: u64, piece: &[u8]) -> Entry {
    let mut content = format!("1\n{}\n{}\n", size - piece.len() as u64, piece.len()).into_bytes();
    content.resize(512, 0);
    content.extend_from_slice(piece);
    let (name, real_size) = (rooted(path), size.to_string());
    let records: &[(&str, &[u8])] = &[
        ("GNU.sparse.major", b"1"),
        ("GNU.sparse.minor", b"0"),
        ("GNU.sparse.name", name.as_bytes()),
        ("GNU.sparse.realsize", real_size.as_bytes()),
    ];
    let blocks = [pax(b'x', records), file("GNUSparseFile.0/x", &content)].concat();
    Entry { headers: 3, size: Some(size), ..entry(5, path, blocks, &content) }
}

pub fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A pack under construction.
pub struct Pack {
    pub bytes: Vec<u8>,
    /// The records of the index part that is not written yet; `begin` is the offset of the first entry of this part.
    part: Vec<u8>,
    begin: u64,
    count: u32,
    first: String,
    before: (String, i64, u64),
    table: Vec<u8>,
    parts: u32,
    entries: u64,
}

impl Pack {
    pub fn new() -> Self {
        let bytes = pax(b'g', &[("comment", b"deadpan pack 1")]);
        let (part, table, first, before) = (Vec::new(), Vec::new(), String::new(), (String::new(), 0, 0));
        Self { bytes, part, begin: 0, count: 0, first, before, table, parts: 0, entries: 0 }
    }

    /// Adds `entry` to the archive, and adds the fields of `indexed` to the index.
    pub fn add_as(&mut self, entry: &Entry, indexed: &Entry) {
        let begin = self.bytes.len() as u64;
        if self.count == 0 {
            (self.begin, self.first, self.before) = (begin, indexed.path.clone(), (String::new(), 0, begin));
        }
        let (path, seconds, end) = &self.before;
        let shared = path.bytes().zip(indexed.path.bytes()).take_while(|(one, other)| one == other).count();
        let more = &indexed.path.as_bytes()[shared..];
        let difference = indexed.seconds - seconds;
        let mut record = vec![indexed.kind];
        let zigzag = (difference << 1 ^ difference >> 63) as u64;
        for number in [shared as u64, more.len() as u64] {
            record.extend(varint(number));
        }
        record.extend(more);
        for number in [(begin - end) / 512, indexed.headers, indexed.mode, zigzag, indexed.nanoseconds] {
            record.extend(varint(number));
        }
        let length = varint(indexed.stored.unwrap_or(indexed.content.len() as u64));
        match indexed.kind {
            1 | 5 => {
                record.extend(indexed.size.map(varint).unwrap_or_default());
                record.extend(length);
                record.extend(blake3::hash(&indexed.content).as_bytes());
            }
            3 | 4 => {
                record.extend(length);
                record.extend(&indexed.content);
            }
            _ => {}
        }
        self.part.extend(record);
        self.bytes.extend(&entry.blocks);
        self.before = (indexed.path.clone(), indexed.seconds, self.bytes.len() as u64);
        (self.count, self.entries) = (self.count + 1, self.entries + 1);
    }

    pub fn add(mut self, entry: &Entry) -> Self {
        self.add_as(entry, entry);
        self
    }

    fn take_part(&mut self, place: u64) -> Vec<u8> {
        let part = [&self.begin.to_be_bytes()[..], &self.count.to_be_bytes(), &std::mem::take(&mut self.part)].concat();
        self.table.extend(place.to_be_bytes());
        self.table.extend((part.len() as u32).to_be_bytes());
        self.table.extend(self.count.to_be_bytes());
        self.table.extend(blake3::hash(&part).as_bytes());
        self.table.extend((self.first.len() as u16).to_be_bytes());
        self.table.extend(self.first.as_bytes());
        (self.count, self.parts) = (0, self.parts + 1);
        part
    }

    /// Writes the index of the entries so far into the archive.
    pub fn block(mut self) -> Self {
        let digits = |part: &[u8]| (part.len() + "comment=deadpan index ".len() + 5).to_string().len();
        let at = self.bytes.len() as u64 + 512;
        let length = self.part.len() + 12;
        let place = at + digits(&vec![0; length]) as u64 + " comment=deadpan index ".len() as u64;
        let part = self.take_part(place);
        let comment = [b"deadpan index ", &part[..]].concat();
        self.bytes.extend(pax(b'g', &[("comment", &comment)]));
        assert!(self.bytes[place as usize..].starts_with(&part));
        self
    }

    pub fn end(mut self) -> Vec<u8> {
        self.bytes.extend([0; 1024]);
        if self.count > 0 {
            let part = self.take_part(self.bytes.len() as u64);
            self.bytes.extend(part);
        }
        let offset = self.bytes.len() as u64;
        self.bytes.extend(&self.table);
        self.bytes.resize((self.bytes.len() + 64).next_multiple_of(10_240) - 64, 0);
        self.bytes.extend(offset.to_be_bytes());
        self.bytes.extend((self.table.len() as u64).to_be_bytes());
        self.bytes.extend(self.entries.to_be_bytes());
        self.bytes.extend(self.parts.to_be_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(&blake3::hash(&self.table).as_bytes()[..24]);
        self.bytes.extend(b"DPNPACK\x01");
        self.bytes
    }
}

/// A device, which a pack must not contain.
pub fn a_device(path: &str) -> Entry {
    entry(1, path, header(rooted(path).as_bytes(), b'3', 0, b"").to_vec(), b"")
}
