//! The bits of the registers' parts, and the calling convention (System V ABI).
//!
//! The low byte of a general-purpose register has its own bit, because `setcc` writes only that byte. The low 16 bytes
//! of a vector register have their own bit, because SSE writes only those bytes.

use iced_x86::{Register as Raw, RflagsBits};

use crate::asm::instruction::{Parts, Register};

const LOW_BYTE: usize = 0;
const REST: usize = 16;
const LOW_VECTOR: usize = 32;
const HIGH_VECTOR: usize = 64;
const MASK: usize = 96;
const X87: usize = 104;

pub(super) const ALL_FLAGS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::CF | RflagsBits::PF;

pub(super) const RAX: Register = general(0);
pub(super) const RCX: Register = general(1);
pub(super) const RDX: Register = general(2);
pub(super) const RBP: Register = general(5);
pub(super) const RSP: Register = general(4);
const RBX: Register = general(3);
const RSI: Register = general(6);
const RDI: Register = general(7);

pub(super) const SAVED: [Register; 7] = [RBX, RBP, RSP, general(12), general(13), general(14), general(15)];
pub(super) const SAVED_PARTS: Parts = {
    let mut parts = 0;
    let mut at = 0;
    while at < SAVED.len() {
        parts |= SAVED[at].parts;
        at += 1;
    }
    parts
};

pub(super) const ARGUMENTS: [Register; 6] = [RDI, RSI, RDX, RCX, general(8), general(9)];

const fn bit(group: usize, number: usize) -> Parts {
    1 << (group + number)
}

const fn general(number: usize) -> Register {
    Register { number, parts: bit(LOW_BYTE, number) | bit(REST, number) }
}

pub(super) const fn low_byte(register: Register) -> Parts {
    bit(LOW_BYTE, register.number)
}

/// All parts of a vector register.
pub(super) const fn vector(number: usize) -> Parts {
    bit(LOW_VECTOR, number) | bit(HIGH_VECTOR, number)
}

/// The whole register that contains a general-purpose register.
pub(super) fn whole(register: Raw) -> Option<Register> {
    register.is_gpr().then(|| general(register.full_register().number()))
}

pub(super) fn name(register: Raw) -> String {
    format!("{register:?}").to_lowercase()
}

/// The bits of all parts of this register that an instruction may read.
pub(super) fn parts(register: Raw) -> Parts {
    let number = register.full_register().number();
    if is_high_byte(register) {
        bit(REST, number)
    } else if register.is_gpr8() {
        bit(LOW_BYTE, number)
    } else if register.is_gpr() {
        general(number).parts
    } else if register.is_xmm() {
        bit(LOW_VECTOR, number)
    } else if register.is_vector_register() {
        vector(number)
    } else if register.is_k() {
        bit(MASK, register.number())
    } else if register.is_mm() || register.is_st() {
        // The MMX registers are other names for the x87 registers.
        bit(X87, register.number())
    } else {
        0
    }
}

/// The parts that a write to this register leaves unchanged although they share a bit with changed parts.
pub(super) fn kept_parts(register: Raw) -> Parts {
    if is_high_byte(register) || register.is_gpr16() {
        parts(register.full_register()) & !(0xffff << LOW_BYTE)
    } else {
        0
    }
}

fn is_high_byte(register: Raw) -> bool {
    matches!(register, Raw::AH | Raw::BH | Raw::CH | Raw::DH)
}
