//! Decodes which memory an instruction accesses, and which operands affect the instruction's time. The recorder decodes
//! each instruction once: when the instruction runs for the first time.
//!
//! The four bits from bit 25 on divide all instructions into groups. Only loads and stores, some system instructions,
//! SVE and SME access memory, so the other groups need no table. In the groups that access memory, an instruction that
//! has no entry here ends the trace ([`Kind::Other`]). SVE and SME have no entries.

use super::super::system;
use crate::imp::mark::{START_MARK, STOP_MARK};
use crate::imp::step::{Registers, code};

#[derive(Clone, Copy)]
pub(in crate::trace) struct Decoded {
    pub(in crate::trace) kind: Kind,
    touches: [Option<Touch>; 3],
    /// The operands that affect the instruction's time. `None` if the time is constant.
    pub(in crate::trace) latency: Option<[Option<Source>; 2]>,
    /// Whether the instruction may return different results in calls with the same input.
    pub(in crate::trace) varies: bool,
}

/// The kind of an instruction, which determines what the recorder does before the instruction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trace) enum Kind {
    Plain,
    /// A system call. [`system`] records system calls.
    System,
    /// An instruction whose effects a trace cannot record.
    Other,
    /// The instructions that [`crate::trace::start`] and [`crate::trace::stop`] execute as marks.
    Start,
    Stop,
}

/// A memory access of an instruction. An instruction that accesses several registers' worth of memory accesses one
/// stretch of memory, so one address is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    /// The sum of a base register, where number 31 is the stack pointer, and a constant.
    Offset { base: u8, by: i32 },
    /// The sum of a base register and another register, which is extended as `option` states, and shifted.
    Index { base: u8, index: u8, option: u8, shift: u8 },
    /// A register, where number 31 is the zero register.
    Register(u8),
    /// A register that affects which bytes the instruction accesses.
    Length(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trace) enum Source {
    General { number: u8, bytes: u8 },
    Vector { number: u8, bytes: u8 },
}

impl Decoded {
    const PLAIN: Self = Self { kind: Kind::Plain, touches: [None; 3], latency: None, varies: false };
    const OTHER: Self = Self { kind: Kind::Other, ..Self::PLAIN };

    fn at(touch: Touch) -> Self {
        Self { touches: [Some(touch), None, None], ..Self::PLAIN }
    }

    /// Returns how many words [`Self::addresses`] passes to its closure.
    pub(in crate::trace) fn words(&self) -> usize {
        if self.kind == Kind::System { system::WORDS } else { self.touches.iter().flatten().count() }
    }

    /// Calls `each` with each address that the instruction accesses. The caller calls this method before the
    /// instruction is executed.
    pub(in crate::trace) fn addresses(&self, registers: &Registers<'_>, mut each: impl FnMut(u64)) {
        if self.kind == Kind::System {
            return system::words(registers, each);
        }
        for touch in self.touches.iter().flatten() {
            each(match *touch {
                Touch::Offset { base, by } => registers.base(base.into()).wrapping_add_signed(by.into()),
                Touch::Index { base, index, option, shift } => {
                    let index = extended(registers.general(index.into()), option);
                    registers.base(base.into()).wrapping_add(index << shift)
                }
                Touch::Register(number) | Touch::Length(number) => registers.general(number.into()),
            });
        }
    }

    /// Returns whether a word that [`Self::addresses`] passes to its closure is an address.
    pub(in crate::trace) fn is_address(&self, word: usize) -> bool {
        matches!(self.touches.get(word), Some(Some(touch)) if !matches!(touch, Touch::Length(_)))
    }
}

fn extended(index: u64, option: u8) -> u64 {
    match option {
        2 => u64::from(index as u32),
        6 => i64::from(index as i32).cast_unsigned(),
        _ => index,
    }
}

impl Source {
    pub(in crate::trace) fn words(self) -> usize {
        match self {
            Self::General { .. } => 1,
            Self::Vector { bytes, .. } => usize::from(bytes).div_ceil(8),
        }
    }

    /// Returns one word of the operand.
    pub(in crate::trace) fn word(self, registers: &Registers<'_>, index: usize) -> u64 {
        let (word, bytes) = match self {
            Self::General { number, bytes } => (registers.general(number.into()), bytes),
            Self::Vector { number, bytes } => (registers.vector(number.into(), index), bytes),
        };
        if bytes < 8 { word & ((1 << (bytes * 8)) - 1) } else { word }
    }
}

/// Decodes instructions for the recorder.
pub(in crate::trace) struct Decoder;

impl Decoder {
    pub(in crate::trace) fn new() -> Self {
        Self
    }

