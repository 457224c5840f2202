//! Computes the BLAKE3 hash of a content; several threads may add pieces of the content in any order.
//!
//! BLAKE3 is a binary tree over chunks of 1024 bytes. Each piece is divided into the largest subtrees that it fully
//! contains, and these subtrees are hashed before the lock is taken. As soon as two sibling subtrees are hashed, they
//! are merged. If a piece contains only a part of a chunk, this part is stored until the rest of the chunk is added.

use std::collections::HashMap;

use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use blake3::{CHUNK_LEN, Hasher};
use parking_lot::Mutex;

const CHUNK: u64 = CHUNK_LEN as u64;

/// Hashes a content of known length, one piece at a time.
#[derive(Debug)]
pub(crate) struct Tree {
    length: u64,
    state: Mutex<TreeState>,
}

#[derive(Debug, Default)]
struct TreeState {
    /// The number of bytes that were added.
    seen: u64,
    /// Hashed subtrees whose sibling is not hashed yet, by level and index in the level.
    nodes: HashMap<(u32, u64), ChainingValue>,
    /// Chunks of which only some bytes were added, by the index of the chunk.
    edges: HashMap<u64, Edge>,
}

/// An incomplete chunk.
#[derive(Debug)]
struct Edge {
    bytes: Box<[u8; CHUNK_LEN]>,
    filled: usize,
}

impl Tree {
    pub(crate) fn new(length: u64) -> Self {
        Self { length, state: Mutex::default() }
    }

    fn chunks(&self) -> u64 {
        self.length.div_ceil(CHUNK)
    }

    /// Adds a piece. Each byte must be added exactly once. Returns the hash when the last byte is added.
    pub(crate) fn add(&self, offset: u64, bytes: &[u8]) -> Option<[u8; 32]> {
        let total = bytes.len() as u64;
        let to_boundary = (offset.next_multiple_of(CHUNK) - offset).min(total) as usize;
        let (head, mut body) = bytes.split_at(to_boundary);
        let mut position = offset + to_boundary as u64;
        let mut nodes = Vec::new();
        while body.len() >= CHUNK_LEN && self.chunks() > 1 {
            let level = self.level(position, body.len() as u64);
            let (subtree, rest) = body.split_at((CHUNK << level) as usize);
            nodes.push(((level, (position / CHUNK) >> level), subtree_of(subtree, position)));
            position += CHUNK << level;
            body = rest;
        }
        let mut state = self.state.lock();
        for (key, node) in nodes {
            self.insert(&mut state, key, node);
        }
        self.edge(&mut state, offset, head);
        // The remaining bytes are either a part of one chunk, or the only chunk of the content.
        self.edge(&mut state, position, body);
        state.seen += total;
        (state.seen == self.length).then(|| self.root(&state))
    }

    /// Returns the level of the largest subtree that begins at `position`, has at most `bytes` bytes, and is not the
    /// root.
    fn level(&self, position: u64, bytes: u64) -> u32 {
        let chunk = position / CHUNK;
        let fits = (bytes / CHUNK).ilog2();
        let aligned = if chunk == 0 { fits } else { chunk.trailing_zeros() };
        let below_root = (self.chunks() - 1).ilog2();
        fits.min(aligned).min(below_root)
    }

    /// Adds a part of a chunk.
    fn edge(&self, state: &mut TreeState, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let (chunk, begin) = (offset / CHUNK, (offset % CHUNK) as usize);
        let whole = CHUNK.min(self.length - chunk * CHUNK) as usize;
        let edge = state.edges.entry(chunk).or_insert_with(|| Edge { bytes: Box::new([0; CHUNK_LEN]), filled: 0 });
        edge.bytes[begin..begin + bytes.len()].copy_from_slice(bytes);
        edge.filled += bytes.len();
        if edge.filled == whole && self.chunks() > 1 {
            let node = subtree_of(&edge.bytes[..whole], chunk * CHUNK);
            state.edges.remove(&chunk);
            self.insert(state, (0, chunk), node);
        }
    }

