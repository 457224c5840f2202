//! Loads and stores of several vector registers, or of single elements: `ld1` to `ld4`, `st1` to `st4`.

use disarm64_defn::{InsnClass as Class, InsnOperandKind as Kind};

use super::arithmetic;
use super::memory::Place;
use super::registers;
use super::word::{self, Word};
use crate::asm::instruction::{Access, Operand, Size, Step, Store};

struct Shape {
    registers: usize,
    /// The number that is part of the name.
    interleaved: usize,
    bytes: i64,
    kind: Elements,
}

#[derive(PartialEq, Eq)]
enum Elements {
    All,
    One,
    /// A load of one element to all elements.
    Repeated,
}

/// Reads the numbers from the instruction word, because the decoder does not distinguish `ld2` from `ld4`.
fn shape(word: &Word) -> Option<Shape> {
    match word.class()? {
        Class::ASISDLSE | Class::ASISDLSEP => {
            let (registers, interleaved) = match word.field(12, 4) {
                0 => (4, 4),
                2 => (4, 1),
                4 => (3, 3),
                6 => (3, 1),
                7 => (1, 1),
                8 => (2, 2),
                10 => (2, 1),
                _ => return None,
            };
            let bytes = registers as i64 * if word.bit(30) { 16 } else { 8 };
            Some(Shape { registers, interleaved, bytes, kind: Elements::All })
        }
        Class::ASISDLSO | Class::ASISDLSOP => {
            let registers = (word.field(13, 1) << 1 | word.field(21, 1)) + 1;
            let (kind, size) = match word.field(14, 2) {
                3 => (Elements::Repeated, 1 << word.field(10, 2)),
                2 if word.bit(10) => (Elements::One, 8),
                size => (Elements::One, 1 << size),
            };
            Some(Shape { registers, interleaved: registers, bytes: registers as i64 * size, kind })
        }
        _ => None,
    }
}

fn is_load(word: &Word) -> bool {
    word.bit(22)
}

/// The name of the instruction, such as `ld2` or `ld4r`.
pub(super) fn name(word: &Word) -> Option<String> {
    let shape = shape(word)?;
    let verb = if is_load(word) { "ld" } else { "st" };
    let suffix = if shape.kind == Elements::Repeated { "r" } else { "" };
    Some(format!("{verb}{}{suffix}", shape.interleaved))
}

/// Returns `None` if the instruction is no such access.
pub(super) fn steps(word: &Word) -> Option<Vec<Step>> {
    let shape = shape(word)?;
    let base = word::base(word);
    let mut place = Place::at(base, 0);
    match word.operands() {
        [Kind::LVt | Kind::LVt_AL | Kind::LEt, Kind::SIMD_ADDR_SIMPLE] => {}
        [Kind::LVt | Kind::LVt_AL | Kind::LEt, Kind::SIMD_ADDR_POST] => {
            place.moved = Some(match registers::or_zero(word.field(16, 5)) {
                Some(by) => (base, Operand::Register(by), by.parts),
                None => (base, Operand::Number(shape.bytes.cast_unsigned()), 0),
            });
        }
        _ => return None,
    }
    let first = word.field(0, 5);
    let vectors = word::list(first, shape.registers);
    let load = is_load(word);
    let access = Access {
        address: place.address,
        size: Size::Bytes(shape.bytes),
        reads: load,
        store: (!load).then(Store::default),
    };
    let written = |number: usize| arithmetic::vector(registers::vector(number % 32));
    let mut steps = vec![Step {
        // A load of one element keeps the other elements.
        reads: if !load || shape.kind == Elements::One { vectors } else { 0 },
        addressing: place.addressing,
        accesses: vec![access],
        writes: if load { (first..first + shape.registers).map(written).collect() } else { Vec::new() },
        ..Step::default()
    }];
    steps.extend(place.last_step());
    Some(steps)
}
