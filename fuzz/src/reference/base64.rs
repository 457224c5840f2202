//! Base64 by the grammar of RFC 4648, one group at a time.

use crate::Rules;
use deadpan_base64::{Padding, stream::BLOCK};

/// Returns the symbols of `bytes`.
#[must_use]
pub fn encode(rules: Rules, bytes: &[u8]) -> String {
    let symbols = rules.alphabet.symbols();
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = number(group, 3);
        for place in 0..4 {
            if place <= group.len() {
                text.push(char::from(symbols[bits as usize >> (18 - 6 * place) & 63]));
            } else if rules.padding != Padding::Forbidden {
                text.push('=');
            }
        }
    }
    text
}

/// Returns the bytes of `text`, if it is valid.
#[must_use]
pub fn decode(rules: Rules, text: &[u8]) -> Option<Vec<u8>> {
    let text = significant(rules, text);
    let mut bytes = Vec::new();
    let last = text.len().div_ceil(4).saturating_sub(1);
    let may_fill = |place| place == last && rules.padding != Padding::Forbidden;
    for (place, group) in text.chunks(4).enumerate() {
        let symbols = match group {
            [_, _, b'=', b'='] if may_fill(place) => &group[..2],
            [_, _, _, b'='] if may_fill(place) => &group[..3],
            [_, _, _, _] => group,
            [_, _] | [_, _, _] if rules.padding != Padding::Required => group,
            _ => return None,
        };
        let bits = symbols.iter().try_fold(0, |bits, symbol| Some(bits << 6 | value(rules, *symbol)?))?;
        let [_, group @ ..] = (bits << (6 * (4 - symbols.len()))).to_be_bytes();
        let (whole, left_over) = group.split_at(symbols.len() - 1);
        if !rules.ignore_trailing_bits && left_over.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(whole);
    }
    Some(bytes)
}

/// Returns the bytes that a stream returns for an invalid text: the bytes of all blocks before the first invalid block.
/// `=` is allowed only in the last block.
#[must_use]
pub fn decode_good_blocks(rules: Rules, text: &[u8]) -> Vec<u8> {
    let text = significant(rules, text);
    let strict = Rules { padding: Padding::Forbidden, ..rules };
    let last = text.len().div_ceil(BLOCK).saturating_sub(1);
    text.chunks(BLOCK).take(last).map_while(|block| decode(strict, block)).flatten().collect()
}

fn significant(rules: Rules, text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !rules.skip_white_space || !matches!(byte, b'\t'..=b'\r' | b' ')).collect()
}

/// Returns the first `width` bytes as a big-endian number. If there are fewer bytes, zeros are added at the end.
fn number(bytes: &[u8], width: usize) -> u32 {
    (0..width).fold(0, |number, place| number << 8 | u32::from(bytes.get(place).copied().unwrap_or(0)))
}

fn value(rules: Rules, symbol: u8) -> Option<u32> {
    let value = match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        _ if symbol == rules.alphabet.sixty_two() => 62,
        _ if symbol == rules.alphabet.sixty_three() => 63,
        _ => return None,
    };
    Some(u32::from(value))
}
