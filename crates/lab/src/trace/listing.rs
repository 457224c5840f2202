//! Describes instructions for messages, and for the search for functions that were compiled without optimization.

use iced_x86::{
    FlowControl, Formatter, GasFormatter, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic,
    OpKind, Register,
};

use super::decode::instruction;
use super::optimization::Shape;
use crate::imp::step::repeats;

/// The CPU features that every x86-64 processor has, and features that are only hints.
const BASELINE: [&str; 12] =
    ["X64", "CMOV", "CPUID", "CX8", "FXSR", "MULTIBYTENOP", "SYSCALL", "TSC", "PAUSE", "CET_IBT", "MSR", "D3NOW"];

/// Returns the instruction in AT&T syntax. The text does not contain the target of a jump or call.
pub(super) fn text(address: u64) -> String {
    let (instruction, mut text) = (instruction(address), String::new());
    let mut formatter = GasFormatter::new();
    if instruction.near_branch_target() == 0 {
        formatter.format(&instruction, &mut text);
    } else {
        formatter.format_mnemonic(&instruction, &mut text);
    }
    text
}

/// Returns the instruction's mnemonic, with `rep` if the instruction has this prefix.
pub(super) fn mnemonic(address: u64) -> String {
    let instruction = instruction(address);
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    if repeats(&instruction) { format!("rep {name}") } else { name }
}

/// Returns whether the instruction is a jump that leads to `next`, which is not the following instruction.
pub(super) fn jumps(address: u64, next: u64) -> bool {
    let instruction = instruction(address);
    instruction.flow_control() != FlowControl::Next && instruction.next_ip() != next
}

/// Returns the instruction sets that the instruction needs, except the instruction sets that every x86-64 processor
/// has.
pub(super) fn instruction_sets(address: u64) -> impl Iterator<Item = String> {
    let names = instruction(address).cpuid_features().iter().map(|feature| format!("{feature:?}"));
    names.filter(|name| !name.starts_with("INTEL") && !BASELINE.contains(&name.as_str()))
}

/// Finds the registers of an instruction.
pub(super) type Lister = InstructionInfoFactory;

/// Returns the properties of an instruction that show whether the compiler optimized a function.
pub(super) fn shape(address: u64, lister: &mut Lister) -> Shape {
    let code = instruction(address);
    let frame = code.mnemonic() == Mnemonic::Sub && code.op0_register() == Register::RSP;
    Shape {
        starts: frame || matches!(code.mnemonic(), Mnemonic::Push | Mnemonic::Endbr64),
        calls: (code.flow_control() == FlowControl::Call).then(|| code.near_branch_target()),
        moves: moves(&code),
        keeps: keeps(&code, lister),
    }
}

/// Returns whether the instruction moves a value between the stack and a general register, or moves a constant to the
/// stack.
fn moves(code: &Instruction) -> bool {
    let place = code.memory_index() == Register::None && matches!(code.memory_base(), Register::RSP | Register::RBP);
    let general = |op| code.op_register(op).is_gpr();
    place
        && matches!(code.mnemonic(), Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd)
        && (general(0) || general(1) || code.op1_kind() != OpKind::Memory && code.op1_kind() != OpKind::Register)
}

/// Returns whether the instruction uses a register that calls preserve. RBP is ignored, because RBP may contain the
/// address of the stack frame.
fn keeps(code: &Instruction, factory: &mut InstructionInfoFactory) -> bool {
    use Register::{R12, R13, R14, R15, RBX};
    let info = factory.info_options(code, InstructionInfoOptions::NO_MEMORY_USAGE);
    info.used_registers().iter().any(|used| matches!(used.register().full_register(), RBX | R12 | R13 | R14 | R15))
}
