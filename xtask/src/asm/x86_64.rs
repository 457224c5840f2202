//! x86-64: translates instructions to the form that the analysis reads.

mod effects;
mod idioms;
mod origin;
mod registers;
mod results;
mod table;
#[cfg(test)]
mod tests;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction as Raw, InstructionInfoFactory, Mnemonic, OpKind};

use super::image::Image;
use super::instruction::{Destination, Flow, Instruction};
use super::machine::Machine;
use registers::{ARGUMENTS, RAX, RDX, RSP, SAVED, SAVED_PARTS};

pub(crate) static MACHINE: Machine = Machine {
    decode,
    table: table::find,
    arguments: &ARGUMENTS,
    indirect_result: None,
    result: RAX,
    results: RAX.parts | RDX.parts | registers::vector(0) | registers::vector(1),
    saved: &SAVED,
    saved_parts: SAVED_PARTS,
    fill: registers::low_byte(ARGUMENTS[1]),
    stack_pointer: RSP,
    pushed: 8,
    link: None,
    red_zone: 128,
    request: (RAX, RDX),
};

/// The bytes of Valgrind's client request: `rol rdi, 3; rol rdi, 13; rol rdi, 61; rol rdi, 51; xchg rbx, rbx`. The
/// rotations add up to 128 bits, so they have no effect on a real CPU.
const ROTATIONS: [u8; 16] = [0x48, 0xc1, 0xc7, 3, 0x48, 0xc1, 0xc7, 13, 0x48, 0xc1, 0xc7, 61, 0x48, 0xc1, 0xc7, 51];
const REQUEST: [u8; 3] = [0x48, 0x87, 0xdb];

fn decode(code: &[u8], at: usize, address: u64) -> Option<Instruction> {
    let raw = Decoder::with_ip(64, &code[at..], address, DecoderOptions::NONE).decode();
    if raw.is_invalid() {
        return None;
    }
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(&raw);
    let step = effects::step(&raw, info);
    let mentioned =
        info.used_registers().iter().map(|used| (registers::name(used.register()), registers::parts(used.register())));
    Some(Instruction {
        address,
        next: raw.next_ip(),
        text: raw.to_string(),
        flow: flow(&raw),
        steps: vec![step],
        mentioned: mentioned.collect(),
        request: code[at..].starts_with(&REQUEST) && code[..at].ends_with(&ROTATIONS),
        compared: compared(&raw),
    })
}

fn raw(image: &Image, address: u64) -> Option<Raw> {
    let (code, at) = image.code(address)?;
    Some(Decoder::with_ip(64, &code[at..], address, DecoderOptions::NONE).decode())
}

fn flow(raw: &Raw) -> Flow {
    match raw.flow_control() {
        FlowControl::Next => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump(raw.near_branch_target()),
        FlowControl::ConditionalBranch => {
            Flow::ConditionalJump { target: raw.near_branch_target(), unequal: raw.mnemonic() == Mnemonic::Jne }
        }
        FlowControl::IndirectBranch => Flow::IndirectJump(destination(raw)),
        FlowControl::Call => Flow::Call(raw.near_branch_target()),
        FlowControl::IndirectCall => Flow::IndirectCall(destination(raw)),
        FlowControl::Return => Flow::Return,
        FlowControl::Interrupt | FlowControl::Exception => Flow::End,
        FlowControl::XbeginXabortXend => Flow::Unknown,
    }
}

fn destination(raw: &Raw) -> Destination {
    match raw.op0_kind() {
        OpKind::Register => registers::whole(raw.op0_register()).map_or(Destination::Unknown, Destination::Register),
        OpKind::Memory if raw.is_ip_rel_memory_operand() => Destination::Slot(raw.ip_rel_memory_address()),
        _ => Destination::Unknown,
    }
}

fn compared(raw: &Raw) -> Option<(super::instruction::Register, super::instruction::Register)> {
    if raw.mnemonic() != Mnemonic::Cmp || raw.op0_kind() != OpKind::Register || raw.op1_kind() != OpKind::Register {
        return None;
    }
    Some((registers::whole(raw.op0_register())?, registers::whole(raw.op1_register())?))
}
