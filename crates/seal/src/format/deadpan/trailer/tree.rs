//! The hash tree over the data of a file. The levels of the tree are segments, pages of segments, and the root, which
//! is signed.
//!
//! The leaves are hashed when segments are sealed or opened, so the data are in the processor's cache.

use blake3::Hasher;

use deadpan_ct::Wiped;

/// The number of bytes in a hash.
pub(crate) const HASH: usize = 32;
/// The number of leaves in each page. Only the last page may have fewer leaves.
pub(crate) const LEAVES: u64 = 8192;

const SEGMENT: &str = "deadpan v1 signed segment";
const PAGE: &str = "deadpan v1 signed page";
const TREE: &str = "deadpan v1 signed tree";

pub(crate) type Hash = [u8; HASH];

/// The number of bytes in a chunk of BLAKE3. A leaf is the hash of whole chunks. If the input ended with a part of a
/// chunk, BLAKE3 would hash the last sixteen chunks in small steps and need a third more time.
const CHUNK: usize = 1 << 10;
/// The number of bytes that BLAKE3 hashes in one step on the fastest processors, if it gets these bytes in one call.
const LANES: usize = 16 * CHUNK;

/// The number of bytes before the data in the input of a leaf's hash. These bytes contain the number of the segment and
/// the length of its data.
const FIELDS: usize = 16;

/// Hashes segments to leaves.
#[derive(Clone)]
pub(crate) struct LeafHasher(Hasher);

impl LeafHasher {
    pub(crate) fn new() -> Self {
        Self(Hasher::new_derive_key(SEGMENT))
    }

    /// Returns the leaf of a segment: the hash of its number, the length of its data, the data, and zeros up to a
    /// multiple of [`CHUNK`]. May leak: the length.
    ///
    /// The length distinguishes data from zeros. It is not enough to sign only the total length of the data: somebody
    /// with the file key can seal the same data in longer or shorter segments. Zeros could then move from one segment
    /// to another.
    pub(crate) fn leaf(&self, segment: u64, data: &[u8]) -> Hash {
        let mut hasher = self.0.clone();
        let (start, rest) = data.split_at(data.len().min(LANES - FIELDS));
        // The middle of the data is hashed without a copy. The start and the end of the data are copied, because the
        // fields or zeros are hashed together with them.
        let (middle, end) = rest.split_at(rest.len() / LANES * LANES);
        let mut edge = Wiped::new([0; LANES]);
        edge[..8].copy_from_slice(&segment.to_be_bytes());
        edge[8..FIELDS].copy_from_slice(&(data.len() as u64).to_be_bytes());
        let length = FIELDS + start.len();
        edge[FIELDS..length].copy_from_slice(start);
        hasher.update(&edge[..length.next_multiple_of(CHUNK)]).update(middle);
        let length = end.len().next_multiple_of(CHUNK);
        edge[..end.len()].copy_from_slice(end);
        edge[end.len()..length].fill(0);
        hasher.update(&edge[..length]).finalize().into()
    }
}

pub(crate) fn page(number: u64, leaves: &[u8]) -> Hash {
    Hasher::new_derive_key(PAGE).update(&number.to_be_bytes()).update(leaves).finalize().into()
}

pub(crate) const fn pages(segments: u64) -> u64 {
    segments.div_ceil(LEAVES)
}

pub(crate) const fn leaves_in(page: u64, segments: u64) -> usize {
    let rest = segments.saturating_sub(page * LEAVES);
    (if rest < LEAVES { rest } else { LEAVES }) as usize
}

/// The upper part of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) segments: u64,
    /// The number of bytes of data in all segments, including padding.
    pub(crate) length: u64,
    pub(crate) pages: Vec<Hash>,
}

impl Tree {
    pub(crate) fn root(&self) -> Hash {
        let mut hasher = Hasher::new_derive_key(TREE);
        hasher.update(&self.segments.to_be_bytes()).update(&self.length.to_be_bytes());
        hasher.update(self.pages.as_flattened());
        hasher.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_all_leaves() {
        for (segments, wanted) in [(1, 1), (8191, 1), (8192, 1), (8193, 2), (16384, 2), (16385, 3)] {
            assert_eq!(pages(segments), wanted);
            let leaves: u64 = (0..wanted).map(|page| leaves_in(page, segments) as u64).sum();
            assert_eq!((leaves, leaves_in(wanted, segments)), (segments, 0));
        }
    }

    /// The hash of a node of the tree depends on the purpose of the node and on every number in the node.
    #[test]
    fn no_two_parts_have_the_same_hash() {
        let leaf = |segment, data: &[u8]| LeafHasher::new().leaf(segment, data);
        let tree = |segments, length, pages: &[Hash]| Tree { segments, length, pages: pages.to_vec() }.root();
        let some = leaf(0, b"");
        let all = [
            some,
            leaf(1, b""),
            leaf(0, b"\0"),
            leaf(0, b"\0\0"),
            page(0, b""),
            page(1, b""),
            page(0, &some),
            tree(0, 0, &[]),
            tree(0, 1, &[]),
            tree(1, 0, &[]),
            tree(1, 0, &[some]),
            tree(1, 0, &[some, some]),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(!all[..i].contains(one), "{i}");
        }
    }

    #[test]
    fn a_leaf_is_the_hash_of_number_length_data_and_zeros() {
        let data: Vec<u8> = (0..70_000_u32).map(|i| (i % 251) as u8).collect();
        let ends = [0, CHUNK, LANES, 2 * LANES, 4 * LANES].map(|end: usize| end.saturating_sub(20)..end + 20);
        for length in ends.into_iter().flatten().chain([65_504, data.len()]) {
            let mut whole = [&7_u64.to_be_bytes()[..], &(length as u64).to_be_bytes(), &data[..length]].concat();
            whole.resize(whole.len().next_multiple_of(CHUNK), 0);
            assert_eq!(LeafHasher::new().leaf(7, &data[..length]), blake3::derive_key(SEGMENT, &whole), "{length}");
        }
    }
}
