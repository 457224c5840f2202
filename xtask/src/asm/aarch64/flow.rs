//! Jumps, calls, and the ends of programs.

use super::registers::{self, FLAGS};
use super::word::Word;
use crate::asm::instruction::{Destination, Flags, Flow, Step};

/// Returns `None` if the instruction is none of these.
pub(super) fn of(word: &Word) -> Option<(Flow, Vec<Step>)> {
    let to = |low, width| word.address.wrapping_add_signed(word.signed_field(low, width) * 4);
    let register = |low| match registers::or_zero(word.field(low, 5)) {
        Some(register) => Destination::Register(register),
        None => Destination::Unknown,
    };
    let tested = || {
        let parts = registers::or_zero(word.field(0, 5)).map_or(0, |register| register.parts);
        vec![Step { reads: parts, ..Step::default() }]
    };
    let found = match word.mnemonic() {
        "b" => (Flow::Jump(to(0, 26)), Vec::new()),
        "bl" => (Flow::Call(to(0, 26)), Vec::new()),
        // The conditions 14 and 15 are always true.
        "b.c" if word.field(0, 4) >= 14 => (Flow::Jump(to(5, 19)), Vec::new()),
        "b.c" => {
            let flow = Flow::ConditionalJump { target: to(5, 19), unequal: word.field(0, 4) == 1 };
            (flow, vec![Step { flags: Flags { reads: FLAGS, ..Flags::default() }, ..Step::default() }])
        }
        "cbz" | "cbnz" => (Flow::ConditionalJump { target: to(5, 19), unequal: false }, tested()),
        "tbz" | "tbnz" => (Flow::ConditionalJump { target: to(5, 14), unequal: false }, tested()),
        "br" => (Flow::IndirectJump(register(5)), Vec::new()),
        "blr" => (Flow::IndirectCall(register(5)), Vec::new()),
        // A return through another register than `x30` may lead anywhere.
        "ret" if word.field(5, 5) != 30 => (Flow::IndirectJump(register(5)), Vec::new()),
        "ret" | "retaa" | "retab" => (Flow::Return, Vec::new()),
        "brk" | "hlt" | "udf" => (Flow::End, Vec::new()),
        _ => return None,
    };
    Some(found)
}
