//! Handles calls that the audit does not follow: the name of the callee determines the known effect of the call.

use super::finding::Reason;
use super::machine::Machine;
use super::stack::Origin;
use super::state::State;
use super::value::Value;

/// The name that the audit gives to the function in a descriptor of thread-local storage.
pub(crate) const THREAD_LOCAL: &str = "<thread-local storage>";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A function that never returns, such as a panic or an abort. The audit checks the jump that leads to the call.
    End,
    /// `memcpy` and `memmove`. The time of both functions depends only on the length and the addresses.
    Copy,
    /// `memset`. The time of `memset` depends only on the length and the address.
    Fill,
    /// A function that allocates or frees memory and has this many arguments. The result is a public pointer.
    Allocator(usize),
    /// A function that detects the features of the CPU.
    Detection,
    /// A function that returns the place of a thread's own data, and changes no other register.
    ThreadLocal,
    /// The function's time depends on the bytes that it reads, so secrets must never be passed to it.
    EarlyExit,
    /// Any other function. The audit follows the function if the object contains its code.
    Other,
}

pub(crate) fn classify(name: &str, imported: bool) -> Callee {
    const ENDS: [&str; 9] = [
        "handle_error",
        "panic",
        "_fail",
        "unwind",
        "abort",
        "handle_alloc_error",
        "expect_failed",
        "unwrap_failed",
        "capacity_overflow",
    ];
    let path = Path::of(name);
    // These functions return, although their names contain words that are typical of functions that never return.
    let returns = ["panic_count", "panicking::panicking", "catch_unwind"].iter().any(|part| path.plain.contains(part));
    if (imported || path.standard) && !returns && ENDS.iter().any(|end| path.plain.contains(end)) {
        return Callee::End;
    }
    // In the test configuration, the project's own CPU detection reads an environment variable.
    let detects = path.plain.starts_with("std_detect") && path.plain.contains("detect_and_initialize");
    if detects || path.plain == "deadpan_ct::cpu::remember" {
        return Callee::Detection;
    }
    if let Some(arguments) = allocator_arguments(name) {
        return Callee::Allocator(arguments);
    }
    match name {
        "memcpy" | "memmove" => Callee::Copy,
        "memset" => Callee::Fill,
        THREAD_LOCAL => Callee::ThreadLocal,
        "memcmp" | "bcmp" | "strlen" | "strcmp" | "strncmp" | "memchr" | "memrchr" | "strchr" => Callee::EarlyExit,
        _ => Callee::Other,
    }
}

/// Whether this is a sequence of instructions that LLVM found in several functions and moved to a function of its own.
/// At the levels s and z, LLVM does so for AArch64.
pub(crate) fn is_outlined(name: &str) -> bool {
    name.starts_with("OUTLINED_FUNCTION_")
}

/// A function's name without its generics, and whether the function belongs to the standard library. The audit assumes
/// that only functions of the standard library can end the program. A function of this project with the name
/// `abort_if_odd` does not end the program, and neither does a generic function over a type with that name.
struct Path {
    plain: String,
    standard: bool,
}

impl Path {
    fn of(name: &str) -> Self {
        let full = format!("{:#}", rustc_demangle::demangle(name));
        let start = full.trim_start_matches(['<', '_']);
        let standard = ["core::", "std::", "alloc::", "rustc::"].iter().any(|root| start.starts_with(root));
        let mut depth = 0;
        let mut plain = String::new();
        for letter in full.chars() {
            match letter {
                '<' => depth += 1,
                '>' => depth -= 1,
                letter if depth == 0 => plain.push(letter),
                _ => {}
            }
        }
        Self { plain, standard }
    }
}

/// The names of Rust's allocation functions begin with a mangled crate name. The names of C's allocation functions have
/// no such beginning.
fn allocator_arguments(name: &str) -> Option<usize> {
    const KNOWN: [(&str, usize); 9] = [
        ("malloc", 1),
        ("free", 1),
        ("calloc", 2),
        ("realloc", 2),
        ("posix_memalign", 3),
        ("alloc", 2),
        ("alloc_zeroed", 2),
        ("dealloc", 3),
        ("realloc", 4),
    ];
    let (c, rust) = KNOWN.split_at(5);
    let find = |table: &[(&str, usize)], name: &str| table.iter().find(|entry| entry.0 == name).map(|entry| entry.1);
    find(c, name).or_else(|| {
        let inner = ["__rust_", "__rdl_", "__rg_"].iter().find_map(|prefix| name.split_once(prefix))?.1;
        find(rust, inner)
    })
}

