//! Reference implementations of base64 and hex. The reference implementations use tables and jumps, so that they are
//! easy to check.

use deadpan_base64::Alphabet;

pub(crate) fn base64(alphabet: Alphabet, padded: bool, input: &[u8]) -> Vec<u8> {
    let symbols = alphabet.symbols();
    let mut output = Vec::new();
    for group in input.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        output.extend((0..=group.len()).map(|place| symbols[bits >> (18 - 6 * place) & 63]));
        if padded {
            output.extend(vec![b'='; 3 - group.len()]);
        }
    }
    output
}

pub(crate) fn hex(digits: &[u8; 16], input: &[u8]) -> Vec<u8> {
    input.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

pub(crate) fn spaced(text: &[u8], gap: usize) -> Vec<u8> {
    let kinds = [&b" "[..], b"\n", b"\r\n", b"\t\x0b\x0c", b""];
    let pieces = text.chunks(gap).zip(kinds.into_iter().cycle());
    pieces.flat_map(|(piece, space)| [piece, space].concat()).collect()
}
