//! Tests that traces on AArch64 contain every address and every operand that affects the time.
#![cfg(all(feature = "trace", target_arch = "aarch64", target_os = "linux"))]
#![allow(unsafe_code, clippy::print_stderr)]

use std::arch::asm;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::traced::{impossible, inputs, reason, sink, traced};
use deadpan_lab::trace::{self, control};

#[test]
fn each_control_is_caught_by_the_layer_that_must_catch_it() {
    let results = trace::controls();
    let ran = results.iter().filter(|result| result.passed().is_some()).count();
    assert_eq!(ran, if impossible() { 0 } else { 6 }, "{results:?}");
    for result in results {
        eprintln!("{} ({}): {:?} {}", result.name, result.layer, result.caught, result.detail);
        assert_ne!(result.passed(), Some(false), "{result:?}");
    }
}

#[test]
fn a_divergence_names_the_function_and_the_line() {
    if impossible() {
        return;
    }
    let inputs: Vec<Vec<u8>> =
        (0..8).map(|index| (0..32).map(|place| u8::from(place == 16 + index)).collect()).collect();
    let found = trace::compare(&inputs, &mut |input| sink(control::early_exit(input)));
    let text = trace::leaks(&found).expect("an early exit");
    assert!(!found.equal && text.contains("early_exit") && text.contains("src/taint/control.rs:"), "{text}");
    assert!(text.contains(": the first ") && !text.contains("0x"), "{text}");

    let found = trace::compare(&inputs, &mut |input| sink(control::lookup(input[16])));
    let text = trace::leaks(&found).expect("a secret index");
    assert!(text.contains("lookup") && text.contains("`ldrb ") && text.ends_with(", 1 byte apart"), "{text}");
}

#[test]
fn a_division_by_a_secret_is_found_with_equal_traces() {
    if impossible() {
        return;
    }
    let found = trace::compare(&inputs(8), &mut |input| sink(control::divide(input)));
    let text = trace::leaks(&found).expect("a division");
    assert!(found.equal && text.starts_with("the operands of `udiv` in "), "{text}");
    let public = trace::compare(&inputs(8), &mut |_| sink(control::divide(&[3; 8])));
    assert_eq!(trace::leaks(&public), None);
    assert!(public.variable_latency.iter().any(|slow| slow.instruction == "udiv" && !slow.secret), "{public:?}");

    let divide = |input: &mut [u8]| sink(black_box(1.0) / black_box(f64::from(input[0]) + 1.5));
    let found = trace::compare(&inputs(8), &mut { divide });
    assert!(found.equal && trace::leaks(&found).is_some_and(|text| text.contains("`fdiv`")), "{found:?}");
    let root = |input: &mut [u8]| sink(black_box(f32::from(input[0])).sqrt());
    let found = trace::compare(&inputs(8), &mut { root });
    assert!(found.equal && trace::leaks(&found).is_some_and(|text| text.contains("`fsqrt`")), "{found:?}");
}

