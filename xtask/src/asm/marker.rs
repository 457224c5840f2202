//! Declassification. With the instructions of a client request, `deadpan_ct` informs Valgrind that a value has become
//! public. The audit recognizes the same instructions, which Valgrind also recognizes by their bytes.

use super::machine::Machine;
use super::state::State;
use super::value::Value;

/// Memcheck's request that declares memory undefined. Tests mark secrets with this request.
const MAKE_MEM_UNDEFINED: u64 = 0x4d43_0001;

/// Applies a request. A request has six words. The first word is the number of the request, the second word is the
/// address, and the third word is the length.
///
/// If these words are not known, the whole frame becomes public until the code stores to the frame again. Memory
/// outside the stack always stays secret.
pub(crate) fn apply(state: &mut State, machine: &Machine) {
    let (place, answer) = machine.request;
    let mut words = [Value::Unknown; 3];
    if let Value::Stack(request) = state.value(place) {
        words = [0, 8, 16].map(|at| state.stack.value(request + at));
    }
    state.mark(answer, false);
    state.set_value(answer, Value::Unknown);
    let frame = state.value(machine.stack_pointer).stack_floor().unwrap_or(0);
    match words {
        [Value::Number(MAKE_MEM_UNDEFINED), at, _] => state.stack.smear(at),
        [_, Value::Stack(at), Value::Number(len @ 1..=4096)] => state.stack.publish(at, at + len.cast_signed()),
        _ => state.stack.publish(frame - machine.red_zone, 0),
    }
}
