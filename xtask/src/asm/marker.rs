//! Declassification. With the instructions of a client request, `deadpan_ct` informs Valgrind that a value has become
//! public. The audit recognizes the same instructions.

use iced_x86::{Instruction, Mnemonic, Register};

use super::graph::Graph;
use super::state::State;
use super::value::Value;

/// Valgrind's client requests rotate `rdi` by 3, 13, 61 and 51: 128 bits in all, so the rotations have no effect on a
/// real CPU.
const ROTATIONS: [u8; 4] = [51, 61, 13, 3];
/// Memcheck's request that declares memory undefined. Tests mark secrets with this request.
const MAKE_MEM_UNDEFINED: u64 = 0x4d43_0001;

/// Whether this is the `xchg rbx, rbx` at the end of a client request.
pub(crate) fn is_request(graph: &Graph, instruction: &Instruction) -> bool {
    let last = instruction.mnemonic() == Mnemonic::Xchg
        && instruction.op0_register() == Register::RBX
        && instruction.op1_register() == Register::RBX;
    let rotates = |(rotation, step): (&Instruction, u8)| {
        rotation.mnemonic() == Mnemonic::Rol
            && rotation.op0_register() == Register::RDI
            && rotation.try_immediate(1).is_ok_and(|by| by == u64::from(step))
    };
    last && {
        let before = graph.instructions.range(..instruction.ip()).rev().map(|(_, rotation)| rotation);
        let matched = before.zip(ROTATIONS).take_while(|&pair| rotates(pair)).count();
        matched == ROTATIONS.len()
    }
}

/// Applies the request at `rax`. A request has six words. The first word is the number of the request, the second word
/// is the address, and the third word is the length.
///
/// If these words are not known, the whole frame becomes public until the code stores to the frame again. Memory
/// outside the stack always stays secret.
pub(crate) fn apply(state: &mut State) {
    let mut words = [Value::Unknown; 3];
    if let Value::Stack(request) = state.value(Register::RAX) {
        words = [0, 8, 16].map(|at| state.stack.value(request + at));
    }
    state.mark(Register::RDX, false);
    state.set_value(Register::RDX, Value::Unknown);
    let frame = state.value(Register::RSP).stack_floor().unwrap_or(0);
    match words {
        [Value::Number(MAKE_MEM_UNDEFINED), at, _] => state.stack.smear(at),
        [_, Value::Stack(at), Value::Number(len @ 1..=4096)] => state.stack.publish(at, at + len.cast_signed()),
        // Leaf functions may use 128 bytes below the stack pointer (the red zone of the System V ABI).
        _ => state.stack.publish(frame - 128, 0),
    }
}
