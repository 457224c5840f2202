//! Prefix codes of deflate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of symbols for literals, the end of a block, and lengths.
pub(crate) const SYMBOLS: usize = 286;
/// The maximum length of a code. Five codes of this length and 7 further bits fit into a 64-bit word, and a lookup
/// table for all codes fits into the fastest cache of a core.
pub(crate) const LONGEST: u8 = 11;

/// A code: its bits in the order of the stream, and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) bits: u16,
    pub(crate) length: u8,
}

/// Returns the lengths of the codes for symbols with these counts.
pub(super) fn lengths(counts: &[u32; SYMBOLS]) -> [u8; SYMBOLS] {
    let mut counts = *counts;
    loop {
        let lengths = optimal(&counts);
        if lengths.iter().all(|&length| length <= LONGEST) {
            return lengths;
        }
        // The new counts are more similar, so the tree is flatter. If all counts were 1, the codes would have at most 9
        // bits.
        counts.iter_mut().filter(|count| **count > 0).for_each(|count| *count = (*count / 2) | 1);
    }
}

/// Returns the lengths of Huffman's codes, without a limit for the length.
fn optimal(counts: &[u32; SYMBOLS]) -> [u8; SYMBOLS] {
    let mut parents = [0_u16; 2 * SYMBOLS];
    let used = (0_u16..).zip(counts).filter(|(_, count)| **count > 0);
    let mut heap: BinaryHeap<_> = used.map(|(node, &count)| Reverse((u64::from(count), node))).collect();
    let mut next = SYMBOLS as u16;
    while let (Some(Reverse(first)), Some(Reverse(second))) = (heap.pop(), heap.pop()) {
        for node in [first.1, second.1] {
            parents[usize::from(node)] = next;
        }
        heap.push(Reverse((first.0 + second.0, next)));
        next += 1;
    }
    // Each node has a lower number than its parent, and the root has the highest number and no parent.
    let mut depths = [0_u8; 2 * SYMBOLS];
    for node in (0..usize::from(next)).rev().filter(|&node| parents[node] > 0) {
        depths[node] = depths[usize::from(parents[node])] + 1;
    }
    std::array::from_fn(|symbol| depths[symbol])
}

/// Returns the canonical codes with these lengths.
pub(crate) fn codes(lengths: &[u8; SYMBOLS]) -> [Code; SYMBOLS] {
    let mut codes = [Code::default(); SYMBOLS];
    let mut next = 0_u16;
    for length in 1..=LONGEST {
        for (code, _) in codes.iter_mut().zip(lengths).filter(|(_, of)| **of == length) {
            *code = Code { bits: next.reverse_bits() >> (16 - length), length };
            next += 1;
        }
        next <<= 1;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_fill_the_room_whatever_the_counts() {
        let fibonacci = |at: usize| (0..at % 44).fold((1_u32, 1_u32), |(a, b), _| (b, a + b)).0;
        let cases: [&dyn Fn(usize) -> u32; 5] =
            [&|_| 1, &|at| u32::from(at == 0 || at == 256), &fibonacci, &|at| at as u32, &|at| 1 << (at % 30)];
        for case in cases {
            let lengths = lengths(&std::array::from_fn(case));
            let room: u32 = lengths.iter().filter(|length| **length > 0).map(|length| 1 << (LONGEST - length)).sum();
            assert_eq!(room, 1 << LONGEST);
            assert!((0..SYMBOLS).all(|at| (case(at) > 0) == (lengths[at] > 0)));
        }
    }
}
