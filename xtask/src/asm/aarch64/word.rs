//! One instruction word, with what the decoder says about it.

use disarm64::decoder::{self, Opcode};
use disarm64::{InsnDisplay as _, InsnOpcode as _};
use disarm64_defn::{InsnClass, InsnOperandKind as Kind};

use super::registers::{self, SP};
use crate::asm::instruction::{Parts, Register};

pub(super) struct Word {
    pub(super) bits: u32,
    pub(super) address: u64,
    opcode: Option<Opcode>,
    operands: Vec<Kind>,
}

impl Word {
    pub(super) fn read(code: &[u8], at: usize, address: u64) -> Option<Self> {
        let bits = u32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?);
        let opcode = decoder::decode(bits);
        let operands = opcode.iter().flat_map(|opcode| opcode.definition().operands).map(|operand| operand.kind);
        Some(Self { bits, address, operands: operands.collect(), opcode })
    }

    pub(super) fn field(&self, low: u32, width: u32) -> usize {
        (self.bits >> low & ((1 << width) - 1)) as usize
    }

    pub(super) fn signed_field(&self, low: u32, width: u32) -> i64 {
        let unused = 32 - width;
        i64::from(((self.bits >> low) << unused).cast_signed() >> unused)
    }

    pub(super) fn bit(&self, at: u32) -> bool {
        self.field(at, 1) == 1
    }

    /// The name of the instruction itself, never of an alias: `subs`, and not `cmp`. It is empty for an unknown word.
    pub(super) fn mnemonic(&self) -> &'static str {
        self.opcode.as_ref().map_or("", |opcode| opcode.definition().mnemonic)
    }

    pub(super) fn class(&self) -> Option<InsnClass> {
        self.opcode.as_ref().map(|opcode| opcode.definition().class)
    }

    pub(super) fn operands(&self) -> &[Kind] {
        &self.operands
    }

    /// The general-purpose register of an operand. The outer `None` stands for another kind of operand, and the inner
    /// one for the zero register.
    #[allow(clippy::option_option, reason = "the two answers differ")]
    pub(super) fn general(&self, kind: Kind) -> Option<Option<Register>> {
        let zero = |low| Some(registers::or_zero(self.field(low, 5)));
        let stack = |low| Some(Some(registers::general(self.field(low, 5))));
        match kind {
            Kind::Rd | Kind::Rt => zero(0),
            Kind::Rn => zero(5),
            Kind::Ra | Kind::Rt2 => zero(10),
            Kind::Rm | Kind::Rm_SFT | Kind::Rs => zero(16),
            // The second number of a register that is extended is never the stack pointer.
            Kind::Rm_EXT => zero(16),
            Kind::Rd_SP => stack(0),
            Kind::Rn_SP => stack(5),
            _ => None,
        }
    }

    /// The parts of a vector register that an operand names.
    pub(super) fn vector(&self, kind: Kind) -> Option<Parts> {
        let whole = |low| Some(registers::vector(self.field(low, 5)));
        let low_half = |low| Some(registers::low_vector(self.field(low, 5)));
        match kind {
            Kind::Vd | Kind::Ed => whole(0),
            Kind::Vn | Kind::En => whole(5),
            Kind::VdD1 => Some(registers::high_vector(self.field(0, 5))),
            Kind::VnD1 => Some(registers::high_vector(self.field(5, 5))),
            Kind::Vm | Kind::Em => whole(16),
            // An element of 16 bits is in one of the first 16 registers, because the fifth bit belongs to its index.
            // The field for the size contains 1 if the elements are integers, and 0 if they are floating-point numbers.
            Kind::Em16 if self.field(22, 2) <= 1 => Some(registers::vector(self.field(16, 4))),
            Kind::Em16 => whole(16),
            Kind::Va => whole(10),
            Kind::Fd | Kind::Sd if self.is_wide_scalar() => whole(0),
            Kind::Fd | Kind::Sd => low_half(0),
            Kind::Fn | Kind::Sn => {
                if self.is_wide_scalar() {
                    whole(5)
                } else {
                    low_half(5)
                }
            }
            Kind::Fm | Kind::Sm => low_half(16),
            Kind::Fa => low_half(10),
            Kind::LVn => Some(list(self.field(5, 5), self.field(13, 2) + 1)),
            _ => None,
        }
    }

    /// Whether the scalar registers of this instruction have 16 bytes: the instructions for SHA.
    fn is_wide_scalar(&self) -> bool {
        use InsnClass as C;
        matches!(self.class(), Some(C::CRYPTOSHA2 | C::CRYPTOSHA3))
    }

    /// Whether the result has 64 bits, for instructions with general-purpose registers.
    pub(super) fn is_wide(&self) -> bool {
        self.bit(31)
    }

    /// The text in the form of a listing.
    pub(super) fn text(&self) -> String {
        let Some(opcode) = &self.opcode else { return format!(".word {:#010x}", self.bits) };
        let text = opcode.display_at(self.address).to_string();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // The decoder has one entry for all numbers of registers, and prints its name.
        match super::structures::name(self) {
            Some(name) => text.replacen(self.mnemonic(), &name, 1),
            None => text,
        }
    }
}

/// A list of vector registers. After the last register comes the first one.
pub(super) fn list(first: usize, count: usize) -> Parts {
    (first..first + count).fold(0, |all, number| all | registers::vector(number % 32))
}

/// The register that holds an address.
pub(super) fn base(word: &Word) -> Register {
    match word.field(5, 5) {
        31 => SP,
        number => registers::general(number),
    }
}
