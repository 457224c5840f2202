//! Memory operands: their addresses, and whether the bytes at an address are secret.

use iced_x86::{Instruction, OpAccess, Register, UsedMemory};

use super::state::State;
use super::value::Value;

pub(crate) fn address(state: &State, instruction: &Instruction, memory: &UsedMemory) -> Value {
    // Thread-local storage and the stack protector contain no data of the audited crates.
    if matches!(memory.segment(), Register::FS | Register::GS) {
        return Value::Static;
    }
    let rip_relative =
        matches!(memory.base(), Register::RIP | Register::None) && instruction.is_ip_rel_memory_operand();
    if rip_relative {
        return Value::Address(instruction.ip_rel_memory_address());
    }
    sum(state, memory.base(), memory.index(), memory.scale(), memory.displacement())
}

/// The result of `lea`, which does not access memory.
pub(crate) fn effective_address(state: &State, lea: &Instruction) -> Value {
    if lea.is_ip_rel_memory_operand() {
        return Value::Address(lea.ip_rel_memory_address());
    }
    sum(state, lea.memory_base(), lea.memory_index(), lea.memory_index_scale(), lea.memory_displacement64())
}

fn sum(state: &State, base: Register, index: Register, scale: u32, displacement: u64) -> Value {
    let value = |register| match register {
        Register::None => Value::Number(0),
        register => state.value(register),
    };
    let index = match value(index) {
        Value::Number(n) => Value::Number(n.wrapping_mul(u64::from(scale))),
        value if scale == 1 => value,
        value => value.blur(Value::Unknown),
    };
    value(base).plus(displacement.cast_signed()).sum(index)
}

pub(crate) fn is_read_secret(state: &State, address: Value, len: i64) -> bool {
    match address {
        Value::Stack(offset) => !state.stack.is_public(offset, len),
        Value::Either(a, b) => !state.stack.is_public(a, len) || !state.stack.is_public(b, len),
        Value::Within(_) | Value::NearStack(_) | Value::Unknown => true,
        Value::Address(_) | Value::Static | Value::Loaded(_) | Value::Number(_) => false,
    }
}

/// The number of bytes that an access touches. An instruction with a repeat prefix may touch more than one operand.
pub(crate) fn length(state: &State, instruction: &Instruction, memory: &UsedMemory) -> Extent {
    let size = memory.memory_size().size();
    let repeated =
        instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix());
    match (repeated, state.value(Register::RCX)) {
        _ if size == 0 => Extent::Unbounded,
        (false, _) => Extent::Bytes(size as i64),
        (true, Value::Number(count @ 1..=0x2000)) => Extent::Bytes(size as i64 * count.cast_signed()),
        (true, _) => Extent::Unbounded,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Bytes(i64),
    Unbounded,
}

pub(crate) fn reads(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

pub(crate) fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

/// Whether the access is a conditional write, which may leave the old contents unchanged.
pub(crate) fn is_conditional(access: OpAccess) -> bool {
    matches!(access, OpAccess::CondWrite | OpAccess::ReadCondWrite)
}
