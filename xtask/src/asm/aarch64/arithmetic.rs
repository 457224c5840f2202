//! Instructions that compute in registers.

use disarm64_defn::{InsnClass as Class, InsnOperandKind as Kind};

use super::opcodes::{self, Effect, First};
use super::registers::FLAGS;
use super::word::Word;
use crate::asm::instruction::{Address, Expression, Flags, Index, Operand, Parts, Register, Step, Write};

pub(super) fn step(word: &Word) -> Option<Step> {
    let mut effect = opcodes::effect(word.mnemonic())?;
    let &first = word.operands().first()?;
    // The form with a vector and an immediate has no operand for the old contents.
    if word.class() == Some(Class::ASIMDIMM) && matches!(word.mnemonic(), "orr" | "bic") {
        effect.first = First::Merged;
    }
    let mut reads = 0;
    for &kind in word.operands() {
        reads |= parts(word, kind)?;
    }
    let (mut writes, mut results) = (Vec::new(), Vec::new());
    let target = word.general(first);
    if effect.first != First::Read {
        if effect.first == First::Written {
            reads = word.operands()[1..].iter().filter_map(|&kind| parts(word, kind)).fold(0, |all, own| all | own);
        }
        match target {
            Some(Some(register)) => {
                writes.push(whole(register));
                results.push((register, result(word, register)));
            }
            Some(None) => {}
            None => writes.push(vector(word.vector(first)?)),
        }
    }
    if is_constant(word) || is_carry_spread(word) {
        reads = 0;
    }
    Some(Step { reads, writes, results, flags: flags(effect), slow: effect.slow, ..Step::default() })
}

/// A write to a general-purpose register. A write to the lower half clears the upper half.
pub(super) fn whole(register: Register) -> Write {
    Write { sets: register.parts, clears: register.parts, register: Some(register) }
}

/// A write to these parts of a vector register. A write to the lower half clears the upper half.
pub(super) fn vector(sets: Parts) -> Write {
    let both = sets | sets << 32 & HIGH_HALVES;
    Write { sets, clears: both, register: None }
}

/// The upper halves of all vector registers.
const HIGH_HALVES: Parts = 0xffff_ffff << 64;

/// Returns `None` for an operand that the audit does not know.
fn parts(word: &Word, kind: Kind) -> Option<Parts> {
    if let Some(register) = word.general(kind) {
        return Some(register.map_or(0, |register| register.parts));
    }
    word.vector(kind).or_else(|| is_immediate(kind).then_some(0))
}

fn is_immediate(kind: Kind) -> bool {
    use Kind as K;
    let integer = matches!(
        kind,
        K::AIMM
            | K::LIMM
            | K::HALF
            | K::IMMR
            | K::IMMS
            | K::COND
            | K::COND1
            | K::NZCV
            | K::CCMP_IMM
            | K::IMM
            | K::IMM_2
    );
    let vector = matches!(
        kind,
        K::IDX | K::IMM0 | K::IMM_VLSL | K::IMM_VLSR | K::SHLL_IMM | K::SIMD_IMM | K::SIMD_IMM_SFT | K::SIMD_FPIMM
    );
    let other = matches!(kind, K::FPIMM | K::FPIMM0 | K::FBITS | K::ADDR_PCREL21 | K::ADDR_ADRP);
    integer || vector || other
}

fn flags(effect: Effect) -> Flags {
    let set = if effect.sets_flags { FLAGS } else { 0 };
    Flags { reads: if effect.reads_flags { FLAGS } else { 0 }, clears: set, sets: set }
}

/// Recognizes `eor x0, x1, x1`, `cmeq v0.16b, v1.16b, v1.16b` and similar instructions: the result, and the flags, are
/// constants for any contents of the registers.
fn is_constant(word: &Word) -> bool {
    let twins = word.field(5, 5) == word.field(16, 5);
    match word.class() {
        Some(Class::LOG_SHIFT) => {
            twins && !is_shifted(word) && matches!(word.mnemonic(), "eor" | "bic" | "bics" | "eon" | "orn")
        }
        Some(Class::ADDSUB_SHIFT) => twins && !is_shifted(word) && matches!(word.mnemonic(), "sub" | "subs"),
        Some(Class::ASIMDSAME) => {
            twins
                && matches!(
                    word.mnemonic(),
                    "eor" | "sub" | "bic" | "orn" | "cmeq" | "cmge" | "cmgt" | "cmhi" | "cmhs" | "sabd" | "uabd"
                )
        }
        _ => false,
    }
}

/// Recognizes `sbc x0, x1, x1`, which copies the carry flag to all bits of the register and reads nothing else.
fn is_carry_spread(word: &Word) -> bool {
    matches!(word.mnemonic(), "sbc" | "sbcs") && word.field(5, 5) == word.field(16, 5)
}

