//! AArch64: translates instructions to the form that the analysis reads.
//!
//! The crate `disarm64` names an instruction and its operands. Which operands an instruction reads and writes, and
//! which flags, is written down here, in `opcodes` and in the modules for jumps and memory. An instruction without an
//! entry is a finding.

mod arithmetic;
#[cfg(test)]
mod dependencies;
mod flow;
mod memory;
mod opcodes;
mod registers;
mod structures;
mod system;
mod table;
#[cfg(test)]
mod tests;
mod word;

use super::instruction::{Flow, Instruction, Parts, Register, Step};
use super::machine::Machine;
use registers::{ARGUMENTS, RESULTS, SAVED, SAVED_PARTS, SP, X0, X3, X4, X8, X30};
use word::Word;

pub(crate) static MACHINE: Machine = Machine {
    decode,
    table: table::find,
    arguments: &ARGUMENTS,
    indirect_result: Some(X8),
    result: X0,
    results: RESULTS,
    saved: &SAVED,
    saved_parts: SAVED_PARTS,
    fill: ARGUMENTS[1].parts,
    stack_pointer: SP,
    pushed: 0,
    link: Some(X30),
    red_zone: 0,
    request: (X4, X3),
};

/// Valgrind's client request: `ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61; orr x10, x10,
/// x10`. The rotations add up to 128 bits, so they have no effect on a real CPU.
const ROTATIONS: [u32; 4] = [0x93cc_0d8c, 0x93cc_358c, 0x93cc_cd8c, 0x93cc_f58c];
const REQUEST: u32 = 0xaa0a_014a;

fn decode(code: &[u8], at: usize, address: u64) -> Option<Instruction> {
    let word = Word::read(code, at, address)?;
    let (flow, steps) = effects(&word).unwrap_or((Flow::Unknown, Vec::new()));
    let earlier = |back: usize| Some(Word::read(code, at.checked_sub(4 * back)?, address)?.bits);
    let rotated = (1..).zip(ROTATIONS.iter().rev()).all(|(back, &rotation)| earlier(back) == Some(rotation));
    Some(Instruction {
        address,
        next: address + 4,
        text: word.text(),
        flow,
        mentioned: mentioned(&steps),
        steps,
        request: word.bits == REQUEST && rotated,
        compared: compared(&word),
    })
}

/// Returns `None` if no table contains the instruction.
fn effects(word: &Word) -> Option<(Flow, Vec<Step>)> {
    if let Some(found) = flow::of(word) {
        return Some(found);
    }
    let steps = memory::steps(word)
        .or_else(|| structures::steps(word))
        .or_else(|| system::steps(word))
        .or_else(|| arithmetic::step(word).map(|step| vec![step]))?;
    Some((Flow::Next, steps))
}

fn mentioned(steps: &[Step]) -> Vec<(String, Parts)> {
    let touched = steps.iter().fold(0, |all, step| {
        step.writes.iter().fold(all | step.reads | step.addressing, |all, write| all | write.sets)
    });
    registers::named(touched)
}

/// Recognizes `cmp` of two registers.
fn compared(word: &Word) -> Option<(Register, Register)> {
    if word.mnemonic() != "subs" || word.field(0, 5) != 31 {
        return None;
    }
    let register = |index: usize| word.operands().get(index).and_then(|&kind| word.general(kind))?;
    Some((register(1)?, register(2)?))
}
