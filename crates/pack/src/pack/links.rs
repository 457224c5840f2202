//! Finds hard links: returns the path under which the same file was packed before.
//!
//! Every file with a link count above one gets a record here, even if its other names are outside of the packed folder.
//! There can be millions of files with several names. To save memory, a record stores only the difference of its path
//! and inode number from the preceding record, and a hash table stores only the numbers of records.

use std::hash::{BuildHasher, RandomState};

use crate::index::varint::{put, put_signed, signed, take};
use crate::path;

/// The number of records in a block. The first record of a block is stored completely; each other record is stored as
/// the difference from the preceding record. On average, a lookup decodes half of a block.
const IN_BLOCK: u32 = 32;

/// The minimum number of slots in a hash table.
const SMALLEST: usize = 64;

/// The content of an empty slot. This value is never the number of a record, because a table always has more slots than
/// records.
const FREE: u32 = u32::MAX;

/// The maximum number of records, because the table stores 32-bit numbers.
const MOST: u32 = 3 << 30;

#[derive(Debug, Default)]
pub(super) struct Links {
    /// The numbers of devices. The device numbers; a record stores an index into this list.
    devices: Vec<u64>,
    /// The complete blocks.
    blocks: Vec<Box<[u8]>>,
    /// The last block.
    open: Vec<u8>,
    /// The record that was added last.
    last: LinkRecord,
    /// The number of records.
    count: u32,
    table: LinkTable,
}

impl Links {
    /// Returns the first path under which a file was packed. If the file is new, records `path` and returns `None`.
    pub(super) fn first(&mut self, device: u64, inode: u64, path: &[u8]) -> Option<Vec<u8>> {
        let key = InodeKey { device: self.device(device), inode };
        let found = self.table.candidates(&key).map(|number| self.record(number)).find(|record| record.key == key);
        if let Some(record) = found {
            return Some(record.path);
        }
        // If the maximum number of records is reached, later names of the file are packed as separate files.
        if self.count < MOST {
            self.add(key, path);
        }
        None
    }

    /// Returns a device's index. A tree spans few devices, so the indexes are small numbers.
    fn device(&mut self, device: u64) -> u64 {
        let known = self.devices.iter().position(|known| *known == device);
        known.unwrap_or_else(|| {
            self.devices.push(device);
            self.devices.len() - 1
        }) as u64
    }

    fn add(&mut self, key: InodeKey, path: &[u8]) {
        if self.count.is_multiple_of(IN_BLOCK) && self.count > 0 {
            self.blocks.push(self.open.as_slice().into());
            self.open.clear();
            self.last = LinkRecord::default();
        }
        self.last.follow(key, path, &mut self.open);
        self.count += 1;
        if self.table.has_room_for(self.count) {
            self.table.add(&key, self.count - 1);
        } else {
            self.grow();
        }
    }

    fn record(&self, number: u32) -> LinkRecord {
        let mut rest = self.blocks.get((number / IN_BLOCK) as usize).map_or(&self.open[..], |block| block);
        let mut record = LinkRecord::default();
        for _ in 0..=number % IN_BLOCK {
            record.next(&mut rest);
        }
        record
    }

    /// The old table is emptied first: its keys are not lost, because the records contain all keys.
    fn grow(&mut self) {
        self.table.clear();
        let mut number = 0;
        for mut rest in self.blocks.iter().map(|block| &block[..]).chain([&self.open[..]]) {
            let mut record = LinkRecord::default();
            while record.next(&mut rest).is_some() {
                self.table.add(&record.key, number);
                number += 1;
            }
        }
    }
}

/// The identity of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct InodeKey {
    device: u64,
    inode: u64,
}

/// A file and its path.
#[derive(Debug, Default)]
struct LinkRecord {
    key: InodeKey,
    path: Vec<u8>,
}

impl LinkRecord {
    /// Turns this record into the record for `key` and `path`, and writes the difference to `out`.
    fn follow(&mut self, key: InodeKey, path: &[u8], out: &mut Vec<u8>) {
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

    /// Changes this record to the next record, by the difference that is stored at the beginning of `rest`. Returns
    /// `None` at the end.
    fn next(&mut self, rest: &mut &[u8]) -> Option<()> {
        self.key.device = take(rest).ok()?;
        self.key.inode = self.key.inode.wrapping_add_signed(signed(take(rest).ok()?));
        self.path.truncate(take(rest).ok()? as usize);
        let length = take(rest).ok()? as usize;
        self.path.extend_from_slice(rest.split_off(..length)?);
        Some(())
    }
}

/// A hash table with linear probing. The low bits of a slot contain the number of a record. The other bits contain a
/// part of the hash of the record's key, so that a lookup seldom decodes a record with another key.
#[derive(Debug, Default)]
struct LinkTable {
    /// The slots. The number of slots is a power of two, or 0.
    slots: Vec<u32>,
    /// The hash key is random, so that an attacker cannot choose files that all hash to the same slot.
    secret: RandomState,
}

impl LinkTable {
    /// Whether the table has room for `count` records. At most three quarters of the slots are used, because probing is
    /// slow in a fuller table.
    fn has_room_for(&self, count: u32) -> bool {
        count as usize <= self.slots.len() / 4 * 3
    }

    /// Doubles the number of slots, and empties them.
    fn clear(&mut self) {
        let slots = (2 * self.slots.len()).max(SMALLEST);
        self.slots = Vec::new();
        self.slots = vec![FREE; slots];
    }

    /// Returns a mask for the bits of a slot that contain a record's number.
    fn numbers(&self) -> u32 {
        self.slots.len().wrapping_sub(1) as u32
    }

    /// Returns the slots for a hash in the order of the lookup.
    fn slots(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let slots = self.slots.len();
        (0..slots).map(move |step| (hash as usize).wrapping_add(step) & (slots - 1))
    }

    /// Returns the part of a hash that is stored in a slot together with the number.
    fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & !self.numbers()
    }

    /// Returns the numbers of records that may have this key.
    fn candidates(&self, key: &InodeKey) -> impl Iterator<Item = u32> {
        let hash = self.secret.hash_one(key);
        let taken = self.slots(hash).map(|slot| self.slots[slot]).take_while(|it| *it != FREE);
        let (tag, numbers) = (self.tag(hash), self.numbers());
        taken.filter(move |it| it & !numbers == tag).map(move |it| it & numbers)
    }

    fn add(&mut self, key: &InodeKey, number: u32) {
        let hash = self.secret.hash_one(key);
        let free = self.slots(hash).find(|slot| self.slots[*slot] == FREE);
        let content = number | self.tag(hash);
        free.into_iter().for_each(|slot| self.slots[slot] = content);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Makes random paths and random inode numbers, some of which are equal or close together.
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
    fn finds_the_same_paths_as_a_plain_map() {
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

    /// The records of a million files take about 20 MB, and packing may use 64 MiB.
    #[test]
    fn a_record_uses_few_bytes() {
        let mut links = Links::default();
        let files = 100_000;
        for number in 0..files {
            let path = format!("folder-{:03}/file-{:03}.txt", number / 1000, number % 1000);
            // The inode numbers are in an irregular order, as in a real folder whose files are read in the order of
            // their names.
            assert_eq!(links.first(1, number * 7919 % files, path.as_bytes()), None);
        }
        let blocks: usize = links.blocks.iter().map(|block| block.len() + size_of::<Box<[u8]>>() + 16).sum();
        let bytes = links.open.capacity() + blocks + links.table.slots.capacity() * size_of::<u32>();
        assert!(bytes < 24 * files as usize, "{bytes} bytes for {files} files");
    }
}
