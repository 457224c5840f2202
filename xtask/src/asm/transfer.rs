//! Applies one instruction to the state, and reports leaks through its operands. `walk` follows calls and jumps.

use std::collections::BTreeSet;

use super::finding::Reason;
use super::image::Image;
use super::instruction::{Destination, Expression, Flow, Instruction, Register, Step};
use super::memory::{self, Extent};
use super::state::State;
use super::store::{self, Stored};
use super::value::Value;

/// Moves the state past `instruction`.
pub(crate) fn step(
    image: &Image,
    variables: &BTreeSet<i64>,
    state: &mut State,
    instruction: &Instruction,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    match instruction.flow {
        Flow::IndirectJump(Destination::Register(target)) | Flow::IndirectCall(Destination::Register(target))
            if state.is_secret(target) =>
        {
            reasons.push(Reason::JumpTarget);
        }
        Flow::Return if image.machine.link.is_some_and(|link| state.is_secret(link)) => {
            reasons.push(Reason::JumpTarget);
        }
        Flow::Unknown => reasons.push(Reason::CannotFollow(format!("the instruction `{}`", instruction.text))),
        _ => {}
    }
    for step in &instruction.steps {
        let operands: Vec<_> = step
            .accesses
            .iter()
            .map(|access| (memory::address(state, access.address), memory::extent(state, access.size)))
            .collect();
        let secret = reads_secret(state, step, &operands);
        check(state, instruction, step, secret, &mut reasons);
        if matches!(instruction.flow, Flow::Next | Flow::ConditionalJump { .. }) {
            apply(image, variables, state, step, &operands, secret);
        }
    }
    reasons
}

fn reads_secret(state: &State, step: &Step, operands: &[(Value, Extent)]) -> bool {
    let from_memory = step
        .accesses
        .iter()
        .zip(operands)
        .any(|(access, &(address, extent))| access.reads && memory::is_read_secret(state, address, extent));
    state.secret & step.reads != 0 || state.flags & step.flags.reads != 0 || from_memory
}

fn check(state: &State, instruction: &Instruction, step: &Step, secret: bool, reasons: &mut Vec<Reason>) {
    // A prefetch reads no data, but its address later shows in the cache, so the audit treats a prefetch as an access.
    if state.secret & step.addressing != 0 {
        reasons.push(Reason::Address);
    }
    if let Some(repeat) = step.repeat
        && (state.secret & repeat.count != 0 || repeat.compares && secret)
    {
        reasons.push(Reason::Repeat);
    }
    if secret && matches!(instruction.flow, Flow::ConditionalJump { .. }) {
        reasons.push(Reason::Jump);
    }
    if secret && step.slow {
        reasons.push(Reason::Division);
    }
}

fn apply(
    image: &Image,
    variables: &BTreeSet<i64>,
    state: &mut State,
    step: &Step,
    operands: &[(Value, Extent)],
    secret: bool,
) {
    if let Some((a, b)) = step.swap {
        swap(state, a, b);
        return;
    }
    let results: Vec<(Register, Value)> =
        step.results.iter().map(|(register, expression)| (*register, result(image, state, expression))).collect();
    let stores: Vec<Option<Stored>> = step
        .accesses
        .iter()
        .map(|access| access.store.as_ref().map(|store| Stored::of(image, state, access, store, variables)))
        .collect();
    for write in &step.writes {
        state.secret &= !write.clears;
        if secret {
            state.secret |= write.sets;
        }
        if let Some(register) = write.register {
            state.set_value(register, state.value(register).blur(Value::Unknown));
        }
    }
    for (register, value) in results {
        state.set_value(register, value);
    }
    state.flags &= !step.flags.clears;
    if secret {
        state.flags |= step.flags.sets;
    }
    for (stored, &(address, extent)) in stores.into_iter().zip(operands) {
        if let Some(stored) = stored {
            store::write(state, address, extent, secret, stored);
        }
    }
}

/// Exchanges two registers. The general rule would make both registers secret if only one of them is secret.
fn swap(state: &mut State, a: Register, b: Register) {
    let before = state.clone();
    for (to, from) in [(a, b), (b, a)] {
        let moved = (before.secret & from.parts) >> from.number << to.number;
        state.secret = state.secret & !to.parts | moved;
        state.set_value(to, before.value(from));
    }
}

fn result(image: &Image, state: &State, expression: &Expression) -> Value {
    let operand = |operand| memory::operand(image, state, operand);
    match *expression {
        Expression::Copy(source) => operand(source),
        Expression::Address(address) => memory::address(state, address),
        Expression::Page(page) => Value::Page(page),
        Expression::Sum(a, b) => operand(a).sum(operand(b)),
        Expression::Difference(a, b) => match (operand(a), operand(b)) {
            (a, Value::Number(n)) => a.plus(n.cast_signed().wrapping_neg()),
            (a, b) => a.blur(b),
        },
        Expression::Either(a, b) => operand(a).join(operand(b)),
        // An `and` aligns the stack. The true address may be higher than the assumed address, by at most the alignment.
        // The new frame and the old frame never overlap.
        Expression::Masked(register, mask) => match state.value(register) {
            stack @ Value::Stack(_) => stack.plus(mask.cast_signed()),
            other => other.blur(Value::Unknown),
        },
        Expression::Replaced { register, mask, bits } => match state.value(register) {
            Value::Number(number) => Value::Number(number & !mask | bits),
            other => other.blur(Value::Unknown),
        },
        Expression::Near(ref registers) => {
            registers.iter().map(|&register| state.value(register)).fold(Value::Unknown, Value::blur)
        }
    }
}
