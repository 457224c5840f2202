//! Traces of calls. On x86-64, the fast engine, `blocks`, executes a copy of the code, and the copy records each
//! address. The reference engine, `trap`, interrupts the code before each instruction. On AArch64, another process
//! interrupts the code before each instruction (`aarch64::trap`). Each trace runs in its own process ([`host`]), and
//! each traced call runs in another process of its own ([`process`]).

#[cfg(target_arch = "aarch64")]
pub(crate) mod aarch64;
#[cfg(target_arch = "x86_64")]
pub(crate) mod blocks;
pub(crate) mod call;
pub(crate) mod host;
mod memory;
pub(crate) mod process;
#[cfg(target_arch = "x86_64")]
mod registers;
pub(crate) mod shared;
pub(crate) mod signal;
#[cfg(target_arch = "x86_64")]
mod switch;
#[cfg(target_arch = "x86_64")]
pub(crate) mod trap;
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) mod unusual;

#[cfg(target_arch = "x86_64")]
use iced_x86::{Code, Instruction, OpKind, UsedMemory};

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{Engine, Registers, Trap};
#[cfg(target_arch = "x86_64")]
pub(crate) use blocks::Engine;
pub(crate) use memory::{code, unchanged};
#[cfg(target_arch = "x86_64")]
pub(crate) use registers::Registers;
#[cfg(target_arch = "x86_64")]
pub(crate) use trap::Trap;

/// Receives the recorded instructions and addresses of a traced call. No function of this trait may allocate, lock or
/// panic, because the traced call may be in the middle of an allocation.
pub(crate) trait Step {
    /// Records the next instruction. `registers` contains the values before the instruction executes. Returns whether
    /// to continue.
    fn step(&mut self, registers: &Registers<'_>) -> bool;

    /// Ends the recording early.
    fn stop(&mut self, stop: Stop);
}

/// Receives whole blocks of recorded instructions. The rules of [`Step`] apply to these functions too.
#[cfg(target_arch = "x86_64")]
pub(crate) trait StepBlocks: Step {
    /// Returns how to record an instruction, or the reason why the instruction cannot be recorded.
    fn plan(&mut self, address: u64) -> Result<Plan, Stop>;

    /// Adds a block of instructions that always run together, and returns the number of the block. Returns `None` if
    /// there are too many blocks.
    fn add(&mut self, parts: &[Part]) -> Option<u32>;

    /// Records blocks that ran. Returns whether to continue.
    fn ran(&mut self, log: &[Ran]) -> bool;
}

/// How an instruction is recorded.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Plan {
    /// The number by which [`Part::entry`] refers to the instruction.
    pub(crate) entry: u32,
    /// The addresses that the instruction accesses, if they depend only on general registers. If the addresses depend
    /// on other registers too, [`Step::step`] records the instruction.
    pub(crate) simple: Option<[Option<UsedMemory>; 4]>,
}

/// A 64-bit word in a block's trace: the address of an instruction, or of memory that the instruction accesses.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    /// The recorded word, or a number that must be added to the next word of [`Ran`].
    pub(crate) value: u64,
    pub(crate) logged: bool,
    /// The number of the instruction, if this word is the first word of the instruction.
    pub(crate) entry: Option<u32>,
}

/// The maximum number of addresses per block that are known only when the block executes.
#[cfg(target_arch = "x86_64")]
pub(crate) const WORDS: usize = 15;

/// A block that ran, and the addresses that it accessed.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Ran {
    pub(crate) block: u64,
    pub(crate) words: [u64; WORDS],
}

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
    /// The code at this address is in writable memory, or in memory that was mapped after the start of the call.
    Written(u64),
    /// The code at this address changed during the call.
    Changed(u64),
    /// The call wakes another thread.
    Wake,
    /// The traced call makes the system call with this number, whose arguments a trace does not compare.
    Call(u64),
    /// The call opens the memory of a process as a file.
    Memory,
    /// A signal arrives or may arrive during the call.
    Signal,
    /// The instruction at this address cannot be copied or recorded.
    Instruction(u64),
    /// No memory near the code at this address is free for a copy.
    #[cfg(target_arch = "x86_64")]
    Far(u64),
    /// The system refuses to interrupt a process before each of its instructions.
    #[cfg(target_arch = "aarch64")]
    Refused,
    /// The call panicked, although it did not panic when it ran without a trace.
    Panic,
    /// The call left the traced code in an unknown way.
    Escape,
}

/// Returns whether the instruction repeats because of a `rep` prefix. For instructions that are not string
/// instructions, this prefix has another meaning.
#[cfg(target_arch = "x86_64")]
pub(crate) fn repeats(instruction: &Instruction) -> bool {
    instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
}

/// Returns whether the instruction uses 32 bits of its implicit address registers. If a repeated instruction uses
/// 32-bit addresses, its count has 32 bits too.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_short_addresses(instruction: &Instruction) -> bool {
    let operand = |kind| (0..instruction.op_count()).any(|op| instruction.op_kind(op) == kind);
    let short = [OpKind::MemorySegESI, OpKind::MemorySegEDI, OpKind::MemoryESEDI];
    let codes = [Code::Clzerod, Code::Monitord, Code::Monitorxd];
    codes.contains(&instruction.code()) || short.into_iter().any(operand)
}
