//! The kind of a store.

use iced_x86::{Instruction as Raw, Mnemonic, OpKind};

use crate::asm::stack::Origin;

/// Classifies a store as the store of a spilled register, of a number, or of a part of an array.
pub(super) fn of(raw: &Raw) -> Origin {
    let operand = if raw.mnemonic() == Mnemonic::Push { 0 } else { raw.op_count().saturating_sub(1) };
    // An instruction such as `inc [rsp + 8]` has only one operand. The operand is a variable that LLVM keeps in memory.
    let updates = raw.op_count() == 1 && raw.op0_kind() == OpKind::Memory;
    if raw.op_count() == 0 || raw.is_string_instruction() {
        return Origin::Contents;
    }
    match raw.op_kind(operand) {
        OpKind::Register if raw.op_register(operand).is_gpr32() || raw.op_register(operand).is_gpr64() => Origin::Spill,
        OpKind::Register => Origin::Contents,
        OpKind::Memory if updates => Origin::Spill,
        OpKind::Memory => Origin::Contents,
        _ => {
            // A pushed number is no count that an iterator stores.
            if raw.mnemonic() == Mnemonic::Push {
                return Origin::Number;
            }
            Origin::of_number(raw.try_immediate(operand).unwrap_or(0), raw.memory_size().size())
        }
    }
}
