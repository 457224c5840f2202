//! Entries that are unfinished or have no index record yet, in the order of the archive.
//!
//! In a pack, an entry and its index record can be some hundred thousand entries apart. To save memory, the queue keeps
//! only the part of each path that differs from the previous path.

use std::collections::VecDeque;

use crate::path::shared;

/// The maximum length of the records that a correct writer keeps back before it writes an index block: finished parts,
/// the unfinished part, and one record.
const MOST_WAITING: u64 = (4 << 20) + (128 << 10) + (256 << 10);

/// If an index block should already have come, the reader accepts at most this many further bytes of headers. A writer
/// hashes files on several threads, and is at most 16 MiB ahead of the slowest thread.
const MOST_LATE: u64 = 32 << 20;

/// The length of a record without its path, hash and target.
const SHORTEST_RECORD: usize = 8;

/// An entry.
#[derive(Debug)]
pub(super) struct Item {
    /// The number of bytes at the beginning of the path that are the same as in the previous path.
    shared: u16,
    /// The rest of the path.
    rest: Box<[u8]>,
    /// The minimum length of the entry's record in the index, in bytes.
    record: u32,
    /// A hash of the entry's properties in the headers.
    pub(super) facts: [u8; 16],
    pub(super) hash: Hash,
    /// Whether the entry was made. `None` while the entry is unfinished.
    pub(super) done: Option<bool>,
    /// The entry is not selected.
    pub(super) passed: bool,
    /// Whether the index contradicts the entry. If so, the entry is removed when it is finished.
    pub(super) wrong: bool,
}

/// The hash of an entry's content. The hash is computed from the content or read from the index, whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Unknown,
    /// The hash of the written content.
    Found([u8; 32]),
    /// The hash that the index states.
    Expected([u8; 32]),
}

/// The entries.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The number of the first item.
    first: u64,
    items: VecDeque<Item>,
    /// The path of the entry that was removed last; `last` is the path of the entry that was added last.
    before: Vec<u8>,
    last: Vec<u8>,
    /// The number of path bytes that were stored since the last path was stored in full.
    since: usize,
    /// The minimum length of all records that are still missing in the index, in bytes.
    waiting: u64,
    /// How many bytes of headers were added since `waiting` exceeded its limit.
    late: u64,
}

impl Queue {
    /// Adds an entry with `headers` bytes of headers. `stored` is the length of the entry's record in the index,
    /// without the path.
    pub(super) fn push(&mut self, path: &[u8], facts: [u8; 16], stored: usize, headers: u64) -> u64 {
        let mut common = shared(path, &self.last);
        self.since += path.len() - common;
        // If the partial paths since the last full path would have at least as many bytes as this whole path, this path
        // is stored in full.
        if self.since >= path.len() || common > u16::MAX.into() {
            (common, self.since) = (0, 0);
        }
        let rest = &path[common..];
        let record = SHORTEST_RECORD + path.len() - shared(path, &self.last) + stored;
        self.waiting += record as u64;
        if self.waiting > MOST_WAITING {
            self.late += headers;
        }
        self.items.push_back(Item {
            shared: common as u16,
            rest: rest.into(),
            record: record as u32,
            facts,
            hash: Hash::Unknown,
            done: None,
            passed: false,
            wrong: false,
        });
        self.last.truncate(common);
        self.last.extend_from_slice(rest);
        self.end() - 1
    }

    /// Whether the archive should have contained an index block long ago.
    pub(super) fn is_late(&self) -> bool {
        self.late > MOST_LATE
    }

    /// Records that the index contains a record for this entry.
    pub(super) fn named(&mut self, number: u64) {
        let record = self.get(number).map_or(0, |item| u64::from(item.record));
        self.waiting -= record;
        if self.waiting <= MOST_WAITING {
            self.late = 0;
        }
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn end(&self) -> u64 {
        self.first + self.items.len() as u64
    }

    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok().filter(|place| *place < self.items.len())
    }

    pub(super) fn get(&self, number: u64) -> Option<&Item> {
        self.items.get(self.place(number)?)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Item> {
        let place = self.place(number)?;
        self.items.get_mut(place)
    }

    pub(super) fn path(&self, number: u64) -> Option<Vec<u8>> {
        let place = self.place(number)?;
        let full = self.items.range(..=place).rposition(|item| item.shared == 0);
        let mut path = if full.is_some() { Vec::new() } else { self.before.clone() };
        for item in self.items.range(full.unwrap_or(0)..=place) {
            path.truncate(item.shared.into());
            path.extend_from_slice(&item.rest);
        }
        Some(path)
    }

    /// Removes the first entry. After this call, [`Queue::before`] returns the path of the removed entry.
    pub(super) fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.before.truncate(item.shared.into());
        self.before.extend_from_slice(&item.rest);
        self.first += 1;
        Some(item)
    }

    /// Returns the path of the entry that was removed last.
    pub(super) fn before(&self) -> &[u8] {
        &self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_as_they_went_in() {
        let long = "x".repeat(65_535);
        let mut paths: Vec<String> =
            ["", "a", "a/b", "a/b/c", "a/b/d", "b", "b", &long, &long[1..], "z"].map(String::from).into();
        paths.extend((0..2000).map(|number| format!("folder/with/some/depth/{:03}/{number}", number / 100)));
        for popped in [0, 1, 5, 9, 500, 2000] {
            let mut queue = Queue::default();
            for (number, path) in paths.iter().enumerate() {
                assert_eq!(queue.push(path.as_bytes(), [0; 16], 0, 512), number as u64);
            }
            for path in &paths[..popped] {
                queue.pop().unwrap();
                assert_eq!(queue.before(), path.as_bytes());
            }
            for (number, path) in paths.iter().enumerate() {
                let expected = (number >= popped).then(|| path.as_bytes().to_vec());
                assert_eq!(queue.path(number as u64), expected, "{number} after {popped}");
            }
        }
    }

    /// If paths begin with the same long text, the queue stores this text only once, not for each entry.
    #[test]
    fn what_paths_share_is_kept_once() {
        let mut queue = Queue::default();
        let folder = "d/".repeat(1000);
        for number in 0..100_000 {
            queue.push(format!("{folder}{number:06}").as_bytes(), [0; 16], 33, 512);
        }
        let bytes: usize = queue.items.iter().map(|item| item.rest.len()).sum();
        assert!(bytes < 100_000 * 20, "{bytes}");
    }
}
