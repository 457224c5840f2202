//! The CPU's state at one instruction: which registers, flags and stack bytes may hold a secret.

use super::instruction::{Parts, Register};
use super::machine::Machine;
use super::stack::Stack;
use super::value::Value;

/// The number of general-purpose registers, with the stack pointer, of the architecture that has most.
const REGISTERS: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) secret: Parts,
    pub(crate) flags: u32,
    pub(crate) values: [Value; REGISTERS],
    pub(crate) stack: Stack,
}

impl State {
    /// The state at a function's entry. The whole state is public until the caller of this function marks the secret
    /// arguments.
    pub(crate) fn at_entry(machine: &Machine) -> Self {
        let mut state = Self { secret: 0, flags: 0, values: [Value::Unknown; REGISTERS], stack: Stack::at_entry() };
        state.set_value(machine.stack_pointer, Value::Stack(0));
        state
    }

    pub(crate) fn is_secret(&self, register: Register) -> bool {
        self.secret & register.parts != 0
    }

    pub(crate) fn mark(&mut self, register: Register, secret: bool) {
        if secret {
            self.secret |= register.parts;
        } else {
            self.secret &= !register.parts;
        }
    }

    pub(crate) fn value(&self, register: Register) -> Value {
        self.values[register.number]
    }

    pub(crate) fn set_value(&mut self, register: Register, value: Value) {
        self.values[register.number] = value;
    }

    /// Joins this state with the state of another path: the result includes all values and secrets that are possible on
    /// either path. Returns true if the state changed.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.secret |= other.secret;
        self.flags |= other.flags;
        for (ours, theirs) in self.values.iter_mut().zip(other.values) {
            *ours = ours.join(theirs);
        }
        self.stack.join(&other.stack);
        *self != before
    }

    /// The state in which a callee starts. Its stack pointer lies at `by`, after the call has pushed a return address
    /// if the architecture does so.
    pub(crate) fn enter(&self, by: i64, machine: &Machine) -> Self {
        let values = self.values.map(|value| value.shift(by));
        let mut state = Self { secret: self.secret, flags: 0, values, stack: self.stack.enter(by) };
        state.set_value(machine.stack_pointer, Value::Stack(0));
        state
    }

    /// The state after the callee's return. The ABI guarantees that the callee restored some registers. The audit uses
    /// this guarantee, because it is more precise than the pushes and pops that the audit followed.
    pub(crate) fn leave(&self, by: i64, caller: &Self, machine: &Machine) -> Self {
        let mut after = Self {
            secret: self.secret & !machine.saved_parts | caller.secret & machine.saved_parts,
            flags: self.flags,
            values: self.values.map(|value| value.shift(-by)),
            stack: self.stack.leave(by),
        };
        for &register in machine.saved {
            after.set_value(register, caller.value(register));
        }
        after
    }

    /// The state after a part of the caller that the compiler moved to a function of its own. The ABI guarantees
    /// nothing about such a part: it loads the registers that the caller must restore, and computes in them.
    pub(crate) fn leave_part(&self, by: i64) -> Self {
        Self {
            secret: self.secret,
            flags: self.flags,
            values: self.values.map(|value| value.shift(-by)),
            stack: self.stack.leave(by),
        }
    }
}
