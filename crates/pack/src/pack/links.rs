//! Files that have other names: which they are, and the path under which each was packed.
//!
//! The other names of a file may lie outside of the folder, where they are never met, so this may hold as many files as there are. A record is
//! a few bytes long: a path has much in common with the one before, and the number of a file is mostly near to that of the one before. Records
//! have no places of their own; a table of their numbers finds them.

use crate::index::varint::{put, put_signed, signed, take};
use crate::path;
use std::hash::{BuildHasher, RandomState};

/// Records in a block. The first stands for itself, each other says how it differs from the one before; whoever looks for one reads half a block.
const IN_BLOCK: u32 = 32;

/// Places in the smallest table.
const SMALLEST: usize = 64;

/// A place in the table that holds nothing. No number has all bits set: there are fewer of them than places.
const FREE: u32 = u32::MAX;

/// Records that a table of 32-bit numbers has room for.
const MOST: u32 = 3 << 30;

/// The first names of files that have several.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Devices, which records name by their places here.
    devices: Vec<u64>,
    /// Whole blocks.
    blocks: Vec<Box<[u8]>>,
    /// The block that is being filled, and the record that was added last.
    open: Vec<u8>,
    last: Record,
    /// How many records there are.
    count: u32,
    table: Table,
}

impl Links {
    /// The path under which a file came first; nothing if it comes for the first time, and then it is remembered.
    pub(super) fn first(&mut self, device: u64, inode: u64, path: &[u8]) -> Option<Vec<u8>> {
        let key = Key { device: self.device(device), inode };
        let found = self.table.candidates(&key).map(|number| self.record(number)).find(|record| record.key == key);
        if let Some(record) = found {
            return Some(record.path);
        }
        // Later names of a file that was not remembered become files of their own.
        if self.count < MOST {
            self.add(key, path);
        }
        None
    }

    /// A short number in place of a device's. A tree spans few of them.
    fn device(&mut self, device: u64) -> u64 {
        let known = self.devices.iter().position(|known| *known == device);
        known.unwrap_or_else(|| {
            self.devices.push(device);
            self.devices.len() - 1
        }) as u64
    }

    fn add(&mut self, key: Key, path: &[u8]) {
        if self.count.is_multiple_of(IN_BLOCK) && self.count > 0 {
            self.blocks.push(self.open.as_slice().into());
            self.open.clear();
            self.last = Record::default();
        }
        self.last.follow(key, path, &mut self.open);
        self.count += 1;
        if self.table.has_room_for(self.count) {
            self.table.add(&key, self.count - 1);
        } else {
            self.grow();
        }
    }

    fn record(&self, number: u32) -> Record {
        let mut rest = self.blocks.get((number / IN_BLOCK) as usize).map_or(&self.open[..], |block| block);
        let mut record = Record::default();
        for _ in 0..=number % IN_BLOCK {
            record.next(&mut rest);
        }
        record
    }

    /// Makes the table larger. What it holds stands in the records, so the old one goes first.
    fn grow(&mut self) {
        self.table.clear();
        let mut number = 0;
        for mut rest in self.blocks.iter().map(|block| &block[..]).chain([&self.open[..]]) {
            let mut record = Record::default();
            while record.next(&mut rest).is_some() {
                self.table.add(&record.key, number);
                number += 1;
            }
        }
    }
}

/// What tells a file from all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    device: u64,
    inode: u64,
}

/// A file and its path.
#[derive(Debug, Default)]
struct Record {
    key: Key,
    path: Vec<u8>,
}

impl Record {
    /// Becomes the record after itself, and says in `out` how they differ.
    fn follow(&mut self, key: Key, path: &[u8], out: &mut Vec<u8>) {
        let shared = path::shared(path, &self.path);
        put(out, key.device);
        put_signed(out, key.inode.wrapping_sub(self.key.inode) as i64);
        put(out, shared as u64);
        put(out, (path.len() - shared) as u64);
        out.extend_from_slice(&path[shared..]);
        self.key = key;
        self.path.truncate(shared);
        self.path.extend_from_slice(&path[shared..]);
    }

