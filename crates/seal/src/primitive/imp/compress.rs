//! Argon2's compression function G (RFC 9106, section 3.5). Argon2 spends nearly all of its time in this function.
//!
//! The portable code follows each step of the RFC. The portable code is the reference for the other back ends. On a CPU
//! with AVX2, the portable code runs in a version that is compiled for AVX2. The code for AVX-512 is written by hand:
//! AVX-512 can rotate 64-bit words, and its registers hold a whole block.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod x86_64;

use std::array;

use super::blocks::{Block, WORDS};

/// A back end of G. A value of this type proves that the CPU has the instructions of the back end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Compress {
    /// The portable code, for every CPU.
    Portable,
    /// The portable code, compiled for 32-byte registers.
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    Avx2(x86_64::Avx2),
    /// The code for 64-byte registers.
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    Avx512(x86_64::Avx512),
}

impl Compress {
    /// Returns the fastest back end for this CPU.
    pub(crate) fn new() -> Self {
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        {
            let avx2 = || x86_64::Avx2::new().map(Self::Avx2);
            if let Some(best) = x86_64::Avx512::new().map(Self::Avx512).or_else(avx2) {
                return best;
            }
        }
        Self::Portable
    }

    /// Replaces `block` by the result of G for `previous` and `reference`. May leak: nothing.
    pub(crate) fn replace(self, previous: &Block, reference: &Block, block: &mut Block) {
        self.run(previous, reference, block, false);
    }

    /// Adds the result of G for `previous` and `reference` to `block`, by exclusive or. May leak: nothing.
    pub(crate) fn add(self, previous: &Block, reference: &Block, block: &mut Block) {
        self.run(previous, reference, block, true);
    }

    #[inline(always)]
    fn run(self, previous: &Block, reference: &Block, block: &mut Block, add: bool) {
        match self {
            Self::Portable => portable(previous, reference, block, add),
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            Self::Avx2(avx2) => avx2.compress(previous, reference, block, add),
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            Self::Avx512(avx512) => avx512.compress(previous, reference, block, add),
        }
    }
}

/// Lets the CPU start to read `block` from memory before the block is needed. May leak: the block's address.
#[inline(always)]
pub(crate) fn prefetch(block: &Block) {
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    x86_64::prefetch(block);
    // On other CPUs this function does nothing, and the CPU reads the block only when the block is needed.
    #[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
    let _ = block;
}

/// Computes G as the RFC describes it: applies P to each row of a matrix of 8 × 8 pairs of words, and then applies P to
/// each column.
#[inline(always)]
fn portable(previous: &Block, reference: &Block, block: &mut Block, add: bool) {
    let input: [u64; WORDS] = array::from_fn(|word| previous.0[word] ^ reference.0[word]);
    let mut words = input;
    for row in 0..8 {
        permute(&mut words, array::from_fn(|word| 16 * row + word));
    }
    for column in 0..8 {
        permute(&mut words, array::from_fn(|word| 16 * (word / 2) + 2 * column + word % 2));
    }
    for (word, block) in block.0.iter_mut().enumerate() {
        let before = if add { *block } else { 0 };
        *block = before ^ words[word] ^ input[word];
    }
}

/// Applies the permutation P (section 3.6) to the sixteen words at `at`.
#[inline(always)]
fn permute(words: &mut [u64; WORDS], at: [usize; 16]) {
    for i in 0..4 {
        mix(words, [at[i], at[4 + i], at[8 + i], at[12 + i]]);
    }
    for i in 0..4 {
        mix(words, [at[i], at[4 + (i + 1) % 4], at[8 + (i + 2) % 4], at[12 + (i + 3) % 4]]);
    }
}

/// Computes the RFC's function GB: BLAKE2b's mixing function, with a product added to each sum.
#[inline(always)]
fn mix(words: &mut [u64; WORDS], [a, b, c, d]: [usize; 4]) {
    let low = |word: u64| word & 0xffff_ffff;
    let sum = |x: u64, y: u64| x.wrapping_add(y).wrapping_add(2_u64.wrapping_mul(low(x).wrapping_mul(low(y))));
    for [first, second] in [[32, 24], [16, 63]] {
        words[a] = sum(words[a], words[b]);
        words[d] = (words[d] ^ words[a]).rotate_right(first);
        words[c] = sum(words[c], words[d]);
        words[b] = (words[b] ^ words[c]).rotate_right(second);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn back_ends() -> Vec<(&'static str, Compress)> {
        #[cfg_attr(not(all(target_arch = "x86_64", not(deadpan_portable))), allow(unused_mut))]
        let mut all = vec![("portable", Compress::Portable)];
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        for (name, found) in [
            ("AVX2", x86_64::Avx2::new().map(Compress::Avx2)),
            ("AVX-512", x86_64::Avx512::new().map(Compress::Avx512)),
        ] {
            match found {
                Some(found) => all.push((name, found)),
                None => {
                    // The test harness hides what `eprintln!` prints, so this code writes directly to standard error.
                    let line = format!("skipped: {name}: not on this CPU\n");
                    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
                }
            }
        }
        all
    }

    #[test]
    fn the_fastest_back_end_is_chosen() {
        let (_, last) = back_ends().pop().expect("the portable one");
        assert_eq!(format!("{:?}", Compress::new()), format!("{last:?}"));
    }

    /// Returns a block of words that look random (SplitMix64).
    fn block(seed: u64) -> Block {
        Block(array::from_fn(|word| {
            let mut z = (seed << 32 | word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        }))
    }

    #[test]
    fn every_back_end_is_as_the_reference() {
        let special =
            [Block([0; WORDS]), Block([u64::MAX; WORDS]), Block([1 << 63; WORDS]), Block([0xffff_ffff; WORDS])];
        // In each of these blocks only one word is not zero, so that the test detects a word in the wrong place.
        let single = (0..WORDS).map(|word| Block(array::from_fn(|other| u64::from(other == word))));
        let blocks: Vec<_> = special.into_iter().chain(single).chain((0..200).map(block)).collect();
        for (name, compress) in back_ends() {
            for (number, pair) in blocks.windows(2).enumerate() {
                let before = block(1000 + number as u64);
                let [mut wanted, mut added, mut replaced] = array::from_fn(|_| before.clone());
                portable(&pair[0], &pair[1], &mut wanted, false);
                compress.replace(&pair[0], &pair[1], &mut replaced);
                assert!(replaced.0 == wanted.0, "{name}: replace, pair {number}");
                portable(&pair[0], &pair[1], &mut wanted, true);
                added.0.clone_from(&replaced.0);
                compress.add(&pair[0], &pair[1], &mut added);
                assert!(added.0 == wanted.0, "{name}: add, pair {number}");
            }
        }
    }

    /// G of two equal blocks is P of zeros, and P of zeros is zero. G is symmetric.
    #[test]
    fn equal_blocks_give_zero_and_order_does_not_matter() {
        for (name, compress) in back_ends() {
            let (one, other) = (block(1), block(2));
            let [mut zero, mut forward, mut backward] = array::from_fn(|_| block(3));
            compress.replace(&one, &one, &mut zero);
            assert!(zero.0 == [0; WORDS], "{name}");
            compress.replace(&one, &other, &mut forward);
            compress.replace(&other, &one, &mut backward);
            assert!(forward.0 == backward.0 && forward.0 != [0; WORDS], "{name}");
        }
    }
}