    /// Adds a subtree. If the sibling of the subtree is already hashed, merges the two subtrees. Then continues with
    /// the merged subtree and its sibling, and so on up to the level below the root.
    fn insert(&self, state: &mut TreeState, (mut level, mut index): (u32, u64), mut node: ChainingValue) {
        // A parent is complete if its last chunk exists. A parent is not the root if the content has chunks outside of
        // this parent.
        while (index / 2 + 1) << (level + 1) <= self.chunks() && 1 << (level + 1) < self.chunks() {
            let Some(sibling) = state.nodes.remove(&(level, index ^ 1)) else { break };
            let (left, right) = if index.is_multiple_of(2) { (&node, &sibling) } else { (&sibling, &node) };
            node = merge_subtrees_non_root(left, right, Mode::Hash);
            (level, index) = (level + 1, index / 2);
        }
        state.nodes.insert((level, index), node);
    }

    /// Merges the remaining subtrees into the root. Starts with the last subtree, which is the smallest subtree.
    fn root(&self, state: &TreeState) -> [u8; 32] {
        let chunks = self.chunks();
        if chunks <= 1 {
            let bytes = state.edges.get(&0).map_or(&[][..], |edge| &edge.bytes[..self.length as usize]);
            return blake3::hash(bytes).into();
        }
        let mut keys = Vec::new();
        let mut begin = 0;
        while begin < chunks {
            let level = (chunks - begin).ilog2().min((chunks - 1).ilog2());
            keys.push((level, begin >> level));
            begin += 1 << level;
        }
        let node = |key: &(u32, u64)| state.nodes.get(key).copied().unwrap_or_default();
        let mut right = keys.last().map(node).unwrap_or_default();
        for (number, key) in keys.iter().enumerate().rev().skip(1) {
            if number == 0 {
                return merge_subtrees_root(&node(key), &right, Mode::Hash).into();
            }
            right = merge_subtrees_non_root(&node(key), &right, Mode::Hash);
        }
        right
    }
}

fn subtree_of(bytes: &[u8], offset: u64) -> ChainingValue {
    let mut hasher = Hasher::new();
    hasher.set_input_offset(offset);
    hasher.update(bytes).finalize_non_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds pieces of these lengths (repeated as needed) in an order that depends on `seed`.
    fn in_pieces(bytes: &[u8], lengths: &[usize], mut seed: u64) -> [u8; 32] {
        let tree = Tree::new(bytes.len() as u64);
        let mut pieces = Vec::new();
        let (mut begin, mut turn) = (0, 0);
        while begin < bytes.len() {
            let end = (begin + lengths[turn % lengths.len()]).min(bytes.len());
            pieces.push(begin..end);
            (begin, turn) = (end, turn + 1);
        }
        for last in (1..pieces.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            pieces.swap(last, (seed >> 33) as usize % (last + 1));
        }
        let hashes: Vec<_> =
            pieces.iter().filter_map(|piece| tree.add(piece.start as u64, &bytes[piece.clone()])).collect();
        assert_eq!(hashes.len(), 1, "only the last piece returns the hash");
        hashes[0]
    }

    #[test]
    fn pieces_in_any_order_hash_like_the_whole() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let around = |n: usize| [n.saturating_sub(1), n, n + 1];
        let lengths = [1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 100, 256].map(|chunks| around(chunks * CHUNK_LEN));
        for length in lengths.into_iter().flatten().chain([1, 2, 500]) {
            let bytes = &bytes[..length];
            let whole = *blake3::hash(bytes).as_bytes();
            for pieces in [&[1024][..], &[length], &[1000, 3], &[1, 1023, 1025], &[16_384], &[5000, 131, 40_000]] {
                for seed in 0..3 {
                    assert_eq!(
                        in_pieces(bytes, pieces, seed),
                        whole,
                        "{length} bytes in pieces of {pieces:?}, order {seed}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_empty_content_has_the_hash_of_no_bytes() {
        assert_eq!(Tree::new(0).add(0, &[]), Some(*blake3::hash(&[]).as_bytes()));
    }
}