    /// Becomes the record after itself, as `rest` says; nothing at its end.
    fn next(&mut self, rest: &mut &[u8]) -> Option<()> {
        self.key.device = take(rest)?;
        self.key.inode = self.key.inode.wrapping_add_signed(signed(take(rest)?));
        self.path.truncate(take(rest)? as usize);
        let length = take(rest)? as usize;
        self.path.extend_from_slice(rest.split_off(..length)?);
        Some(())
    }
}

/// Numbers of records, each at a place that its key's hash says, or at the next one that was free. More of the hash stands in the bits that the
/// numbers leave, so that the records of other keys are hardly ever read.
#[derive(Debug, Default)]
struct Table {
    /// As many as a power of two, or none.
    places: Vec<u32>,
    /// Secret, so that nobody can make files that all want one place.
    secret: RandomState,
}

impl Table {
    /// Whether so many fit. At most three quarters of the places are taken: searches become long beyond.
    fn has_room_for(&self, count: u32) -> bool {
        count as usize <= self.places.len() / 4 * 3
    }

    /// Doubles the places, and frees all of them.
    fn clear(&mut self) {
        let places = (2 * self.places.len()).max(SMALLEST);
        self.places = Vec::new();
        self.places = vec![FREE; places];
    }

    /// The bits of a place that are its number.
    fn numbers(&self) -> u32 {
        self.places.len().wrapping_sub(1) as u32
    }

    /// The places where a hash looks, in that order.
    fn places(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let places = self.places.len();
        (0..places).map(move |step| (hash as usize).wrapping_add(step) & (places - 1))
    }

    /// What else a place says of a hash.
    fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & !self.numbers()
    }

    /// Numbers of records that may have this key.
    fn candidates(&self, key: &Key) -> impl Iterator<Item = u32> {
        let hash = self.secret.hash_one(key);
        let taken = self.places(hash).map(|place| self.places[place]).take_while(|it| *it != FREE);
        let (tag, numbers) = (self.tag(hash), self.numbers());
        taken.filter(move |it| it & !numbers == tag).map(move |it| it & numbers)
    }

    fn add(&mut self, key: &Key, number: u32) {
        let hash = self.secret.hash_one(key);
        let free = self.places(hash).find(|place| self.places[*place] == FREE);
        let content = number | self.tag(hash);
        free.into_iter().for_each(|place| self.places[place] = content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Numbers that repeat now and then, some close together and some anywhere.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }

        fn inode(&mut self) -> u64 {
            match self.below(4) {
                0 => self.below(100),
                1 => u64::MAX - self.below(100),
                2 => (1 << 63) + self.below(3),
                _ => 1_000_000 + self.below(20_000),
            }
        }

        fn path(&mut self) -> Vec<u8> {
            let letters = b"ab/\0\xff";
            (0..self.below(12)).map(|_| letters[self.below(5) as usize]).collect()
        }
    }

    #[test]
    fn finds_what_a_plain_map_finds() {
        for seed in 0..20 {
            let mut random = Random(seed);
            let (mut links, mut plain) = (Links::default(), HashMap::new());
            for turn in 0..[0, 1, 31, 32, 33, 64, 65, 5000][seed as usize % 8] {
                let key = (random.below(3) * (u64::MAX / 2), random.inode());
                let path = random.path();
                let expected = plain.get(&key).cloned();
                assert_eq!(links.first(key.0, key.1, &path), expected, "seed {seed}, turn {turn}");
                plain.entry(key).or_insert(path);
            }
            for ((device, inode), path) in &plain {
                assert_eq!(links.first(*device, *inode, b"another").as_ref(), Some(path));
            }
            assert_eq!(links.count as usize, plain.len());
        }
    }

    /// A million files cost some 20 MB, of the 64 MiB that packing may use.
    #[test]
    fn a_file_costs_few_bytes() {
        let mut links = Links::default();
        let files = 100_000;
        for number in 0..files {
            let path = format!("folder-{:03}/file-{:03}.txt", number / 1000, number % 1000);
            // As far apart as in a folder that is read in the order of its names.
            assert_eq!(links.first(1, number * 7919 % files, path.as_bytes()), None);
        }
        let blocks: usize = links.blocks.iter().map(|block| block.len() + size_of::<Box<[u8]>>() + 16).sum();
        let bytes = links.open.capacity() + blocks + links.table.places.capacity() * size_of::<u32>();
        assert!(bytes < 24 * files as usize, "{bytes} bytes for {files} files");
    }
}
