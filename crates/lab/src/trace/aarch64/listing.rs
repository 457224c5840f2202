//! Describes instructions for messages, and for the search for functions that were compiled without optimization.

use disarm64::decoder::{Opcode, decode};
use disarm64::{InsnDisplay as _, InsnOpcode as _};

use super::super::optimization::Shape;
use super::decode::word;

/// The instruction sets that every AArch64 processor with Linux has.
const BASELINE: [&str; 3] = ["V8", "FP", "SIMD"];

fn opcode(address: u64) -> Option<Opcode> {
    decode(word(address))
}

/// Returns the instruction as text. The text does not contain the target of a jump or call.
pub(in crate::trace) fn text(address: u64) -> String {
    let code = word(address);
    let Some(opcode) = opcode(address) else { return format!(".inst {code:#010x}") };
    let text = opcode.display_at(address).to_string();
    let mut words = text.split_whitespace();
    if leaves(code) { words.next().unwrap_or_default().to_owned() } else { words.collect::<Vec<_>>().join(" ") }
}

/// Returns the instruction's mnemonic.
pub(in crate::trace) fn mnemonic(address: u64) -> String {
    opcode(address).map_or_else(|| text(address), |opcode| opcode.definition().mnemonic.to_owned())
}

/// Returns whether the instruction is a jump that leads to `next`, which is not the following instruction.
pub(in crate::trace) fn jumps(address: u64, next: u64) -> bool {
    leaves(word(address)) && address + 4 != next
}

/// Returns the instruction sets that the instruction needs, except the instruction sets that every AArch64 processor
/// has.
pub(in crate::trace) fn instruction_sets(address: u64) -> impl Iterator<Item = String> {
    let name = opcode(address).map(|opcode| format!("{:?}", opcode.definition().feature_set));
    name.into_iter().filter(|name| !BASELINE.contains(&name.as_str()))
}

/// Finds the registers of an instruction.
pub(in crate::trace) struct Lister;

impl Lister {
    pub(in crate::trace) fn new() -> Self {
        Self
    }
}

/// Returns the properties of an instruction that show whether the compiler optimized a function.
pub(in crate::trace) fn shape(address: u64, _lister: &mut Lister) -> Shape {
    let code = word(address);
    let distance = i64::from((code << 6).cast_signed() >> 6) * 4;
    Shape {
        starts: starts(code),
        calls: (code >> 26 == 0b10_0101).then(|| address.wrapping_add_signed(distance)),
        moves: moves(code),
        keeps: registers(code).into_iter().flatten().any(|register| (19..=28).contains(&register)),
    }
}

/// Returns whether the instruction is a jump or a call.
fn leaves(code: u32) -> bool {
    code >> 26 & 7 == 0b101 && !matches!(code >> 24, 0xd4 | 0xd5)
}

/// Returns whether functions usually start with the instruction: `sub sp, sp, #…`, `stp …, [sp, #-…]!`, `str …, [sp,
/// #-…]!`, `paciasp` or `bti c`.
fn starts(code: u32) -> bool {
    code & 0xff80_03ff == 0xd100_03ff
        || code & 0xffc0_03e0 == 0xa980_03e0
        || code & 0xffe0_0fe0 == 0xf800_0fe0
        || matches!(code, 0xd503_233f | 0xd503_245f)
}

/// Returns whether the instruction loads or stores one general register, at a constant distance from the stack pointer
/// or from the frame pointer.
fn moves(code: u32) -> bool {
    let single = code >> 24 & 0x3f == 0b11_1001 || code & 0x3f20_0c00 == 0x3800_0000;
    single && matches!(code >> 5 & 31, 29 | 31)
}

/// Returns the general registers of an instruction.
fn registers(code: u32) -> [Option<u32>; 4] {
    let field = |low: u32| Some(code >> low & 31);
    match code >> 25 & 15 {
        // `adr`, and moves of constants.
        0b1000 if code >> 24 & 1 == 0 => [field(0), None, None, None],
        0b1001 if code >> 23 & 3 == 1 => [field(0), None, None, None],
        0b1000 | 0b1001 => [field(0), field(5), None, None],
        0b0101 | 0b1101 => [field(0), field(5), field(16), None],
        0b0100 | 0b0110 | 0b1100 | 0b1110 => {
            let general = code >> 26 & 1 == 0;
            let pair = code >> 27 & 7 == 0b101;
            let indexed = code & 0x3b20_0c00 == 0x3820_0800;
            [
                field(5),
                field(0).filter(|_| general),
                field(10).filter(|_| general && pair),
                field(16).filter(|_| indexed),
            ]
        }
        // `cbz` and `cbnz`, and jumps to an address in a register.
        0b1010 | 0b1011 if code >> 25 & 0x3f == 0b01_1010 => [field(0), None, None, None],
        0b1010 | 0b1011 if code >> 25 == 0b110_1011 => [field(5), None, None, None],
        _ => [None; 4],
    }
}
