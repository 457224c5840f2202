//! Stores to the stack: their kinds, and their effect on the stack's state.

use std::collections::BTreeSet;

use super::image::Image;
use super::instruction::{Access, Instruction, Size, Store};
use super::memory::{self, Extent};
use super::stack::Origin;
use super::state::State;
use super::value::Value;

#[derive(Clone, Copy)]
pub(crate) struct Stored {
    conditional: bool,
    origin: Origin,
    value: Option<Value>,
}

impl Stored {
    /// Describes a store. Call this function before the instruction changes any register. If the instruction stores a
    /// number to one of the `variables`, the store is classified as a spilled variable.
    pub(crate) fn of(image: &Image, state: &State, access: &Access, store: &Store, variables: &BTreeSet<i64>) -> Self {
        let value = store.value.map(|operand| memory::operand(image, state, operand));
        let mut origin = store.origin;
        if let (true, Some(Value::Number(number)), Size::Bytes(size)) = (store.counts_numbers, value, access.size) {
            origin = Origin::of_number(number, size as usize);
        }
        if origin == Origin::Number && offset(state, access).is_some_and(|offset| variables.contains(&offset)) {
            origin = Origin::Spill;
        }
        Self { conditional: store.conditional, origin, value }
    }
}

pub(crate) fn write(state: &mut State, address: Value, extent: Extent, secret: bool, stored: Stored) {
    match (address, extent) {
        (Value::Stack(offset), Extent::Bytes(len)) if stored.conditional && len <= 64 => {
            state.stack.store_perhaps(offset, len, secret, stored.origin);
        }
        (Value::Either(a, b), Extent::Bytes(len)) => {
            state.stack.store_perhaps(a, len, secret, stored.origin);
            state.stack.store_perhaps(b, len, secret, stored.origin);
        }
        (Value::Stack(offset), Extent::Bytes(len)) => {
            state.stack.store(offset, len, secret, stored.origin, stored.value);
            // No register has more than 64 bytes. A longer store is `rep stos`, which the compiler emits for a short
            // `memset`.
            if len > 64 {
                state.stack.add_array(offset, len);
            }
        }
        (to, _) if secret => state.stack.smear(to),
        // A public store to other memory changes nothing: the audit treats all other memory as secret.
        _ => {}
    }
}

/// The stack offsets of variables. The instruction moves a whole public register to each of them, or adds or subtracts
/// the register.
pub(crate) fn variables(state: &State, instruction: &Instruction) -> impl Iterator<Item = i64> {
    let accesses = instruction.steps.iter().flat_map(|step| &step.accesses);
    accesses.filter_map(|access| {
        let store = access.store.as_ref()?;
        let register = store.variable?;
        let is_number = store.counts_numbers && matches!(state.value(register), Value::Number(_));
        if state.is_secret(register) || is_number { None } else { offset(state, access) }
    })
}

/// The offset in the function's own frame to which an instruction stores, if this offset is known.
fn offset(state: &State, access: &Access) -> Option<i64> {
    match memory::address(state, access.address) {
        Value::Stack(at) if at < 0 => Some(at),
        _ => None,
    }
}
