//! The new values of registers and of places in memory.

use iced_x86::{Instruction as Raw, InstructionInfo, Mnemonic, OpKind, Register as RawRegister};

use super::registers::{self, RBP, RSP};
use super::{effects, idioms};
use crate::asm::instruction::{Address, Expression, Index, Operand, Register, Store};

/// The new values of whole registers. `memory` is the address of the first memory operand.
pub(super) fn of(raw: &Raw, info: &InstructionInfo, memory: Option<Address>) -> Vec<(Register, Expression)> {
    let mut results = Vec::new();
    if effects::writes(info.op0_access())
        && let Some(first) = first_operand(raw, memory)
    {
        results.push(first);
    }
    if raw.mnemonic() == Mnemonic::Leave {
        let saved = Address::Sum { base: Some(RBP), index: Index::None, displacement: 0 };
        results.push((RSP, Expression::Sum(Operand::Register(RBP), Operand::Number(8))));
        results.push((RBP, Expression::Copy(Operand::Loaded(saved))));
    } else if raw.is_stack_instruction() {
        let by = i64::from(raw.stack_pointer_increment()).cast_unsigned();
        results.push((RSP, Expression::Sum(Operand::Register(RSP), Operand::Number(by))));
    }
    results
}

/// The value of the first operand after the instruction, if this operand is a whole register.
fn first_operand(raw: &Raw, memory: Option<Address>) -> Option<(Register, Expression)> {
    if raw.op_count() == 0 || raw.op0_kind() != OpKind::Register {
        return None;
    }
    let wide = raw.op0_register().is_gpr64();
    if !wide && !raw.op0_register().is_gpr32() {
        return None;
    }
    let target = registers::whole(raw.op0_register())?;
    let old = Operand::Register(target);
    let loaded = memory.map_or(Operand::Unknown, Operand::Loaded);
    let source = match raw.op1_kind() {
        OpKind::Register => operand(raw.op1_register()),
        OpKind::Memory => loaded,
        _ => raw.try_immediate(1).map_or(Operand::Unknown, Operand::Number),
    };
    let expression = match raw.mnemonic() {
        Mnemonic::Xor | Mnemonic::Sub | Mnemonic::And if idioms::is_constant(raw) => number(0),
        Mnemonic::Or if idioms::is_constant(raw) && wide => number(u64::MAX),
        Mnemonic::Mov if wide || is_immediate(raw) => Expression::Copy(source),
        Mnemonic::Pop => Expression::Copy(loaded),
        _ if !wide => Expression::Copy(Operand::Unknown),
        Mnemonic::Lea => Expression::Address(effects::effective_address(raw)),
        Mnemonic::Add if raw.op1_kind() != OpKind::Memory => Expression::Sum(old, source),
        Mnemonic::Sub => Expression::Difference(old, source),
        Mnemonic::Inc => Expression::Sum(old, Operand::Number(1)),
        Mnemonic::Dec => Expression::Difference(old, Operand::Number(1)),
        Mnemonic::And if is_immediate(raw) => Expression::Masked(target, raw.immediate(1)),
        _ if is_cmov(raw) => Expression::Either(old, source),
        _ => near(raw),
    };
    Some((target, expression))
}

fn number(number: u64) -> Expression {
    Expression::Copy(Operand::Number(number))
}

fn operand(register: RawRegister) -> Operand {
    registers::whole(register).map_or(Operand::Unknown, Operand::Register)
}

fn near(raw: &Raw) -> Expression {
    let registers = (0..raw.op_count()).filter(|&operand| raw.op_kind(operand) == OpKind::Register);
    Expression::Near(registers.filter_map(|operand| registers::whole(raw.op_register(operand))).collect())
}

fn is_cmov(raw: &Raw) -> bool {
    raw.cpuid_features().contains(&iced_x86::CpuidFeature::CMOV)
}

fn is_immediate(raw: &Raw) -> bool {
    raw.op_count() == 2 && raw.try_immediate(1).is_ok()
}

/// The value that an instruction stores, and the variable.
pub(super) fn stored(raw: &Raw) -> Store {
    let to_memory = raw.op_count() == 2 && raw.op0_kind() == OpKind::Memory;
    // An instruction that moves a whole register, or adds or subtracts the register, stores a variable.
    let whole = to_memory
        && matches!(raw.mnemonic(), Mnemonic::Mov | Mnemonic::Add | Mnemonic::Sub)
        && raw.op1_register().is_gpr64();
    let source = match raw.mnemonic() {
        Mnemonic::Push => Some(0),
        Mnemonic::Mov if to_memory => Some(1),
        _ => None,
    };
    let value = source.and_then(|operand| match raw.op_kind(operand) {
        OpKind::Register => Some(self::operand(raw.op_register(operand))),
        OpKind::Memory => None,
        _ => raw.try_immediate(operand).ok().map(Operand::Number),
    });
    Store { value, variable: registers::whole(raw.op1_register()).filter(|_| whole), ..Store::default() }
}
