//! Collects the leaves of segments that are sealed or opened in any order, and replaces each complete page by its hash.
//!
//! To save memory, the leaves of a page are kept only while the page is incomplete. Workers take segments in order, in
//! batches that are shorter than a page, so at most two pages for each worker are incomplete at a time.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::tree::{self, HASH, Hash, LEAVES, LeafHasher, Tree};
use crate::Error;
use deadpan_ct::Wiped;

/// A complete page: the number of the page, and its leaves.
pub(crate) type Page = (u64, Wiped<Vec<u8>>);

pub(crate) struct Leaves {
    hasher: LeafHasher,
    state: Mutex<LeavesState>,
}

#[derive(Default)]
struct LeavesState {
    incomplete: BTreeMap<u64, Incomplete>,
    /// The hashes of the complete pages.
    hashes: BTreeMap<u64, Hash>,
    /// The number of segments, and the number of bytes in the segments.
    segments: u64,
    length: u64,
}

struct Incomplete {
    leaves: Wiped<Vec<u8>>,
    count: u64,
}

impl Leaves {
    pub(crate) fn new() -> Self {
        Self { hasher: LeafHasher::new(), state: Mutex::default() }
    }

    pub(crate) fn hasher(&self) -> &LeafHasher {
        &self.hasher
    }

    /// Adds the leaf of a segment. Must be called once for each segment. If this leaf completes a full page, returns
    /// the page. The caller must then pass the hash of the page to [`Leaves::completed`].
    pub(crate) fn add(&self, segment: u64, leaf: &Hash, length: usize) -> Option<Page> {
        let number = segment / LEAVES;
        let mut state = self.state.lock();
        state.segments += 1;
        state.length += length as u64;
        // The buffer has its full size from the start: memory that grows leaves copies of its contents behind.
        let room = || Wiped::new(Vec::with_capacity(LEAVES as usize * HASH));
        let page = state.incomplete.entry(number).or_insert_with(|| Incomplete { leaves: room(), count: 0 });
        let at = (segment % LEAVES) as usize * HASH;
        if page.leaves.len() < at + HASH {
            page.leaves.resize(at + HASH, 0);
        }
        page.leaves[at..at + HASH].copy_from_slice(leaf);
        page.count += 1;
        if page.count < LEAVES {
            return None;
        }
        state.incomplete.remove(&number).map(|page| (number, page.leaves))
    }

    /// Adds the hash of a complete page.
    pub(crate) fn completed(&self, page: u64, hash: Hash) {
        self.state.lock().hashes.insert(page, hash);
    }

    /// Returns the last page and the tree above all pages. If the last page is full, [`Leaves::add`] has already
    /// returned it, so this method returns no page. Removes all leaves and hashes that were added.
    ///
    /// # Errors
    /// If a segment is missing.
    pub(crate) fn finish(&self) -> Result<(Option<Page>, Tree), Error> {
        let missing = || Error::System("a segment has no hash");
        let state = std::mem::take(&mut *self.state.lock());
        let LeavesState { mut incomplete, mut hashes, segments, length } = state;
        let last = incomplete.pop_last().map(|(number, page)| (number, page.leaves));
        if let Some((number, leaves)) = &last {
            if leaves.len() != tree::leaves_in(*number, segments) * HASH {
                return Err(missing());
            }
            hashes.insert(*number, tree::page(*number, leaves));
        }
        let complete = hashes.keys().copied().eq(0..tree::pages(segments));
        if segments == 0 || !incomplete.is_empty() || !complete {
            return Err(missing());
        }
        Ok((last, Tree { segments, length, pages: hashes.into_values().collect() }))
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.state.lock().incomplete.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(segment: u64) -> Hash {
        LeafHasher::new().leaf(segment, b"")
    }

    /// Adds all leaves in this order. Returns the tree, and the maximum number of pages that were kept.
    fn collect(order: impl Iterator<Item = u64>) -> Result<(Tree, usize), Error> {
        let (leaves, mut most) = (Leaves::new(), 0);
        for segment in order {
            if let Some((number, page)) = leaves.add(segment, &leaf(segment), 3) {
                assert_eq!(page.len() as u64, LEAVES * HASH as u64);
                leaves.completed(number, tree::page(number, &page));
            }
            most = most.max(leaves.kept());
        }
        leaves.finish().map(|(_, tree)| (tree, most))
    }

    #[test]
    fn the_tree_does_not_depend_on_the_order() {
        for count in [1, 2, LEAVES - 1, LEAVES, LEAVES + 1, 2 * LEAVES, 2 * LEAVES + 1] {
            let all: Vec<u8> = (0..count).flat_map(leaf).collect();
            let chunks = all.chunks(LEAVES as usize * HASH).enumerate();
            let pages = chunks.map(|(number, leaves)| tree::page(number as u64, leaves)).collect();
            let wanted = Tree { segments: count, length: 3 * count, pages };
            assert_eq!(collect(0..count).expect("complete").0, wanted, "{count}");
            assert_eq!(collect((0..count).rev()).expect("complete").0, wanted, "{count}, from the end");
            let swapped = collect((0..count.div_ceil(2)).flat_map(|i| [2 * i + 1, 2 * i]).filter(|i| *i < count));
            assert_eq!(swapped.expect("complete").0, wanted, "{count}, in pairs");
        }
    }

    #[test]
    fn a_missing_segment_shows() {
        for count in [2, LEAVES, LEAVES + 1, 2 * LEAVES + 1] {
            for missing in [0, (count - 1) / 2, count - 2] {
                let result = collect((0..count).filter(|segment| *segment != missing));
                assert!(matches!(result, Err(Error::System(_))), "{missing} of {count}");
            }
        }
        assert!(collect(0..0).is_err());
    }

    /// 100 GiB have 409 651 segments. Eight workers take batches of 128 segments, and the slowest worker is one batch
    /// late.
    #[test]
    fn few_pages_are_kept_of_a_long_file() {
        let count = (100_u64 << 30).div_ceil((256 << 10) - 32);
        let batches: Vec<u64> = (0..count.div_ceil(128)).collect();
        let order =
            batches.chunks(8).flat_map(|at_once| (0..128).flat_map(|i| at_once.iter().map(move |b| b * 128 + i)));
        let (tree, most) = collect(order.filter(|segment| *segment < count)).expect("complete");
        assert_eq!((tree.segments, tree.pages.len()), (count, 51));
        assert!(most <= 16, "{most} pages of 256 KiB are kept");
    }
}
