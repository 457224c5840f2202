//! Random bits for a sample that could be changed equally well upward or downward.

use super::LINE;

/// Gives each line its random bits. A person who knows these bits cannot find the data. It is enough that the bits show
/// no visible pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs([u64; 2]);

impl Signs {
    pub(super) fn new(key: &[u8; 16]) -> Self {
        let (words, _) = key.as_chunks::<8>();
        Self([u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])])
    }

    /// Returns a bit for each sample of a line.
    pub(super) fn in_line(self, line: u64) -> [u8; LINE / 8] {
        let [first, second] = self.0;
        mix(mix(line ^ first).wrapping_add(second)).to_le_bytes()
    }
}

/// The finalizer of SplitMix64: each bit of the result depends on all bits of the word.
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_balanced_in_each_place_and_between_neighbors() {
        const LINES: u64 = 100_000;
        for key in [[0; 16], [0x5a; 16]] {
            let signs = Signs::new(&key);
            let (mut ones, mut changes, mut flips) = ([0_u32; 64], [0_u32; 64], [0_u32; 64]);
            for line in 0..LINES {
                let word = u64::from_le_bytes(signs.in_line(line));
                let next = u64::from_le_bytes(signs.in_line(line + 1));
                for bit in 0..64 {
                    ones[bit] += (word >> bit & 1) as u32;
                    changes[bit] += ((word ^ next) >> bit & 1) as u32;
                    flips[bit] += ((word ^ word.rotate_right(1)) >> bit & 1) as u32;
                }
            }
            // The expected count is half of the number of lines. The limit is 6.3 standard deviations, so by chance,
            // the test fails for 1 of 10 million keys.
            for count in ones.into_iter().chain(changes).chain(flips) {
                assert!(count.abs_diff(50_000) < 1000, "{count}");
            }
        }
    }
}
