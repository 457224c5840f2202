//! Base64 as one would explain it: a table, a loop, a jump wherever it is convenient. It leaks, it is slow, and it is right.

use crate::Alphabet;
use std::vec::Vec;

/// The symbols of `input`, without padding.
pub(super) fn encode(alphabet: Alphabet, input: &[u8]) -> Vec<u8> {
    let symbols = alphabet.symbols();
    let mut output = Vec::new();
    for group in input.chunks(3) {
        let bits = group.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            output.push(symbols[bits >> (18 - 6 * place) & 63]);
        }
    }
    output
}

/// The bytes of `input`, unless something in it is no symbol, and whether bits are left over.
pub(super) fn decode(alphabet: Alphabet, input: &[u8]) -> Option<(Vec<u8>, bool)> {
    let symbols = alphabet.symbols();
    let mut output = Vec::new();
    let (mut bits, mut count) = (0_usize, 0);
    for byte in input {
        bits = bits << 6 | symbols.iter().position(|symbol| symbol == byte)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            output.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some((output, bits != 0))
}
