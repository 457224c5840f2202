//! What the analysis needs to know about an architecture and its calling convention.

use super::image::Image;
use super::instruction::{Instruction, Parts, Register, Table};

pub(crate) struct Machine {
    /// Decodes the instruction at an index of a section's code. The second number is the address of the instruction.
    pub(crate) decode: fn(&[u8], usize, u64) -> Option<Instruction>,
    /// Finds the table of an indirect jump. The arguments are the addresses of the function's instructions before the
    /// jump, the nearest first, and the address of the jump.
    pub(crate) table: fn(&Image, &mut dyn Iterator<Item = u64>, u64) -> Option<Table>,
    /// The registers of the integer arguments, in order.
    pub(crate) arguments: &'static [Register],
    /// The register that points to the place of a large result, if it is none of the arguments.
    pub(crate) indirect_result: Option<Register>,
    pub(crate) result: Register,
    /// All registers in which a function may return a result.
    pub(crate) results: Parts,
    /// The registers that a function must restore.
    pub(crate) saved: &'static [Register],
    /// The parts of all registers that a function must restore, with those of vector registers.
    pub(crate) saved_parts: Parts,
    /// The part of the second argument that `memset` writes.
    pub(crate) fill: Parts,
    pub(crate) stack_pointer: Register,
    /// The size of the return address that a call pushes.
    pub(crate) pushed: i64,
    /// The register in which a call passes the return address.
    pub(crate) link: Option<Register>,
    /// The number of bytes below the stack pointer that a function may use.
    pub(crate) red_zone: i64,
    /// The address of a client request to Valgrind, and the answer.
    pub(crate) request: (Register, Register),
}
