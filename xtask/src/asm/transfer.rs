//! Applies one instruction to the state, and reports leaks through its operands. `walk` follows calls and jumps.

use std::collections::BTreeSet;

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedMemory};

use super::finding::Reason;
use super::idioms;
use super::image::Image;
use super::memory::{self, Extent};
use super::state::{self, ALL_FLAGS, Parts, State};
use super::store;
use super::value::Value;

/// Moves the state past `instruction`.
pub(crate) fn step(
    image: &Image,
    factory: &mut InstructionInfoFactory,
    variables: &BTreeSet<i64>,
    state: &mut State,
    instruction: &Instruction,
) -> Vec<Reason> {
    let info = factory.info(instruction);
    let operands: Vec<(UsedMemory, Value, Extent)> = info
        .used_memory()
        .iter()
        .map(|m| (*m, memory::address(state, instruction, m), memory::length(state, instruction, m)))
        .collect();
    let secret = if idioms::is_constant(instruction) {
        false
    } else if idioms::is_carry_spread(instruction) {
        state.flags & instruction.rflags_read() != 0
    } else {
        reads_secret(state, instruction, info.used_registers(), &operands)
    };
    let reasons = check(state, instruction, secret, &operands);
    if !matches!(instruction.flow_control(), FlowControl::Next | FlowControl::ConditionalBranch) {
        return reasons;
    }

    let value = if memory::writes(info.op0_access()) { result(image, state, instruction, &operands) } else { None };
    let stored = store::Stored::of(state, instruction, variables);
    if let Some(swapped) = swap(state, instruction) {
        *state = swapped;
        return reasons;
    }
    let before = state.clone();
    for used in info.used_registers().iter().filter(|used| memory::writes(used.access())) {
        write_register(state, instruction, used.register(), used.access(), secret);
    }
    keep_pointers(state, &before, instruction);
    if let Some(value) = value {
        state.set_value(instruction.op0_register(), value);
    }
    move_stack_pointer(state, &before, instruction);
    write_flags(state, instruction, secret);
    for (used, address, extent) in operands.iter().filter(|(used, ..)| memory::writes(used.access())) {
        store::write(state, used.access(), *address, *extent, secret, stored);
    }
    reasons
}

fn reads_secret(
    state: &State,
    instruction: &Instruction,
    registers: &[iced_x86::UsedRegister],
    operands: &[(UsedMemory, Value, Extent)],
) -> bool {
    let from_registers = registers.iter().any(|used| memory::reads(used.access()) && state.is_secret(used.register()));
    let from_flags = state.flags & instruction.rflags_read() != 0;
    let from_memory =
        operands.iter().filter(|(used, ..)| memory::reads(used.access())).any(|(_, address, extent)| match *extent {
            Extent::Bytes(len) => memory::is_read_secret(state, *address, len),
            Extent::Unbounded => memory::is_read_secret(state, *address, 0),
        });
    from_registers || from_flags || from_memory
}

fn check(
    state: &State,
    instruction: &Instruction,
    secret: bool,
    operands: &[(UsedMemory, Value, Extent)],
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    // `lea` and `nop` have memory operands but do not access memory. A prefetch reads no data, but its address later
    // shows in the cache, so the audit treats a prefetch as an access.
    let harmless = matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop);
    let written_out = [instruction.memory_base(), instruction.memory_index()];
    let implied = operands.iter().flat_map(|(used, ..)| [used.base(), used.index()]);
    let secret_address = written_out.into_iter().chain(implied).any(|register| state.is_secret(register));
    if secret_address && !harmless {
        reasons.push(Reason::Address);
    }
    let repeated =
        instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix());
    if repeated {
        let compares = matches!(
            instruction.mnemonic(),
            Mnemonic::Cmpsb
                | Mnemonic::Cmpsw
                | Mnemonic::Cmpsd
                | Mnemonic::Cmpsq
                | Mnemonic::Scasb
                | Mnemonic::Scasw
                | Mnemonic::Scasd
                | Mnemonic::Scasq
        );
        if state.is_secret(Register::RCX) || compares && secret {
            reasons.push(Reason::Repeat);
        }
    }
    match instruction.flow_control() {
        FlowControl::ConditionalBranch if secret => reasons.push(Reason::Jump),
        FlowControl::IndirectBranch | FlowControl::IndirectCall
            if instruction.op0_kind() == OpKind::Register && state.is_secret(instruction.op0_register()) =>
        {
            reasons.push(Reason::JumpTarget);
        }
        _ => {}
    }
    if secret && idioms::is_slow(instruction) {
        reasons.push(Reason::Division);
    }
    reasons
}

fn write_register(state: &mut State, instruction: &Instruction, register: Register, access: OpAccess, secret: bool) {
    let mut written: Parts = state::parts(register);
    // VEX and EVEX instructions clear the rest of the register. SSE instructions keep the rest.
    if register.is_vector_register() && instruction.encoding() != iced_x86::EncodingKind::Legacy {
        written = state::parts(register.full_register());
    }
    if secret {
        state.secret |= written;
    } else if !memory::is_conditional(access) {
        state.secret &= !(written & !state::kept_parts(register));
    }
    let old = state.value(register);
    state.set_value(register, old.blur(Value::Unknown));
}

/// String instructions and stack instructions change their pointers by public amounts.
fn keep_pointers(state: &mut State, before: &State, instruction: &Instruction) {
    let mut keep: Parts = 0;
    if instruction.is_string_instruction() {
        for register in [Register::RDI, Register::RSI, Register::RCX] {
            keep |= state::parts(register);
        }
    }
    if instruction.is_stack_instruction() && instruction.op0_register() != Register::RSP {
        keep |= state::parts(Register::RSP);
    }
    state.secret = state.secret & !keep | before.secret & keep;
}

