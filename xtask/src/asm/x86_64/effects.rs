//! The effects of one instruction: registers, flags and memory.

use iced_x86::{Instruction as Raw, InstructionInfo, Mnemonic, OpAccess, OpKind, Register as RawRegister, UsedMemory};

use super::registers::{self, ALL_FLAGS, RCX, RSP};
use super::{idioms, origin, results};
use crate::asm::instruction::{Access, Address, Flags, Index, Parts, Repeat, Size, Step, Store, Write};

pub(super) fn step(raw: &Raw, info: &InstructionInfo) -> Step {
    let constant = idioms::is_constant(raw);
    let reads_registers = !constant && !idioms::is_carry_spread(raw);
    let read = info.used_registers().iter().filter(|used| reads(used.access()));
    let mut accesses: Vec<Access> = info.used_memory().iter().map(|memory| access(raw, memory)).collect();
    for access in &mut accesses {
        access.reads &= reads_registers;
    }
    Step {
        reads: if reads_registers { read.fold(0, |all, used| all | registers::parts(used.register())) } else { 0 },
        addressing: addressing(raw, info),
        flags: flags(raw, constant),
        writes: writes_of(raw, info),
        results: results::of(raw, info, accesses.first().map(|access| access.address)),
        accesses,
        slow: idioms::is_slow(raw),
        repeat: is_repeated(raw).then(|| Repeat { count: RCX.parts, compares: compares(raw) }),
        swap: swap(raw),
    }
}

fn reads(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

pub(super) fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

/// Whether the access is a conditional write, which may leave the old contents unchanged.
fn is_conditional(access: OpAccess) -> bool {
    matches!(access, OpAccess::CondWrite | OpAccess::ReadCondWrite)
}

fn access(raw: &Raw, memory: &UsedMemory) -> Access {
    let store =
        || Store { conditional: is_conditional(memory.access()), origin: origin::of(raw), ..results::stored(raw) };
    Access {
        address: address(raw, memory),
        size: size(raw, memory),
        reads: reads(memory.access()),
        store: writes(memory.access()).then(store),
    }
}

fn address(raw: &Raw, memory: &UsedMemory) -> Address {
    // Thread-local storage and the stack protector contain no data of the audited crates.
    if matches!(memory.segment(), RawRegister::FS | RawRegister::GS) {
        return Address::Foreign;
    }
    let rip_relative = matches!(memory.base(), RawRegister::RIP | RawRegister::None) && raw.is_ip_rel_memory_operand();
    if rip_relative {
        return Address::Object(raw.ip_rel_memory_address());
    }
    sum(memory.base(), memory.index(), memory.scale(), memory.displacement())
}

/// The result of `lea`, which does not access memory.
pub(super) fn effective_address(lea: &Raw) -> Address {
    if lea.is_ip_rel_memory_operand() {
        return Address::Object(lea.ip_rel_memory_address());
    }
    sum(lea.memory_base(), lea.memory_index(), lea.memory_index_scale(), lea.memory_displacement64())
}

fn sum(base: RawRegister, index: RawRegister, scale: u32, displacement: u64) -> Address {
    let index = match registers::whole(index) {
        Some(index) => Index::Register(index, scale),
        None if index == RawRegister::None => Index::None,
        None => Index::Unknown,
    };
    Address::Sum { base: registers::whole(base), index, displacement: displacement.cast_signed() }
}

/// The number of bytes that an access touches. An instruction with a repeat prefix may touch more than one operand.
fn size(raw: &Raw, memory: &UsedMemory) -> Size {
    match memory.memory_size().size() as i64 {
        0 => Size::Unknown,
        bytes if is_repeated(raw) => Size::Repeated { bytes, count: RCX },
        bytes => Size::Bytes(bytes),
    }
}

fn is_repeated(raw: &Raw) -> bool {
    raw.is_string_instruction() && (raw.has_rep_prefix() || raw.has_repne_prefix())
}

fn compares(raw: &Raw) -> bool {
    use Mnemonic as M;
    matches!(raw.mnemonic(), M::Cmpsb | M::Cmpsw | M::Cmpsd | M::Cmpsq | M::Scasb | M::Scasw | M::Scasd | M::Scasq)
}

fn addressing(raw: &Raw, info: &InstructionInfo) -> Parts {
    // `lea` and `nop` have memory operands but do not access memory.
    if matches!(raw.mnemonic(), Mnemonic::Lea | Mnemonic::Nop) {
        return 0;
    }
    let written_out = [raw.memory_base(), raw.memory_index()];
    let implied = info.used_memory().iter().flat_map(|used| [used.base(), used.index()]);
    written_out.into_iter().chain(implied).fold(0, |all, register| all | registers::parts(register))
}

fn writes_of(raw: &Raw, info: &InstructionInfo) -> Vec<Write> {
    let kept = kept_pointers(raw);
    let written = info.used_registers().iter().filter(|used| writes(used.access()));
    written
        .map(|used| {
            let register = used.register();
            let mut sets = registers::parts(register);
            // VEX and EVEX instructions clear the rest of the register. SSE instructions keep the rest.
            if register.is_vector_register() && raw.encoding() != iced_x86::EncodingKind::Legacy {
                sets = registers::parts(register.full_register());
            }
            let clears = if is_conditional(used.access()) { 0 } else { sets & !registers::kept_parts(register) };
            Write { sets: sets & !kept, clears: clears & !kept, register: registers::whole(register) }
        })
        .collect()
}

/// String instructions and stack instructions change their pointers by public amounts.
fn kept_pointers(raw: &Raw) -> Parts {
    let mut keep = 0;
    if raw.is_string_instruction() {
        for register in [RawRegister::RDI, RawRegister::RSI, RawRegister::RCX] {
            keep |= registers::parts(register);
        }
    }
    if raw.is_stack_instruction() && raw.op0_register() != RawRegister::RSP {
        keep |= RSP.parts;
    }
    keep
}

fn flags(raw: &Raw, constant: bool) -> Flags {
    let modified = raw.rflags_modified() & ALL_FLAGS;
    // A shift by zero keeps the flags.
    let by_register = raw.op_count() >= 2
        && raw.op_kind(raw.op_count() - 1) == OpKind::Register
        && raw.op_register(raw.op_count() - 1) == RawRegister::CL;
    let keeps = by_register || raw.has_rep_prefix() || raw.has_repne_prefix();
    Flags {
        reads: if constant { 0 } else { raw.rflags_read() },
        clears: if keeps { 0 } else { modified },
        sets: modified & !(raw.rflags_cleared() | raw.rflags_set()),
    }
}

/// Recognizes `xchg` of two registers.
fn swap(raw: &Raw) -> Option<(crate::asm::instruction::Register, crate::asm::instruction::Register)> {
    let registers =
        raw.mnemonic() == Mnemonic::Xchg && raw.op0_kind() == OpKind::Register && raw.op1_kind() == OpKind::Register;
    let (a, b) = (raw.op0_register(), raw.op1_register());
    if !(registers && a.is_gpr64() && b.is_gpr64()) {
        return None;
    }
    Some((registers::whole(a)?, registers::whole(b)?))
}
