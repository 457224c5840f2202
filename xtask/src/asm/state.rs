//! The CPU's state at one instruction: which registers, flags and stack bytes may hold a secret.

use iced_x86::Register;

use super::stack::Stack;
use super::value::Value;

/// One bit for each part of a register that can be secret on its own.
///
/// The low byte of a general-purpose register has its own bit, because `setcc` writes only that byte. The low 16 bytes
/// of a vector register have their own bit, because SSE writes only those bytes.
pub(crate) type Parts = u128;

const LOW_BYTE: u32 = 0;
const REST: u32 = 16;
const LOW_VECTOR: u32 = 32;
const HIGH_VECTOR: u32 = 64;
const MASK: u32 = 96;
const X87: u32 = 104;

pub(crate) const ALL_FLAGS: u32 = iced_x86::RflagsBits::OF
    | iced_x86::RflagsBits::SF
    | iced_x86::RflagsBits::ZF
    | iced_x86::RflagsBits::AF
    | iced_x86::RflagsBits::CF
    | iced_x86::RflagsBits::PF;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) secret: Parts,
    pub(crate) flags: u32,
    pub(crate) values: [Value; 16],
    pub(crate) stack: Stack,
}

impl State {
    /// The state at a function's entry. The whole state is public until the caller of this function marks the secret
    /// arguments.
    pub(crate) fn at_entry() -> Self {
        let mut state = Self { secret: 0, flags: 0, values: [Value::Unknown; 16], stack: Stack::at_entry() };
        state.set_value(Register::RSP, Value::Stack(0));
        state
    }

    pub(crate) fn is_secret(&self, register: Register) -> bool {
        self.secret & parts(register) != 0
    }

    pub(crate) fn mark(&mut self, register: Register, secret: bool) {
        if secret {
            self.secret |= parts(register);
        } else {
            self.secret &= !parts(register);
        }
    }

    pub(crate) fn value(&self, register: Register) -> Value {
        gpr_index(register).map_or(Value::Unknown, |index| self.values[index])
    }

    pub(crate) fn set_value(&mut self, register: Register, value: Value) {
        if let Some(index) = gpr_index(register) {
            self.values[index] = value;
        }
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

    /// The state in which a callee starts if its return address lies at `by`.
    pub(crate) fn enter(&self, by: i64) -> Self {
        let values = self.values.map(|value| value.shift(by));
        let mut state = Self { secret: self.secret, flags: 0, values, stack: self.stack.enter(by) };
        // The call has pushed the return address. The stack offsets of a callee are relative to the position of this
        // return address.
        state.set_value(Register::RSP, Value::Stack(0));
        state
    }

    /// The state after the callee's return. The ABI guarantees that the callee restored some registers. The audit uses
    /// this guarantee, because it is more precise than the pushes and pops that the audit followed.
    pub(crate) fn leave(&self, by: i64, caller: &Self) -> Self {
        let mut after = Self {
            secret: self.secret,
            flags: self.flags,
            values: self.values.map(|value| value.shift(-by)),
            stack: self.stack.leave(by),
        };
        for register in CALLEE_SAVED {
            after.secret = after.secret & !parts(register) | caller.secret & parts(register);
            after.set_value(register, caller.value(register));
        }
        after
    }
}

pub(crate) const CALLEE_SAVED: [Register; 7] =
    [Register::RBX, Register::RBP, Register::RSP, Register::R12, Register::R13, Register::R14, Register::R15];

/// The integer arguments of the System V ABI, in order.
pub(crate) const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

pub(crate) fn gpr_index(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register().number())
}

/// The bits of all parts of this register that an instruction may read.
pub(crate) fn parts(register: Register) -> Parts {
    let bit = |group: u32, number: usize| 1u128 << (group as usize + number);
    let number = register.full_register().number();
    if is_high_byte(register) {
        bit(REST, number)
    } else if register.is_gpr8() {
        bit(LOW_BYTE, number)
    } else if register.is_gpr() {
        bit(LOW_BYTE, number) | bit(REST, number)
    } else if register.is_xmm() {
        bit(LOW_VECTOR, number)
    } else if register.is_vector_register() {
        bit(LOW_VECTOR, number) | bit(HIGH_VECTOR, number)
    } else if register.is_k() {
        bit(MASK, register.number())
    } else if register.is_mm() || register.is_st() {
        // The MMX registers are other names for the x87 registers.
        bit(X87, register.number())
    } else {
        0
    }
}

/// The parts that a write to this register leaves unchanged although they share a bit with changed parts.
pub(crate) fn kept_parts(register: Register) -> Parts {
    if is_high_byte(register) || register.is_gpr16() {
        parts(register.full_register()) & !(0xffff << LOW_BYTE)
    } else {
        0
    }
}

fn is_high_byte(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}