fn is_shifted(word: &Word) -> bool {
    word.field(10, 6) != 0
}

/// The value of the written register.
fn result(word: &Word, target: Register) -> Expression {
    let number =
        |number: u64| Expression::Copy(Operand::Number(if word.is_wide() { number } else { number as u32 as u64 }));
    let half = || ((word.field(5, 16) as u64) << (16 * word.field(21, 2)), 0xffff << (16 * word.field(21, 2)));
    match word.mnemonic() {
        "movz" => number(half().0),
        "movn" => number(!half().0),
        "movk" => Expression::Replaced { register: target, mask: half().1, bits: half().0 },
        "orr" if word.class() == Some(Class::LOG_IMM) && word.field(5, 5) == 31 => number(bit_pattern(word)),
        "adr" | "adrp" => page(word),
        "eor" | "bic" | "bics" | "sub" | "subs" if is_constant(word) => number(0),
        _ if !word.is_wide() => Expression::Copy(Operand::Unknown),
        _ => wide_result(word),
    }
}

/// The value of a register of 64 bits after an instruction that reads registers.
fn wide_result(word: &Word) -> Expression {
    let general = |index: usize| word.operands().get(index).and_then(|&kind| word.general(kind)).flatten();
    let operand = |register: Option<Register>| register.map_or(Operand::Number(0), Operand::Register);
    let (first, second) = (operand(general(1)), operand(general(2)));
    match (word.mnemonic(), word.class()) {
        ("add" | "adds", Some(Class::ADDSUB_IMM)) => Expression::Sum(first, Operand::Number(immediate(word))),
        ("sub" | "subs", Some(Class::ADDSUB_IMM)) => Expression::Difference(first, Operand::Number(immediate(word))),
        ("add" | "adds", Some(Class::ADDSUB_SHIFT | Class::ADDSUB_EXT)) => sum(word, general(1), general(2)),
        ("sub" | "subs", Some(Class::ADDSUB_SHIFT)) if !is_shifted(word) => Expression::Difference(first, second),
        ("orr", Some(Class::LOG_SHIFT)) if general(1).is_none() && !is_shifted(word) => Expression::Copy(second),
        ("csel", _) => Expression::Either(first, second),
        // The mask of an alignment keeps the high bits.
        ("and", Some(Class::LOG_IMM)) if bit_pattern(word).cast_signed() < 0 => match general(1) {
            Some(register) => Expression::Masked(register, bit_pattern(word)),
            None => Expression::Copy(Operand::Number(0)),
        },
        _ => Expression::Near((1..word.operands().len()).filter_map(general).collect()),
    }
}

fn immediate(word: &Word) -> u64 {
    (word.field(10, 12) << (12 * word.field(22, 1))) as u64
}

/// The sum of a register and of a shifted register.
fn sum(word: &Word, base: Option<Register>, index: Option<Register>) -> Expression {
    let extended = word.class() == Some(Class::ADDSUB_EXT);
    let (whole, shift) = if extended {
        // The options 3 and 7 take all 64 bits.
        (word.field(13, 2) == 3, word.field(10, 3))
    } else {
        (word.field(22, 2) == 0, word.field(10, 6))
    };
    let index = match index {
        None => Index::None,
        Some(index) if whole && shift < 32 => Index::Register(index, 1 << shift),
        Some(_) => Index::Unknown,
    };
    if let (Some(base), Index::Register(index, 1)) = (base, index) {
        return Expression::Sum(Operand::Register(base), Operand::Register(index));
    }
    Expression::Address(Address::Sum { base, index, displacement: 0 })
}

fn page(word: &Word) -> Expression {
    let distance = word.signed_field(5, 19) << 2 | word.field(29, 2) as i64;
    if word.mnemonic() == "adr" {
        return Expression::Address(Address::Object(word.address.wrapping_add_signed(distance)));
    }
    Expression::Page((word.address & !0xfff).wrapping_add_signed(distance << 12))
}

/// The immediate of a logical instruction: a run of ones, rotated and repeated.
fn bit_pattern(word: &Word) -> u64 {
    let (n, rotation, ones) = (word.field(22, 1), word.field(16, 6), word.field(10, 6));
    let size = 1u32 << (31 - ((n << 6 | !ones & 0x3f) as u32 | 1).leading_zeros());
    let mask = u64::MAX >> (64 - size);
    let (ones, rotation) = (ones as u32 & (size - 1), rotation as u32 & (size - 1));
    let run = u64::MAX >> (63 - ones);
    let turned = if rotation == 0 { run } else { (run >> rotation | run << (size - rotation)) & mask };
    (0..64 / size).fold(0, |all, at| all | turned << (at * size))
}
