//! Stores to the stack: their kinds, and their effect on the stack's state.

use std::collections::BTreeSet;

use iced_x86::{Instruction, Mnemonic, OpAccess, OpKind};

use super::memory::{self, Extent};
use super::stack::Origin;
use super::state::State;
use super::value::Value;

#[derive(Clone, Copy)]
pub(crate) struct Stored {
    origin: Origin,
    value: Option<Value>,
}

impl Stored {
    /// Describes the store of `instruction`. Call this function before the instruction changes any register. If the
    /// instruction stores a number to one of the `variables`, the store is classified as a spilled variable.
    pub(crate) fn of(state: &State, instruction: &Instruction, variables: &BTreeSet<i64>) -> Self {
        let mut origin = origin(instruction);
        if origin == Origin::Number && offset(state, instruction).is_some_and(|offset| variables.contains(&offset)) {
            origin = Origin::Spill;
        }
        Self { origin, value: value(state, instruction) }
    }
}

pub(crate) fn write(state: &mut State, access: OpAccess, address: Value, extent: Extent, secret: bool, stored: Stored) {
    match (address, extent) {
        (Value::Stack(offset), Extent::Bytes(len)) if memory::is_conditional(access) && len <= 64 => {
            state.stack.store_perhaps(offset, len, secret, stored.origin);
        }
        (Value::Either(a, b), Extent::Bytes(len)) => {
            state.stack.store_perhaps(a, len, secret, stored.origin);
            state.stack.store_perhaps(b, len, secret, stored.origin);
        }
        (Value::Stack(offset), Extent::Bytes(len)) => {
            state.stack.store(offset, len, secret, stored.origin, stored.value);
            // No register has more than 64 bytes. A longer store is `rep stos`, which the compiler emits for a short
            // `memset`.
            if len > 64 {
                state.stack.add_array(offset, len);
            }
        }
        (to, _) if secret => state.stack.smear(to),
        // A public store to other memory changes nothing: the audit treats all other memory as secret.
        _ => {}
    }
}

/// The stack offset of a variable. The instruction moves a whole public register to this variable, or adds or subtracts
/// the register.
pub(crate) fn variable(state: &State, instruction: &Instruction) -> Option<i64> {
    let whole = matches!(instruction.mnemonic(), Mnemonic::Mov | Mnemonic::Add | Mnemonic::Sub)
        && instruction.op1_register().is_gpr64();
    if whole && !state.is_secret(instruction.op1_register()) { offset(state, instruction) } else { None }
}

/// The offset in the function's own frame to which an instruction stores, if this offset is known.
fn offset(state: &State, instruction: &Instruction) -> Option<i64> {
    let stores = instruction.op_count() == 2 && instruction.op0_kind() == OpKind::Memory;
    match memory::effective_address(state, instruction) {
        Value::Stack(at) if stores && at < 0 => Some(at),
        _ => None,
    }
}

/// Classifies a store as the store of a spilled register, of a number, or of a part of an array.
fn origin(instruction: &Instruction) -> Origin {
    let operand = if instruction.mnemonic() == Mnemonic::Push { 0 } else { instruction.op_count().saturating_sub(1) };
    // An instruction such as `inc [rsp + 8]` has only one operand. The operand is a variable that LLVM keeps in memory.
    let updates = instruction.op_count() == 1 && instruction.op0_kind() == OpKind::Memory;
    if instruction.op_count() == 0 || instruction.is_string_instruction() {
        return Origin::Contents;
    }
    match instruction.op_kind(operand) {
        OpKind::Register
            if instruction.op_register(operand).is_gpr32() || instruction.op_register(operand).is_gpr64() =>
        {
            Origin::Spill
        }
        OpKind::Register => Origin::Contents,
        OpKind::Memory if updates => Origin::Spill,
        OpKind::Memory => Origin::Contents,
        // The value is a small count, such as the chunk size that an iterator stores. The first contents of an array
        // are zeros or one repeated byte, so a small count is not part of an array.
        _ if instruction.memory_size().size() == 8 && matches!(instruction.try_immediate(operand), Ok(1..=0xffff)) => {
            Origin::Spill
        }
        _ if instruction.memory_size().size() >= 4 || instruction.mnemonic() == Mnemonic::Push => Origin::Number,
        _ => Origin::Contents,
    }
}

/// The new contents of the 8-byte slot to which an instruction stores.
fn value(state: &State, instruction: &Instruction) -> Option<Value> {
    let operand = match instruction.mnemonic() {
        Mnemonic::Push => 0,
        Mnemonic::Mov if instruction.op0_kind() == OpKind::Memory => 1,
        _ => return None,
    };
    match instruction.op_kind(operand) {
        OpKind::Register => Some(state.value(instruction.op_register(operand))),
        OpKind::Memory => None,
        _ => instruction.try_immediate(operand).ok().map(Value::Number),
    }
}
