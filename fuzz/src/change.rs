//! Changes to sealed bytes, as an attacker might make them.

use crate::Input;

/// Changes `bytes` up to three times. A change flips a bit, changes the length, or changes the order of blocks of
/// `unit` bytes, which begin at the offset `begin`. The changes may cancel each other.
pub fn change(input: &mut Input<'_>, bytes: &mut Vec<u8>, begin: usize, unit: usize) {
    for _ in 0..input.byte() % 4 {
        let (kind, place) = (input.byte(), input.place());
        if bytes.is_empty() {
            return;
        }
        match kind % 7 {
            // Usually changes a bit near the beginning or the end, where the lengths, tags and authentication codes
            // are.
            0 | 1 => {
                let at = place % bytes.len();
                bytes[at] ^= 1 << (kind >> 5);
            }
            2 => {
                let at = bytes.len() - 1 - place % bytes.len();
                bytes[at] ^= 1 << (kind >> 5);
            }
            3 => bytes.truncate(place % bytes.len()),
            4 => bytes.extend((0..1 + place % 300).map(|at| (at * 7) as u8 & kind)),
            _ => move_units(input, bytes, begin, unit, kind),
        }
    }
}

fn move_units(input: &mut Input<'_>, bytes: &mut Vec<u8>, begin: usize, unit: usize, kind: u8) {
    let whole = bytes.len().saturating_sub(begin) / unit;
    if whole == 0 {
        return;
    }
    let [one, other] = [(); 2].map(|()| begin + usize::from(input.byte()) % whole * unit);
    match kind >> 6 {
        0 => drop(bytes.drain(one..one + unit)),
        1 => {
            let again = bytes[one..one + unit].to_vec();
            drop(bytes.splice(other..other, again));
        }
        2 => bytes.copy_within(one..one + unit, other),
        _ => {
            let first = bytes[one..one + unit].to_vec();
            bytes.copy_within(other..other + unit, one);
            bytes[other..other + unit].copy_from_slice(&first);
        }
    }
}
