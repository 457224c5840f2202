//! Hints, barriers, and registers of the system.

use disarm64_defn::InsnOperandKind as Kind;

use super::arithmetic;
use super::registers::{self, FLAGS};
use super::word::Word;
use crate::asm::instruction::{Expression, Flags, Operand, Step};

/// The condition flags as a register of the system.
const NZCV: usize = 0x5a10;
/// The mode of data-independent timing.
const DIT: usize = 0x5a15;
/// The settings and the state of floating-point instructions.
const FPCR: usize = 0x5a20;
const FPSR: usize = 0x5a21;
/// The address of the thread's own memory.
const TPIDR_EL0: usize = 0x5e82;

/// Returns `None` if the instruction is none of these.
pub(super) fn steps(word: &Word) -> Option<Vec<Step>> {
    let system = word.field(5, 15);
    let register = registers::or_zero(word.field(0, 5));
    match word.mnemonic() {
        // `pacia1716` and its relatives change `x17`.
        "hint" if matches!(word.field(5, 7), 8 | 10 | 12 | 14) => None,
        // Other hints include the landing pads of jumps (`bti`), and the signing of the return address (`paciasp`).
        "hint" | "dmb" | "dsb" | "isb" | "sb" | "clrex" => Some(Vec::new()),
        // `fpsr` says whether a result was saturated or inexact.
        "mrs" if matches!(system, FPCR | FPSR) => None,
        "mrs" => {
            let flags = Flags { reads: if system == NZCV { FLAGS } else { 0 }, ..Flags::default() };
            // Thread-local storage contains no data of the audited crates.
            let value = if system == TPIDR_EL0 { Operand::Foreign } else { Operand::Unknown };
            let writes = register.map(arithmetic::whole).into_iter().collect();
            let results = register.map(|register| (register, Expression::Copy(value))).into_iter().collect();
            Some(vec![Step { flags, writes, results, ..Step::default() }])
        }
        // The mode of data-independent timing holds no data.
        "msr" if word.operands().first() == Some(&Kind::PSTATEFIELD) || system == DIT => Some(Vec::new()),
        // A later `mrs` would return what was written to another register.
        "msr" if system != NZCV => None,
        "msr" => {
            let flags = Flags { reads: 0, clears: FLAGS, sets: FLAGS };
            let reads = register.map_or(0, |register| register.parts);
            Some(vec![Step { reads, flags, ..Step::default() }])
        }
        _ => None,
    }
}
