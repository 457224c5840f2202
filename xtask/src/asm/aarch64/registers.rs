//! The bits of the registers' parts, and the calling convention (AAPCS64).
//!
//! A general-purpose register has one part, because every write to its lower half clears the upper half. A vector
//! register has two parts, because a function must restore only the lower halves of `v8` to `v15`.

use crate::asm::instruction::{Parts, Register};

const LOW_VECTOR: usize = 32;
const HIGH_VECTOR: usize = 64;

/// The condition flags. All instructions that set one of them set all of them.
pub(super) const FLAGS: u32 = 1;

pub(super) const X0: Register = general(0);
pub(super) const X3: Register = general(3);
pub(super) const X4: Register = general(4);
pub(super) const X8: Register = general(8);
pub(super) const X30: Register = general(30);
/// The stack pointer. The instructions give it the number 31, which is the number of the zero register elsewhere.
pub(super) const SP: Register = general(31);

pub(super) const ARGUMENTS: [Register; 8] = range(0);
pub(super) const SAVED: [Register; 12] = {
    let mut saved = range(19);
    saved[11] = SP;
    saved
};
pub(super) const SAVED_PARTS: Parts = {
    let mut parts = SP.parts;
    let mut number = 19;
    while number < 30 {
        parts |= general(number).parts;
        number += 1;
    }
    number = 8;
    while number < 16 {
        parts |= low_vector(number);
        number += 1;
    }
    parts
};
pub(super) const RESULTS: Parts = X0.parts | general(1).parts | vector(0) | vector(1) | vector(2) | vector(3);

const fn range<const COUNT: usize>(first: usize) -> [Register; COUNT] {
    let mut registers = [X0; COUNT];
    let mut at = 0;
    while at < COUNT {
        registers[at] = general(first + at);
        at += 1;
    }
    registers
}

pub(super) const fn general(number: usize) -> Register {
    Register { number, parts: 1 << number }
}

/// The register with this number, or `None` for the zero register.
pub(super) fn or_zero(number: usize) -> Option<Register> {
    (number < 31).then(|| general(number))
}

/// The lower 8 bytes.
pub(super) const fn low_vector(number: usize) -> Parts {
    1 << (LOW_VECTOR + number)
}

/// The upper 8 bytes.
pub(super) const fn high_vector(number: usize) -> Parts {
    1 << (HIGH_VECTOR + number)
}

/// All 16 bytes.
pub(super) const fn vector(number: usize) -> Parts {
    low_vector(number) | high_vector(number)
}

/// The names of the registers to which these parts belong.
pub(super) fn named(parts: Parts) -> Vec<(String, Parts)> {
    let name = |number: usize| if number == SP.number { "sp".to_owned() } else { format!("x{number}") };
    let general = (0..32).map(|number| (name(number), general(number).parts));
    let vectors = (0..32).map(|number| (format!("v{number}"), vector(number)));
    general.chain(vectors).filter(|(_, own)| parts & own != 0).collect()
}