fn move_stack_pointer(state: &mut State, before: &State, instruction: &Instruction) {
    if instruction.mnemonic() == Mnemonic::Leave {
        let frame = before.value(Register::RBP);
        state.set_value(Register::RSP, frame.plus(8));
        let saved = if let Value::Stack(offset) = frame { before.stack.value(offset) } else { Value::Unknown };
        state.set_value(Register::RBP, saved);
    } else if instruction.is_stack_instruction() {
        let moved = before.value(Register::RSP).plus(i64::from(instruction.stack_pointer_increment()));
        state.set_value(Register::RSP, moved);
    }
}

fn write_flags(state: &mut State, instruction: &Instruction, secret: bool) {
    let constant = instruction.rflags_cleared() | instruction.rflags_set();
    let modified = instruction.rflags_modified() & ALL_FLAGS;
    // A shift by zero keeps the flags.
    let by_register = instruction.op_count() >= 2
        && instruction.op_kind(instruction.op_count() - 1) == OpKind::Register
        && instruction.op_register(instruction.op_count() - 1) == Register::CL;
    if !by_register && !instruction.has_rep_prefix() && !instruction.has_repne_prefix() {
        state.flags &= !modified;
    }
    if secret {
        state.flags |= modified & !constant;
    }
}

/// Handles `xchg` of two registers. The general rule for two operands would make both registers secret if only one of
/// them is secret.
fn swap(state: &State, instruction: &Instruction) -> Option<State> {
    let registers = instruction.mnemonic() == Mnemonic::Xchg
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register;
    let (a, b) = (instruction.op0_register(), instruction.op1_register());
    if !(registers && a.is_gpr64() && b.is_gpr64()) {
        return None;
    }
    let mut swapped = state.clone();
    for (to, from) in [(a, b), (b, a)] {
        let low = state::parts(Register::RAX);
        let moved = (state.secret >> from.number() & low) << to.number();
        swapped.secret = swapped.secret & !state::parts(to) | moved;
        swapped.set_value(to, state.value(from));
    }
    Some(swapped)
}

/// The value of the first operand after the instruction, if this operand is a whole register.
fn result(
    image: &Image,
    state: &State,
    instruction: &Instruction,
    operands: &[(UsedMemory, Value, Extent)],
) -> Option<Value> {
    if instruction.op_count() == 0 || instruction.op0_kind() != OpKind::Register {
        return None;
    }
    let target = instruction.op0_register();
    let wide = target.is_gpr64();
    if !wide && !target.is_gpr32() {
        return None;
    }
    let old = state.value(target);
    let source = || source_value(image, state, instruction, operands);
    let mnemonic = instruction.mnemonic();
    let value = match mnemonic {
        Mnemonic::Xor | Mnemonic::Sub | Mnemonic::And if idioms::is_constant(instruction) => Value::Number(0),
        Mnemonic::Or if idioms::is_constant(instruction) && wide => Value::Number(u64::MAX),
        Mnemonic::Mov if wide || is_immediate(instruction) => source(),
        Mnemonic::Pop => operands.first().map_or(Value::Unknown, |(_, address, _)| load(image, state, *address)),
        _ if !wide => Value::Unknown,
        Mnemonic::Lea => memory::effective_address(state, instruction),
        Mnemonic::Add if instruction.op1_kind() != OpKind::Memory => old.sum(source()),
        Mnemonic::Sub => match (old, source()) {
            (old, Value::Number(n)) => old.plus(n.cast_signed().wrapping_neg()),
            (old, other) => old.blur(other),
        },
        Mnemonic::Inc => old.plus(1),
        Mnemonic::Dec => old.plus(-1),
        // An `and` aligns the stack. The true address may be higher than the assumed address, by at most the alignment.
        // The new frame and the old frame never overlap.
        Mnemonic::And if matches!(old, Value::Stack(_)) && is_immediate(instruction) => {
            old.plus(instruction.immediate(1).cast_signed())
        }
        _ if is_cmov(instruction) => old.join(source()),
        _ => (0..instruction.op_count())
            .filter(|&operand| instruction.op_kind(operand) == OpKind::Register)
            .map(|operand| state.value(instruction.op_register(operand)))
            .fold(Value::Unknown, Value::blur),
    };
    Some(value)
}

fn is_cmov(instruction: &Instruction) -> bool {
    instruction.cpuid_features().contains(&iced_x86::CpuidFeature::CMOV)
}

fn is_immediate(instruction: &Instruction) -> bool {
    instruction.op_count() == 2 && instruction.try_immediate(1).is_ok()
}

fn source_value(
    image: &Image,
    state: &State,
    instruction: &Instruction,
    operands: &[(UsedMemory, Value, Extent)],
) -> Value {
    match instruction.op1_kind() {
        OpKind::Register => state.value(instruction.op1_register()),
        OpKind::Memory => operands.first().map_or(Value::Unknown, |(_, address, _)| load(image, state, *address)),
        _ => instruction.try_immediate(1).map_or(Value::Unknown, Value::Number),
    }
}

fn load(image: &Image, state: &State, address: Value) -> Value {
    match address {
        Value::Stack(offset) => state.stack.value(offset),
        Value::Address(address) if image.slot(address).is_some() => Value::Loaded(address),
        _ => Value::Unknown,
    }
}
