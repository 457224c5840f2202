//! A reference for tests that is easy to check: a table, a loop, and jumps. It leaks secrets and is slow.

use std::vec::Vec;

use crate::Alphabet;

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

/// Returns the bytes of `input`, and whether bits after the last byte are set. Returns `None` if a byte of `input` is
/// not a symbol.
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
