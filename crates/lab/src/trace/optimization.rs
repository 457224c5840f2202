//! Finds functions that were compiled without optimization. The use of registers shows whether the compiler optimized a
//! function.
//!
//! A compiler without optimization keeps each value on the stack. In code without optimization, many instructions move
//! values between the stack and registers, and the registers that calls preserve (RBX and R12 to R15) are not used.
//! Optimized code keeps values mainly in the registers that calls preserve, and uses the stack only for further values.

use std::collections::BTreeMap;

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpKind, Register};

use super::decode::instruction;
use super::place;

/// A function is regarded as compiled without optimization if at least the share `MOVES` of its instructions move
/// values from or to the stack, and at most the share `KEPT` use registers that calls preserve.
const MOVES: f64 = 0.25;
const KEPT: f64 = 0.02;
/// The minimum number of instructions of a function. For a function with fewer instructions, a decision is not
/// possible.
const LENGTH: u64 = 12;
/// If functions without optimization contain more than this share of the executed instructions, the lab reports these
/// functions.
const SHARE: f64 = 0.2;
/// The minimum number of executed instructions in functions without optimization. In a shorter call, the barriers of
/// the test harness (`black_box`) look like code without optimization.
const EXECUTED: u64 = 64;

/// Counts of instructions.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    all: u64,
    moves: u64,
    kept: u64,
}

impl Counts {
    fn unoptimized(&self) -> bool {
        let share = |count: u64| count as f64 / self.all as f64;
        share(self.moves) >= MOVES && share(self.kept) <= KEPT
    }

    fn add(&mut self, other: &Self, times: u64) {
        self.all += other.all * times;
        self.moves += other.moves * times;
        self.kept += other.kept * times;
    }
}

/// A function is reported only if both the count of different instructions and the count of executed instructions show
/// that the function was compiled without optimization. For example, a short loop with a barrier may execute many
/// moves, even if the function contains only few moves.
#[derive(Clone, Copy, Debug, Default)]
struct OptimizationTally {
    different: Counts,
    executed: Counts,
    /// The number of executed instructions and the address of the block that executed the most instructions. The
    /// address of the block determines the function's name, because the start of a function that is called through a
    /// pointer is not always known.
    most: (u64, u64),
}

impl OptimizationTally {
    fn unoptimized(&self) -> bool {
        self.different.all >= LENGTH && self.different.unoptimized() && self.executed.unoptimized()
    }
}

/// If functions without optimization executed many instructions, returns the name of the function that executed the
/// most instructions. `blocks` contains each block, and how often the block was executed.
pub(super) fn missing<'c>(blocks: impl Iterator<Item = (Vec<u64>, &'c u64)>) -> Option<String> {
    let ran: Vec<(Vec<Instruction>, u64)> = blocks
        .filter(|(_, times)| **times > 0)
        .map(|(block, &times)| (block.into_iter().map(instruction).collect(), times))
        .collect();
    // The code assumes that a function starts at the target of a call, or at an instruction with which functions
    // usually start.
    let entry = |code: &Instruction| {
        let frame = code.mnemonic() == Mnemonic::Sub && code.op0_register() == Register::RSP;
        frame || matches!(code.mnemonic(), Mnemonic::Push | Mnemonic::Endbr64)
    };
    let called = ran.iter().filter_map(|(code, _)| code.first().filter(|code| entry(code)).map(Instruction::ip));
    let call = |code: &Instruction| (code.flow_control() == FlowControl::Call).then(|| code.near_branch_target());
    let starts = ran.iter().flat_map(|(code, _)| code.iter().filter_map(call)).chain(called).chain([0]);
    let mut functions: BTreeMap<u64, OptimizationTally> =
        starts.map(|start| (start, OptimizationTally::default())).collect();
    let mut factory = InstructionInfoFactory::new();
    for (code, times) in &ran {
        let Some(function) = code.first().and_then(|first| functions.range_mut(..=first.ip()).next_back()) else {
            continue;
        };
        let count = |has: &mut dyn FnMut(&Instruction) -> bool| code.iter().filter(|code| has(code)).count() as u64;
        let kept = count(&mut |code| keeps(code, &mut factory));
        let counts = Counts { all: code.len() as u64, moves: count(&mut moves), kept };
        function.1.different.add(&counts, 1);
        function.1.executed.add(&counts, *times);
        function.1.most = function.1.most.max((counts.all * times, code[0].ip()));
    }
    let all: u64 = functions.values().map(|tally| tally.executed.all).sum();
    let plain = || functions.iter().filter(|(_, tally)| tally.unoptimized());
    let found: u64 = plain().map(|(_, tally)| tally.executed.all).sum();
    if found < EXECUTED || found as f64 <= SHARE * all as f64 {
        return None;
    }
    plain().max_by_key(|(_, tally)| tally.executed.all).map(|(_, tally)| place::source(tally.most.1))
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
