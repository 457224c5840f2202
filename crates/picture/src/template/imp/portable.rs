//! Works on eight values at a time in a 64-bit word. The compiler vectorizes the change of the samples.

use super::{Choice, Cost, Course, LINE, Line, Table, Values, Ways};

#[inline(always)]
pub(super) fn embed(lines: &mut [Line], values: &Values, course: &mut Course, ways: Ways<'_>) -> Cost {
    // If the number of bits is a constant, the compiler can unroll the loops.
    match course.bits {
        1 => embed_bits::<1>(lines, values, course, ways),
        2 => embed_bits::<2>(lines, values, course, ways),
        3 => embed_bits::<3>(lines, values, course, ways),
        _ => embed_bits::<4>(lines, values, course, ways),
    }
}

#[inline(always)]
pub(super) fn extract(lines: &[Line], values: &mut Values, course: &mut Course, table: &Table, choices: &[Choice]) {
    match course.bits {
        1 => extract_bits::<1>(lines, values, course, table, choices),
        2 => extract_bits::<2>(lines, values, course, table, choices),
        3 => extract_bits::<3>(lines, values, course, table, choices),
        _ => extract_bits::<4>(lines, values, course, table, choices),
    }
}

#[inline(always)]
fn embed_bits<const BITS: usize>(lines: &mut [Line], values: &Values, course: &mut Course, ways: Ways<'_>) -> Cost {
    let mut cost = Cost::default();
    for ((line, &[row, add]), signs) in lines.iter_mut().zip(ways.choices).zip(ways.signs) {
        let count = course.walk.next().min(LINE);
        if count > 0 {
            let unpacked = unpack::<BITS>(values, course.at);
            // Samples that carry no value keep their own lowest bits.
            let mut wanted = *line;
            for (&place, &value) in ways.table[usize::from(row)].0.iter().zip(&unpacked).take(count) {
                wanted[usize::from((place ^ add) % 64)] = value;
            }
            change::<BITS>(line, &wanted, signs, &mut cost);
            course.at += count * BITS;
        }
    }
    cost
}

/// Returns 64 values, beginning at bit `at`.
#[inline(always)]
fn unpack<const BITS: usize>(values: &Values, at: usize) -> Line {
    let mut unpacked = [0; LINE];
    let packed: &[u8] = &values[at / 8..at / 8 + BITS * 8 + 8];
    for (word, unpacked) in unpacked.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let packed = u64::from_le_bytes(std::array::from_fn(|byte| packed[word * BITS + byte])) >> (at % 8);
        for (value, unpacked) in unpacked.iter_mut().enumerate() {
            *unpacked = (packed >> (value * BITS)) as u8 & mask::<BITS>();
        }
    }
    unpacked
}

/// Changes each sample to the nearest number that has the wanted lowest bits.
#[inline(always)]
fn change<const BITS: usize>(line: &mut Line, wanted: &Line, signs: &[u8; LINE / 8], cost: &mut Cost) {
    let (half, whole) = (1 << (BITS - 1), 1 << BITS);
    let mut down_if_equal = [0; LINE];
    for (random, &signs) in down_if_equal.as_chunks_mut::<8>().0.iter_mut().zip(signs) {
        *random = std::array::from_fn(|bit| signs & 1 << bit);
    }
    let (mut squares, mut changed) = (0_u32, 0_u32);
    for ((sample, &wanted), &random) in line.iter_mut().zip(wanted).zip(&down_if_equal) {
        let up = wanted.wrapping_sub(*sample) & mask::<BITS>();
        let down = whole - up;
        let prefers_down = (up > half) | ((up == half) & (random != 0));
        let goes_down = (up != 0) & ((prefers_down & (*sample >= down)) | (*sample > u8::MAX - up));
        let distance = u16::from(if goes_down { down } else { up });
        *sample = if goes_down { sample.wrapping_sub(down) } else { sample.wrapping_add(up) };
        squares += u32::from(distance * distance);
        changed += u32::from(up != 0);
    }
    cost.squares += u64::from(squares);
    cost.changed += u64::from(changed);
}

#[inline(always)]
fn extract_bits<const BITS: usize>(
    lines: &[Line],
    values: &mut Values,
    course: &mut Course,
    table: &Table,
    choices: &[Choice],
) {
    for (line, &[row, add]) in lines.iter().zip(choices) {
        let count = course.walk.next().min(LINE);
        if count > 0 {
            let mut gathered = [0; LINE];
            // Eight values make whole bytes. The next line overwrites the bytes after the last value.
            let rounded = count.next_multiple_of(8);
            for (gathered, &place) in gathered.iter_mut().zip(&table[usize::from(row)].0).take(rounded) {
                *gathered = line[usize::from((place ^ add) % 64)];
            }
            pack::<BITS>(&gathered, rounded / 8, values, course.at);
            course.at += count * BITS;
        }
    }
}

/// Writes 8 · `words` values to `values`, beginning at bit `at`; the bits before bit `at` do not change.
#[inline(always)]
fn pack<const BITS: usize>(gathered: &Line, words: usize, values: &mut Values, at: usize) {
    let (mut byte, shift) = (at / 8, at % 8);
    let mut before = u64::from(values[byte]) & !(u64::MAX << shift);
    for word in &gathered.as_chunks::<8>().0[..words] {
        let mut packed = u64::from_le_bytes(*word) & (mask::<BITS>() as u64 * 0x0101_0101_0101_0101);
        for fields in [8, 16, 32] {
            // Two neighboring fields become one field of twice the width.
            let width = fields / 8 * BITS;
            let kept = u64::MAX / ((1_u128 << (2 * fields)) - 1) as u64 * ((1_u64 << (2 * width)) - 1);
            packed = (packed | packed >> (fields - width)) & kept;
        }
        let joined = packed << shift | before;
        values[byte..byte + 8].copy_from_slice(&joined.to_le_bytes());
        byte += BITS;
        before = joined >> (BITS * 8);
    }
}

#[inline(always)]
const fn mask<const BITS: usize>() -> u8 {
    (1 << BITS) - 1
}