pub(crate) fn apply(callee: Callee, name: &str, state: &mut State, machine: &Machine) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let arguments = machine.arguments;
    let public = match callee {
        Callee::Copy => &arguments[..3],
        Callee::Fill => &[arguments[0], arguments[2]],
        Callee::Allocator(count) => &arguments[..count],
        _ => &[],
    };
    if public.iter().any(|&register| state.is_secret(register)) {
        reasons.push(Reason::Argument(name.to_owned()));
    }
    match callee {
        Callee::Copy => copy(state, machine),
        Callee::Fill => fill(state, machine),
        Callee::EarlyExit => reasons.push(Reason::Library(name.to_owned())),
        // The first argument of `posix_memalign` points to the place where the function stores the block's address.
        Callee::Allocator(3) if name == "posix_memalign" => {
            if let Value::Stack(result) = state.value(arguments[0]) {
                state.stack.store(result, 8, false, Origin::Spill, None);
            }
        }
        Callee::Other => {
            reasons.push(Reason::CannotFollow(format!("the call of `{name}`")));
            give_away_stack(state, machine);
        }
        _ => {}
    }
    if callee == Callee::ThreadLocal {
        state.mark(machine.result, false);
        state.set_value(machine.result, Value::Unknown);
        return reasons;
    }
    let pointer = state.value(arguments[0]);
    clobber(state, machine);
    match callee {
        Callee::Copy | Callee::Fill => state.set_value(machine.result, pointer),
        Callee::EarlyExit | Callee::Other => state.mark(machine.result, true),
        _ => {}
    }
    reasons
}

/// Assumes that the callee wrote through every argument that points into the stack.
pub(crate) fn give_away_stack(state: &mut State, machine: &Machine) {
    for &register in machine.arguments.iter().chain(&machine.indirect_result) {
        if let Some(floor) = state.value(register).stack_floor() {
            state.stack.smear_reachable(floor);
        }
    }
}

/// Gives unknown values to all registers that the callee may overwrite. These values are public.
pub(crate) fn clobber(state: &mut State, machine: &Machine) {
    let before = state.values;
    state.secret &= machine.saved_parts;
    state.flags = 0;
    state.values.fill(Value::Unknown);
    for &register in machine.saved {
        state.set_value(register, before[register.number]);
    }
}

fn copy(state: &mut State, machine: &Machine) {
    let len = length(state, machine);
    let public = match (state.value(machine.arguments[1]), len) {
        (Value::Stack(from), Some(len)) => state.stack.is_public(from, len),
        (from, _) => from.is_static(),
    };
    overwrite(state, machine, len, !public);
}

fn fill(state: &mut State, machine: &Machine) {
    let len = length(state, machine);
    overwrite(state, machine, len, state.secret & machine.fill != 0);
}

fn overwrite(state: &mut State, machine: &Machine, len: Option<i64>, secret: bool) {
    match (state.value(machine.arguments[0]), len) {
        // If a store would go beyond the end of the frame, the program never runs this path with this length. An
        // example is the code for an incomplete last block, if the input has no such block. For such a store, the audit
        // records no array.
        (Value::Stack(to), Some(len)) if to + len <= state.stack.frame_top(to) => {
            for at in (0..len).step_by(16) {
                state.stack.store(to + at, (len - at).min(16), secret, Origin::Contents, None);
            }
            state.stack.add_array(to, len);
        }
        (to, _) if secret => state.stack.smear(to),
        _ => {}
    }
}

/// The length in the third argument, if it is a known number that is small enough for an analysis byte by byte.
fn length(state: &State, machine: &Machine) -> Option<i64> {
    match state.value(machine.arguments[2]) {
        Value::Number(n @ 0..=0x1_0000) => Some(n.cast_signed()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_the_standard_library_s() {
        for name in [
            "_ZN4core9panicking18panic_bounds_check17h0123456789abcdefE",
            "_ZN4core5slice5index16slice_index_fail17h0123456789abcdefE",
            "_RNvNtCs1234_5alloc7raw_vec12handle_error",
            "_RNvNtCs1234_5alloc5alloc18handle_alloc_error",
        ] {
            assert_eq!(classify(name, false), Callee::End, "{name}");
        }
        for name in [
            "_ZN10deadpan_ct13abort_if_zero17h0123456789abcdefE",
            "deadpan_panic",
            "_ZN3std9panicking11panic_count17is_zero_slow_path17h0123456789abcdefE",
            "_ZN4core3ptr43drop_in_place$LT$deadpan_ct..abort..X$GT$17h0123456789abcdefE",
        ] {
            assert_eq!(classify(name, false), Callee::Other, "{name}");
        }
        assert_eq!(classify("abort", true), Callee::End);
    }

    #[test]
    fn allocation_by_any_name() {
        assert_eq!(classify("free", true), Callee::Allocator(1));
        assert_eq!(classify("_RNvCs1234_7___rustc14___rust_realloc", false), Callee::Allocator(4));
        assert_eq!(classify("_RNvCs1234_7___rustc11___rdl_alloc", false), Callee::Allocator(2));
    }
}