/// Code with two arguments: a secret below 64 in `x0`, and the address of 4096 bytes in `x1`.
type Case = (&'static str, fn(u64, *mut u8));

macro_rules! cases {
    ($($name:literal: $($line:literal),+;)*) => {
        [$(($name, |secret, memory| {
            // SAFETY: the code accesses only the 4096 bytes at `memory`, which the caller owns, or its own stack, and
            // restores the stack pointer.
            unsafe {
                asm!(
                    ".arch_extension lse", $($line),+,
                    inout("x0") secret => _, inout("x1") memory => _, out("x2") _, out("x3") _, out("x4") _,
                    out("x5") _, out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                );
            }
        }),)*]
    };
}

/// Each case accesses memory at an address that depends on the secret.
#[test]
fn every_kind_of_address_is_traced() {
    if impossible() {
        return;
    }
    let cases: &[Case] = &cases! {
        "index": "ldrb w2, [x1, x0]";
        "scaled index": "ldr x2, [x1, x0, lsl #3]";
        "index of 32 bits": "ldr w2, [x1, w0, uxtw #2]";
        "signed index": "add x3, x1, 2048", "sub w2, wzr, w0", "ldrb w2, [x3, w2, sxtw]";
        "vector by index": "ldr q0, [x1, x0, lsl #4]";
        "before": "add x1, x1, x0", "ldr x2, [x1, #8]!";
        "after": "add x1, x1, x0, lsl #3", "str x2, [x1], #8";
        "pair": "add x1, x1, x0, lsl #3", "ldp x2, x3, [x1, #16]";
        "stack": "sub sp, sp, #1024", "mov x3, sp", "add x2, sp, x0, lsl #4", "mov sp, x2", "stp x0, x1, [sp]",
            "mov sp, x3", "add sp, sp, #1024";
        "structures": "add x1, x1, x0", "ld4 {{v0.16b, v1.16b, v2.16b, v3.16b}}, [x1]";
        "element": "add x1, x1, x0", "st1 {{v0.b}}[3], [x1], #1";
        "repeated": "add x1, x1, x0", "ld1r {{v0.4s}}, [x1]";
        "exclusive": "add x1, x1, x0, lsl #3", "ldxr x2, [x1]", "stxr w3, x2, [x1]";
        "ordered": "add x1, x1, x0, lsl #3", "ldar x2, [x1]", "stlr x2, [x1]";
        "compare and swap": "add x1, x1, x0, lsl #3", "mov x2, 0", "casal x2, x3, [x1]";
        "addition": "add x1, x1, x0, lsl #3", "ldaddal x2, x3, [x1]";
        "prefetch": "add x1, x1, x0, lsl #6", "prfm pldl1keep, [x1]";
        "zeroes": "and x0, x0, #1", "add x1, x1, #2047", "and x1, x1, #-2048", "add x1, x1, x0, lsl #8", "dc zva, x1";
        "cache line": "add x1, x1, x0, lsl #4", "dc cvac, x1";
        "unprivileged": "add x1, x1, x0", "ldtrb w2, [x1]";
    };
    let secrets: Vec<Vec<u8>> = (0..8).map(|index| vec![index * 7 + 1]).collect();
    let mut memory = vec![0_u8; 4096];
    for (name, case) in cases {
        let mut trace = |public: Option<u64>| {
            trace::compare(&secrets, &mut |input| case(public.unwrap_or(input[0].into()), memory.as_mut_ptr()))
        };
        let found = trace(None);
        assert!(found.divergence.is_some() && found.skipped.is_none(), "{name}: {found:?}");
        let found = trace(Some(3));
        assert_eq!((found.equal, &found.skipped), (true, &None), "{name}: {found:?}");
    }
}

/// The two addresses that the code reads are as far apart as the two secrets.
#[test]
fn every_address_register_is_read() {
    macro_rules! registers {
        ($($register:literal),+) => {
            [$(($register, (|secret, memory| {
                // SAFETY: the code reads one of the 64 bytes that the caller owns, and restores the register.
                unsafe {
                    asm!(
                        concat!("str ", $register, ", [sp, #-16]!"), concat!("add ", $register, ", x2, x1"),
                        concat!("ldrb w0, [", $register, "]"), concat!("ldr ", $register, ", [sp], #16"),
                        in("x1") secret, in("x2") memory, out("x0") _,
                    );
                }
            }) as fn(u64, *const u8))),+]
        };
    }
    if impossible() {
        return;
    }
    let cases = registers!(
        "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
        "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30"
    );
    for (name, case) in cases {
        let memory = [0; 64];
        let found = trace::compare(&[vec![3], vec![40]], &mut |input| case(input[0].into(), memory.as_ptr()));
        assert!(trace::leaks(&found).is_some_and(|text| text.ends_with(" 37 bytes apart")), "{name}: {found:?}");
    }
}

/// A plain single step would make each exclusive store fail, so these loops would never end. The results show that the
/// lab carries out the instructions as a processor does.
#[test]
fn loops_with_exclusive_stores_end_with_the_right_result() {
    if impossible() {
        return;
    }
    #[repr(align(16))]
    struct Words([u64; 4]);
    let add = |input: &mut [u8]| {
        let mut words = Words([u64::from(input[0]), !0, 7, 8]);
        // SAFETY: the code changes only the four words.
        unsafe {
            asm!(
                "1:", "ldaxr x2, [x0]", "add x2, x2, #5", "stlxr w3, x2, [x0]", "cbnz w3, 1b",
                "add x4, x0, #8", "2:", "ldxrb w2, [x4]", "add w2, w2, #2", "stxrb w3, w2, [x4]", "cbnz w3, 2b",
                "add x4, x0, #16",
                "3:", "ldxp x2, x5, [x4]", "add x2, x2, x5", "add x5, x5, #1", "stxp w3, x2, x5, [x4]", "cbnz w3, 3b",
                inout("x0") &raw mut words => _, out("x2") _, out("x3") _, out("x4") _, out("x5") _,
            );
        }
        assert_eq!(words.0, [u64::from(input[0]) + 5, 0xffff_ffff_ffff_ff01, 15, 9]);
    };
    let found = trace::compare(&inputs(8), &mut { add });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");

    // A store without a load, after `clrex`, or to another address fails.
    let fail = |_: &mut [u8]| {
        let mut words = Words([1, 2, 3, 4]);
        let failed: u64;
        // SAFETY: the code changes at most the four words.
        unsafe {
            asm!(
                "clrex", "stxr w2, x0, [x0]", "ldxr x4, [x0]", "clrex", "stxr w3, x0, [x0]", "add x2, x2, x3",
                "ldxr x4, [x0]", "add x5, x0, #16", "stxr w3, x0, [x5]", "add x2, x2, x3",
                inout("x0") &raw mut words => _, out("x2") failed, out("x3") _, out("x4") _, out("x5") _,
            );
        }
        assert_eq!((failed, words.0), (3, [1, 2, 3, 4]));
    };
    let found = trace::compare(&inputs(8), &mut { fail });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");

    let counter = AtomicUsize::new(0);
    let found = trace::compare(&inputs(8), &mut |_| assert_eq!(counter.fetch_add(3, Ordering::SeqCst) % 3, 0));
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}

/// The instruction after a system call is traced too, and a system call's arguments are compared.
#[test]
fn system_calls_are_compared() {
    if impossible() {
        return;
    }
    let after = |input: &mut [u8]| {
        // SAFETY: the system call only returns the number of a group of users.
        unsafe {
            asm!(
                "mov x8, #176", "svc #0", "ldrb w2, [x1, x3]",
                in("x1") [0_u8; 256].as_ptr(), in("x3") u64::from(input[0]), out("x0") _, out("x2") _, out("x8") _,
            );
        }
    };
    let text = trace::leaks(&trace::compare(&inputs(8), &mut { after })).expect("a secret index");
    assert!(text.contains("`ldrb "), "{text}");

    // SAFETY: the calls only fail.
    let sleep = |input: &mut [u8]| sink(unsafe { libc::lseek(-1, i64::from(input[0]), 0) });
    let text = trace::leaks(&trace::compare(&inputs(8), &mut { sleep })).expect("a secret argument");
    assert!(text.contains("whose argument 2 of system call 62 is"), "{text}");
    let path = |input: &mut [u8]| {
        let name = [b'/', b'a' + input[0] % 26, 0];
        // SAFETY: the path ends with a zero byte.
        sink(unsafe { libc::access(name.as_ptr().cast(), 0) });
    };
    let text = trace::leaks(&trace::compare(&inputs(8), &mut { path })).expect("a secret path");
    assert!(text.contains("different times, lengths or paths to system call"), "{text}");
}

#[test]
fn a_function_that_a_trace_cannot_follow_is_skipped_with_a_reason() {
    if impossible() {
        return;
    }
    // SAFETY: the breakpoint is never reached outside of a traced call, and no trace executes it.
    let text = reason(|_| sink(traced().then(|| unsafe { asm!("brk #1") })));
    assert!(text.starts_with("a trace cannot follow `brk ") && text.contains("trace_aarch64"), "{text}");
    // SAFETY: no trace executes the instruction of SVE, which may not exist.
    let text = reason(|_| sink(traced().then(|| unsafe { asm!(".inst 0xa400a000", out("v0") _) })));
    assert!(text.starts_with("a trace cannot follow `ld1b "), "{text}");
}

#[test]
fn only_the_part_between_marks_is_compared() {
    if impossible() {
        return;
    }
    let around = |input: &mut [u8]| {
        sink(control::early_exit(input));
        trace::start();
        sink(control::equal(input));
        trace::stop();
        sink(control::lookup(input[0]));
    };
    let found = trace::compare(&inputs(64), &mut { around });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
    assert_eq!(found.notes, ["marks in the code limit the comparison to a part of the call"]);
}

#[test]
fn a_function_whose_traces_differ_for_one_input_is_skipped() {
    if impossible() {
        return;
    }
    let text = reason(|_| {
        let time: u64;
        // SAFETY: every program may read the counter.
        unsafe { asm!("mrs {}, cntvct_el0", out(reg) time) };
        (0..8).for_each(|part| sink(control::lookup((time >> (part * 4)) as u8)));
    });
    assert!(text.starts_with("the same input gives traces that differ "), "{text}");
    let found = trace::compare(&inputs(300), &mut |input| sink(control::copy(&[&*input, &[0; 100]].concat())));
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}
