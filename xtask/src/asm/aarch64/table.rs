//! Jump tables.

use disarm64_defn::InsnClass;

use super::registers;
use super::word::Word;
use crate::asm::image::Image;
use crate::asm::instruction::Table;

/// Recognizes LLVM's jump table: `adrp table; add table; adr base; ldrb entry, [table, index]; add target, base, entry,
/// lsl #2; br target`. The load may also be `ldrh`. In a large function, the table holds distances from the table
/// itself, and the load is `ldrsw`. The address of the table may be computed far before the jump, outside of a loop.
pub(super) fn find(image: &Image, before: &mut dyn Iterator<Item = u64>, jump: u64) -> Option<Table> {
    let word = |at: u64| {
        let (code, index) = image.code(at)?;
        Word::read(code, index, at)
    };
    let target = word(jump)?.field(5, 5);
    let before: Vec<Word> = before.filter_map(word).collect();
    let add = position(&before, 0, 8, |word| word.mnemonic() == "add" && word.field(0, 5) == target)?;
    let (base, entry, shift) = (before[add].field(5, 5), before[add].field(16, 5), before[add].field(10, 6) as u32);
    let load = position(&before, add + 1, 8, |word| {
        matches!(word.mnemonic(), "ldrb" | "ldrh" | "ldrsw") && word.field(0, 5) == entry && word.field(21, 1) == 1
    })?;
    let (table, index) = (before[load].field(5, 5), before[load].field(16, 5));
    let address = address(&before, load, table)?;
    let width = match before[load].mnemonic() {
        "ldrb" => 1,
        "ldrh" => 2,
        _ => 4,
    };
    // The base may be loaded between the load of the entry and the addition.
    let base = if base == table { address } else { self::address(&before, add, base)? };
    let count = count(&before, load, index);
    Some(Table { address, base, width, signed: width == 4, shift, count })
}

fn position(words: &[Word], from: usize, within: usize, wanted: impl Fn(&Word) -> bool) -> Option<usize> {
    words.iter().skip(from).take(within).position(wanted).map(|at| at + from)
}

fn writes(word: &Word, register: usize) -> bool {
    word.field(0, 5) == register
}

/// Whether an instruction of any kind changes a general-purpose register.
fn changes(word: &Word, register: usize) -> bool {
    let parts = registers::general(register).parts;
    super::effects(word)
        .is_none_or(|(_, steps)| steps.iter().flat_map(|step| &step.writes).any(|write| write.sets & parts != 0))
}

/// The address that a register holds: `adr`, or `adrp` and `add`.
fn address(before: &[Word], from: usize, register: usize) -> Option<u64> {
    let set = position(before, from + 1, usize::MAX, |word| changes(word, register))?;
    let is_sum = before[set].class() == Some(InsnClass::ADDSUB_IMM) && !before[set].bit(22);
    let forms_an_address = match before[set].mnemonic() {
        "adr" | "adrp" => true,
        "add" => is_sum,
        _ => false,
    };
    if !forms_an_address {
        return None;
    }
    let place = |word: &Word| {
        let distance = word.signed_field(5, 19) << 2 | word.field(29, 2) as i64;
        match word.mnemonic() {
            "adr" => Some(word.address.wrapping_add_signed(distance)),
            "adrp" => Some((word.address & !0xfff).wrapping_add_signed(distance << 12)),
            _ => None,
        }
    };
    if before[set].mnemonic() != "add" {
        return place(&before[set]);
    }
    let page = before[set].field(5, 5);
    let start = position(before, set + 1, usize::MAX, |word| changes(word, page))?;
    if before[start].mnemonic() != "adrp" {
        return None;
    }
    Some(place(&before[start])? + before[set].field(10, 12) as u64)
}

/// The number of entries, if the code compares the index with the last one: `cmp index, #last; b.hi`. Between the
/// comparison and the load, the code may copy the index to another register, but not change it.
fn count(before: &[Word], load: usize, mut index: usize) -> Option<u64> {
    for at in load + 1..before.len().min(load + 16) {
        let word = &before[at];
        let compares = word.mnemonic() == "subs" && word.class() == Some(InsnClass::ADDSUB_IMM) && writes(word, 31);
        if compares && word.field(5, 5) == index {
            let next = &before[at - 1];
            let leaves = next.mnemonic() == "b.c" && next.field(0, 4) == 8;
            return (leaves && !word.bit(22)).then(|| word.field(10, 12) as u64 + 1);
        }
        if word.mnemonic() != "b.c" && writes(word, index) {
            let copies = word.mnemonic() == "orr" && word.class() == Some(InsnClass::LOG_SHIFT);
            if !copies || word.field(5, 5) != 31 || word.field(10, 6) != 0 {
                return None;
            }
            index = word.field(16, 5);
        }
    }
    None
}
