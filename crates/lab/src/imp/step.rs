//! Traces of calls. [`blocks`] runs a copy of the code, which records each address; it is the fast engine. [`trap`]
//! stops before each instruction, and is the reference. A trace has its own process ([`host`]), and so has each traced
//! call ([`process`]).

pub(crate) mod blocks;
pub(crate) mod call;
pub(crate) mod host;
mod memory;
pub(crate) mod process;
mod registers;
pub(crate) mod shared;
pub(crate) mod signal;
pub(crate) mod trap;
#[cfg(test)]
pub(crate) mod unusual;

use iced_x86::{Code, Instruction, OpKind, UsedMemory};

pub(crate) use memory::{bytes, code, path, unchanged};
pub(crate) use registers::Registers;

/// Receives what a traced call does. The call may be in the middle of an allocation, so no function may allocate, lock
/// or panic.
pub(crate) trait Step {
    /// Records an instruction from the registers before it. Returns whether to continue.
    fn step(&mut self, registers: &Registers<'_>) -> bool;

    /// Returns how an instruction is recorded, or why it cannot be.
    fn plan(&mut self, address: u64) -> Result<Plan, Stop>;

    /// Adds a block of instructions that always run together, and returns its number. Returns `None` if there are too
    /// many.
    fn add(&mut self, parts: &[Part]) -> Option<u32>;

    /// Records blocks that ran. Returns whether to continue.
    fn ran(&mut self, log: &[Ran]) -> bool;

    /// Ends the recording early.
    fn stop(&mut self, stop: Stop);
}

/// How an instruction is recorded.
pub(crate) struct Plan {
    /// The number by which [`Part::entry`] refers to the instruction.
    pub(crate) entry: u32,
    /// The addresses that the instruction accesses, if they depend only on general registers. Otherwise
    /// [`Step::step`] records the instruction.
    pub(crate) simple: Option<[Option<UsedMemory>; 4]>,
}

/// A word of a block's trace: the address of an instruction or of memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    /// The word, or the number that is added to the next word of [`Ran`].
    pub(crate) value: u64,
    pub(crate) logged: bool,
    /// The entry of the instruction that starts here.
    pub(crate) entry: Option<u32>,
}

/// Maximum number of addresses in a block that are only known when it runs.
pub(crate) const WORDS: usize = 15;

/// A block that ran, and the addresses that it accessed.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Ran {
    pub(crate) block: u64,
    pub(crate) words: [u64; WORDS],
}

/// Why a recording ended before the call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The call has more instructions than the limit.
    Limit,
    /// The call has too many different instructions.
    Crowded,
    /// The call starts a thread.
    Thread,
    /// The call starts a process.
    Process,
    /// The call makes memory executable.
    Code,
    /// The code at this address lies in memory that the program may write to, or that is new.
    Written(u64),
    /// The code at this address changed during the call.
    Changed(u64),
    /// The call wakes another thread.
    Wake,
    /// The call makes this system call, whose arguments are not compared.
    Call(u64),
    /// The call opens the memory of a process as a file.
    Memory,
    /// A signal arrives, or may arrive.
    Signal,
    /// The instruction at this address cannot be copied.
    Instruction(u64),
    /// There is no memory for a copy near the code at this address.
    Far(u64),
    /// The call panicked, although it did not when it ran without a trace.
    Panic,
    /// The call left the traced code in an unknown way.
    Escape,
}

/// Returns whether the instruction repeats, by a `rep` prefix. On other instructions, the prefix means something else.
pub(crate) fn repeats(instruction: &Instruction) -> bool {
    instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
}

/// Returns whether the registers with addresses that the instruction does not name have 32 bits, and also the count of
/// an instruction that repeats.
pub(crate) fn has_short_addresses(instruction: &Instruction) -> bool {
    let operand = |kind| (0..instruction.op_count()).any(|op| instruction.op_kind(op) == kind);
    let short = [OpKind::MemorySegESI, OpKind::MemorySegEDI, OpKind::MemoryESEDI];
    let codes = [Code::Clzerod, Code::Monitord, Code::Monitorxd];
    codes.contains(&instruction.code()) || short.into_iter().any(operand)
}