    /// Decodes an instruction, and also returns the instruction's length.
    #[expect(clippy::unused_self, reason = "on x86-64, the decoder has tables")]
    pub(in crate::trace) fn decode(&mut self, address: u64) -> (Decoded, usize) {
        (decode(word(address)), 4)
    }
}

/// Returns the instruction at `address`. The processor has already executed this instruction, or executes it next.
pub(super) fn word(address: u64) -> u32 {
    let (bytes, _) = code(address, false);
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Returns whether the instruction at `address` accesses memory under a mask. Only instructions of SVE do.
pub(in crate::trace) fn is_masked(_address: u64) -> bool {
    false
}

fn field(code: u32, low: u32, width: u32) -> u32 {
    code >> low & ((1 << width) - 1)
}

fn register(code: u32, low: u32) -> u8 {
    field(code, low, 5) as u8
}

fn signed(code: u32, low: u32, width: u32) -> i32 {
    let unused = 32 - width;
    (field(code, low, width) << unused).cast_signed() >> unused
}

fn decode(code: u32) -> Decoded {
    match field(code, 25, 4) {
        // `udf`, which ends the process.
        0 if code >> 16 == 0 => Decoded::PLAIN,
        // Computations with general registers and with vector registers.
        0b1000 | 0b1001 | 0b0101 | 0b1101 | 0b0111 | 0b1111 => {
            let kind = match code {
                _ if code == mark(START_MARK) => Kind::Start,
                _ if code == mark(STOP_MARK) => Kind::Stop,
                _ => Kind::Plain,
            };
            Decoded { kind, latency: latency(code), ..Decoded::PLAIN }
        }
        0b1010 | 0b1011 => match code >> 24 {
            0xd4 => exception(code),
            0xd5 => processor_state(code),
            // Jumps and calls.
            _ => Decoded::PLAIN,
        },
        0b0100 | 0b0110 | 0b1100 | 0b1110 => access(code).unwrap_or(Decoded::OTHER),
        _ => Decoded::OTHER,
    }
}

/// Returns the mark instruction with this number.
const fn mark(number: u32) -> u32 {
    0xd280_001f | number << 5
}

/// Only system calls are supported, no breakpoints and no calls of a debugger.
fn exception(code: u32) -> Decoded {
    Decoded { kind: if code & 0xffe0_001f == 0xd400_0001 { Kind::System } else { Kind::Other }, ..Decoded::PLAIN }
}

/// Hints, barriers, and registers of the processor's state.
fn processor_state(code: u32) -> Decoded {
    /// `nzcv`, `dit`, `ssbs`, `tco`, `fpcr`, `fpsr`, `fpmr`, `tpidr_el0` and `tpidr2_el0`.
    const WRITABLE: [u32; 9] = [0xda10, 0xda15, 0xda16, 0xda17, 0xda20, 0xda21, 0xda22, 0xde82, 0xde85];
    /// Counters of time, random numbers, and counters of events.
    const VARYING: [u32; 8] = [0xdf01, 0xdf02, 0xdf05, 0xdf06, 0xd920, 0xd921, 0xdce8, 0xdcea];
    /// `dc zva`, `dc cvau`, `dc cvac`, `dc cvap`, `dc cvadp`, `dc civac` and `ic ivau`.
    const LINES: [u32; 7] = [0x1ba1, 0x1bd9, 0x1bd1, 0x1be1, 0x1be9, 0x1bf1, 0x1ba9];
    let (loads, name, operation) = (field(code, 21, 1) == 1, field(code, 5, 16), field(code, 5, 3));
    match code {
        // Hints, and barriers with `clrex`. The barrier with number 3 ends a transaction.
        _ if code & 0xffff_f01f == 0xd503_201f => Decoded::PLAIN,
        _ if code & 0xffff_f01f == 0xd503_301f && operation != 3 => Decoded::PLAIN,
        // Flags of the state, by number: operations on the condition flags, and `ssbs`, `dit`, `tco`.
        _ if code & 0xfff8_f01f == 0xd500_401f => match (field(code, 16, 3), operation) {
            (0, 0..=2) | (3, 1 | 2 | 4) => Decoded::PLAIN,
            _ => Decoded::OTHER,
        },
        // Operations on cache lines.
        _ if field(code, 19, 5) == 1 && !loads && LINES.contains(&field(code, 5, 14)) => {
            Decoded::at(Touch::Register(register(code, 0)))
        }
        _ if field(code, 20, 4) == 3 && loads => {
            let events = (0xdf40..0xdf60).contains(&name);
            Decoded { varies: VARYING.contains(&name) || events, ..Decoded::PLAIN }
        }
        _ if field(code, 20, 4) == 1 && !loads && WRITABLE.contains(&name) => Decoded::PLAIN,
        _ => Decoded::OTHER,
    }
}

/// Loads and stores. Returns `None` for instructions without an entry.
fn access(code: u32) -> Option<Decoded> {
    let (vector, base, size) = (field(code, 26, 1) == 1, register(code, 5), field(code, 30, 2));
    let at = |by: i32| Some(Decoded::at(Touch::Offset { base, by }));
    let scale = |operation: u32| if vector && operation & 2 != 0 { 4 } else { size };
    match field(code, 24, 6) {
        // Exclusive and ordered accesses, and `cas`.
        0b00_1000 => at(0),
        // `ld1` to `ld4` and `st1` to `st4`, of whole registers and of single elements.
        0b00_1100 if field(code, 31, 1) == 0 && field(code, 21, 1) == 0 => at(0),
        0b00_1101 if field(code, 31, 1) == 0 => at(0),
        // The address is always the same distance away from the instruction.
        0b01_1000 | 0b01_1100 => Some(Decoded::PLAIN),
        // Ordered accesses with an offset.
        0b01_1001 if field(code, 21, 1) == 0 && field(code, 10, 2) == 0 => at(signed(code, 12, 9)),
        // `cpy` and `set`, the instructions that copy and fill memory.
        0b01_1001 | 0b01_1101 if size == 0 && field(code, 21, 1) == 0 && field(code, 10, 2) == 1 => {
            let (to, length) = (Touch::Register(register(code, 0)), Touch::Length(base));
            let from = (field(code, 22, 2) != 3).then_some(Touch::Register(register(code, 16)));
            Some(Decoded { touches: [Some(to), Some(length), from], ..Decoded::PLAIN })
        }
        0b10_1000 | 0b10_1001 | 0b10_1100 | 0b10_1101 => {
            let width = match (vector, size) {
                (_, 3) => return None,
                (true, size) => 4 << size,
                // `ldpsw` is a load only: the store, and the forms without an entry, belong to other instructions.
                (false, 1) if field(code, 22, 1) == 0 || field(code, 23, 2) == 0 => return None,
                (false, 1) => 4,
                (false, size) => 4 << (size / 2),
            };
            let offset = signed(code, 15, 7) * width;
            at(if field(code, 23, 2) == 1 { 0 } else { offset })
        }
        0b11_1000 | 0b11_1100 => match (field(code, 21, 1), field(code, 10, 2)) {
            // The base register moves after the access.
            (0, 1) => at(0),
            (0, _) => at(signed(code, 12, 9)),
            // Atomic operations.
            (1, 0) => at(0),
            // A prefetch of a range, whose second register is no index.
            (1, 2) if !vector && size == 3 && field(code, 22, 2) == 2 && field(code, 3, 2) == 3 => None,
            (1, 2) => {
                let option = field(code, 13, 3) as u8;
                let shift = if field(code, 12, 1) == 1 { scale(field(code, 22, 2)) as u8 } else { 0 };
                Some(Decoded::at(Touch::Index { base, index: register(code, 16), option, shift }))
            }
            // The address depends on a key for the authentication of pointers.
            _ => None,
        },
        0b11_1001 | 0b11_1101 => at((field(code, 10, 12) << scale(field(code, 22, 2))).cast_signed()),
        _ => None,
    }
}

/// Returns the operands that affect the instruction's time on current processors, or `None` if the time is constant.
fn latency(code: u32) -> Option<[Option<Source>; 2]> {
    let vector = |low, bytes| Some(Source::Vector { number: register(code, low), bytes });
    let scalar = [4, 8, 0, 2][field(code, 22, 2) as usize];
    let whole = if field(code, 30, 1) == 1 { 16 } else { 8 };
    match code {
        // `udiv` and `sdiv`.
        _ if code & 0x7fe0_f800 == 0x1ac0_0800 => {
            let bytes = if field(code, 31, 1) == 1 { 8 } else { 4 };
            Some([5, 16].map(|low| Some(Source::General { number: register(code, low), bytes })))
        }
        // `fdiv` and `fsqrt` of one number.
        _ if code & 0xff20_fc00 == 0x1e20_1800 => Some([vector(5, scalar), vector(16, scalar)]),
        _ if code & 0xff3f_fc00 == 0x1e21_c000 => Some([vector(5, scalar), None]),
        // `fdiv` and `fsqrt` of all elements of a vector.
        _ if code & 0xbfa0_fc00 == 0x2e20_fc00 || code & 0xbfe0_fc00 == 0x2e40_3c00 => {
            Some([vector(5, whole), vector(16, whole)])
        }
        _ if code & 0xbfbf_fc00 == 0x2ea1_f800 || code & 0xbfff_fc00 == 0x2ef9_f800 => Some([vector(5, whole), None]),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
