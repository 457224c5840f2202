//! Memory operands: their addresses, and whether the bytes at an address are secret.

use super::image::Image;
use super::instruction::{Address, Index, Operand, Size};
use super::state::State;
use super::value::Value;

pub(crate) fn address(state: &State, address: Address) -> Value {
    match address {
        Address::Foreign => Value::Static,
        Address::Object(at) => Value::Address(at),
        Address::Sum { base, index, displacement } => {
            let index = match index {
                Index::None => Value::Number(0),
                Index::Unknown => Value::Unknown,
                Index::Register(register, scale) => match state.value(register) {
                    Value::Number(n) => Value::Number(n.wrapping_mul(u64::from(scale))),
                    value if scale == 1 => value,
                    value => value.blur(Value::Unknown),
                },
            };
            base.map_or(Value::Number(0), |base| state.value(base)).plus(displacement).sum(index)
        }
    }
}

pub(crate) fn is_read_secret(state: &State, address: Value, extent: Extent) -> bool {
    let len = if let Extent::Bytes(len) = extent { len } else { 0 };
    match address {
        Value::Stack(offset) => !state.stack.is_public(offset, len),
        Value::Either(a, b) => !state.stack.is_public(a, len) || !state.stack.is_public(b, len),
        Value::Within(_) | Value::NearStack(_) | Value::Unknown => true,
        Value::Address(_) | Value::Page(_) | Value::Static | Value::Loaded(_) | Value::Number(_) => false,
    }
}

/// The number of bytes that an access touches.
pub(crate) fn extent(state: &State, size: Size) -> Extent {
    match size {
        Size::Bytes(bytes) => Extent::Bytes(bytes),
        Size::Repeated { bytes, count } => match state.value(count) {
            Value::Number(count @ 1..=0x2000) => Extent::Bytes(bytes * count.cast_signed()),
            _ => Extent::Unbounded,
        },
        Size::Unknown => Extent::Unbounded,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Bytes(i64),
    Unbounded,
}

pub(crate) fn operand(image: &Image, state: &State, operand: Operand) -> Value {
    match operand {
        Operand::Register(register) => state.value(register),
        Operand::Number(number) => Value::Number(number),
        Operand::Loaded(at) => load(image, state, address(state, at)),
        Operand::Foreign => Value::Static,
        Operand::Unknown => Value::Unknown,
    }
}

fn load(image: &Image, state: &State, address: Value) -> Value {
    match address {
        Value::Stack(offset) => state.stack.value(offset),
        Value::Address(address) | Value::Page(address) if image.slot(address).is_some() => Value::Loaded(address),
        _ => Value::Unknown,
    }
}
