//! Finds functions that were compiled without optimization. The use of registers shows whether the compiler optimized a
//! function.
//!
//! A compiler without optimization keeps each value on the stack. In code without optimization, many instructions move
//! values between the stack and registers, and the registers that calls preserve (RBX and R12 to R15, or X19 to X28)
//! are not used. Optimized code keeps values mainly in the registers that calls preserve, and uses the stack only for
//! further values.

use std::collections::BTreeMap;

use super::{listing, place};

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

/// The properties of an instruction that show whether the compiler optimized a function.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Whether functions usually start with such an instruction.
    pub(super) starts: bool,
    /// The target of a call.
    pub(super) calls: Option<u64>,
    /// Whether the instruction moves a value between the stack and a general register.
    pub(super) moves: bool,
    /// Whether the instruction uses a register that calls preserve.
    pub(super) keeps: bool,
}

/// If functions without optimization executed many instructions, returns the name of the function that executed the
/// most instructions. `blocks` contains each block, and how often the block was executed.
pub(super) fn missing(blocks: impl Iterator<Item = (Vec<u64>, u64)>) -> Option<String> {
    let mut lister = listing::Lister::new();
    let ran: Vec<(u64, Vec<Shape>, u64)> = blocks
        .filter(|(block, times)| *times > 0 && !block.is_empty())
        .map(|(block, times)| {
            (block[0], block.into_iter().map(|code| listing::shape(code, &mut lister)).collect(), times)
        })
        .collect();
    // The code assumes that a function starts at the target of a call, or at an instruction with which functions
    // usually start.
    let called = ran.iter().filter_map(|(first, code, _)| code[0].starts.then_some(*first));
    let starts = ran.iter().flat_map(|(_, code, _)| code.iter().filter_map(|code| code.calls)).chain(called).chain([0]);
    let mut functions: BTreeMap<u64, OptimizationTally> =
        starts.map(|start| (start, OptimizationTally::default())).collect();
    for (first, code, times) in &ran {
        let Some(function) = functions.range_mut(..=*first).next_back() else { continue };
        let count = |has: fn(&Shape) -> bool| code.iter().filter(|code| has(code)).count() as u64;
        let counts = Counts { all: code.len() as u64, moves: count(|code| code.moves), kept: count(|code| code.keeps) };
        function.1.different.add(&counts, 1);
        function.1.executed.add(&counts, *times);
        function.1.most = function.1.most.max((counts.all * times, *first));
    }
    let all: u64 = functions.values().map(|tally| tally.executed.all).sum();
    let plain = || functions.iter().filter(|(_, tally)| tally.unoptimized());
    let found: u64 = plain().map(|(_, tally)| tally.executed.all).sum();
    if found < EXECUTED || found as f64 <= SHARE * all as f64 {
        return None;
    }
    plain().max_by_key(|(_, tally)| tally.executed.all).map(|(_, tally)| place::source(tally.most.1))
}
