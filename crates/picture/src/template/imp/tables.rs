//! Tables for the kernels with vectors, one for each number of bits of a value.

/// Makes permutations that take the first `bits` bytes of each 8-byte word out of `words` words. The rest has indexes
/// outside of every table, for which vector instructions without a mask give zero.
pub(super) const fn compact<const BYTES: usize>(words: usize) -> [[u8; BYTES]; 4] {
    let mut compact = [[0xff; BYTES]; 4];
    let mut at = 0;
    while at < 4 * BYTES {
        let (bits, byte) = (at / BYTES + 1, at % BYTES);
        if byte < words * bits {
            compact[at / BYTES][byte] = (byte / bits * 8 + byte % bits) as u8;
        }
        at += 1;
    }
    compact
}

/// Four masks for a word with eight values. In the word, the values lie without gaps, or in two, four or eight fields.
pub(super) static FIELDS: [[u64; 4]; 4] = {
    let mut fields = [[0; 4]; 4];
    let mut at = 0;
    while at < 4 * 64 {
        let (bits, bit) = (at / 64 + 1, at % 64);
        let mut step = 0;
        while step < 4 {
            let field = 64 >> step;
            if bit % field < field / 8 * bits {
                fields[at / 64][step] |= 1 << bit;
            }
            step += 1;
        }
        at += 1;
    }
    fields
};
