//! Tests that the trace finds leaks, raises no false alarms, and reports when it cannot compare.
#![cfg(all(feature = "trace", target_arch = "x86_64", target_os = "linux"))]
#![allow(unsafe_code, clippy::print_stderr)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::mpsc::Sender;

use crate::traced::{inputs, reason, sink};
use deadpan_lab::trace::{self, control};
use deadpan_lab::{Random, Target};

#[test]
fn each_control_is_caught_by_the_layer_that_must_catch_it() {
    let results = trace::controls();
    assert_eq!(results.len(), 9);
    for result in results {
        if result.passed().is_none() {
            crate::skipped(format_args!("{} ({}): {}", result.name, result.layer, result.detail));
            continue;
        }
        eprintln!("{} ({}): {:?} {}", result.name, result.layer, result.caught, result.detail);
        assert_eq!(result.passed(), Some(true), "{result:?}");
    }
}

#[test]
fn a_divergence_names_the_function_and_the_line() {
    let inputs: Vec<Vec<u8>> =
        (0..8).map(|index| (0..32).map(|place| u8::from(place == 16 + index)).collect()).collect();
    let found = trace::compare(&inputs, &mut |input| sink(control::early_exit(input)));
    let text = trace::leaks(&found).expect("an early exit");
    assert!(!found.equal && text.contains("early_exit") && text.contains("src/taint/control.rs:"), "{text}");
    assert!(text.contains(": the first ") && !text.contains("0x"), "{text}");

    let found = trace::compare(&inputs, &mut |input| sink(control::lookup(input[16])));
    let text = trace::leaks(&found).expect("a secret index");
    assert!(
        text.contains("lookup") && text.contains("src/taint/control.rs:") && text.ends_with(", 1 byte apart"),
        "{text}"
    );
}

#[test]
fn a_long_call_is_compared_to_its_end() {
    let late = |input: &mut [u8]| {
        let mut sum = 0_u64;
        for turn in 0..20_000 {
            sum = black_box(sum + turn);
        }
        black_box(control::lookup(input[0]));
    };
    let found = trace::compare(&inputs(8), &mut { late });
    assert!(found.instructions > 60_000, "{found:?}");
    let text = trace::leaks(&found).expect("a secret index");
    assert!(text.contains("lookup"), "{text}");
}

#[test]
fn a_division_by_a_secret_is_found_with_equal_traces() {
    let found = trace::compare(&inputs(8), &mut |input| sink(control::divide(input)));
    assert!(found.equal, "{found:?}");
    let text = trace::leaks(&found).expect("a division");
    assert!(text.starts_with("the operands of `div` in ") && text.contains("src/taint/control.rs:"), "{text}");

    let public = trace::compare(&inputs(8), &mut |_| sink(control::divide(&[3; 8])));
    assert_eq!(trace::leaks(&public), None);
    assert_eq!(
        public
            .variable_latency
            .iter()
            .map(|slow| (slow.instruction.as_str(), slow.count, slow.secret))
            .collect::<Vec<_>>(),
        [("div", 1, false)]
    );
}

#[test]
fn floating_point_division_by_a_secret_is_found() {
    let divide = |input: &mut [u8]| {
        let secret = f64::from(input[0]) + 1.5;
        black_box(black_box(1.0) / black_box(secret));
    };
    let found = trace::compare(&inputs(8), &mut { divide });
    assert!(found.equal && trace::leaks(&found).is_some_and(|text| text.contains("divsd")), "{found:?}");
    let root = |input: &mut [u8]| sink(black_box(f32::from(input[0])).sqrt());
    let found = trace::compare(&inputs(8), &mut { root });
    assert!(found.equal && trace::leaks(&found).is_some_and(|text| text.contains("sqrtss")), "{found:?}");
}

/// Each case accesses memory at an address that depends on the secret in `rax`. The secret is below 64. This address
/// cannot be computed from the instruction's operand alone.
#[test]
fn unusual_memory_operands_are_traced() {
    macro_rules! cases {
        ($($name:literal $(if $feature:tt)?: $($line:literal),+;)*) => {
            [$(($name, true $(&& is_x86_feature_detected!($feature))?, (|secret, memory| {
                // SAFETY: the code accesses only the 4096 bytes at `memory`, which the caller owns. `rbx` is
                // restored.
                unsafe {
                    std::arch::asm!(
                        "mov r8, rbx", "push rdi", $($line),+, "pop rdi", "mov rbx, r8",
                        inout("rax") secret => _, inout("rdi") memory => _, out("rcx") _, out("rsi") _, out("r8") _,
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("k1") _,
                    );
                }
            }) as fn(u64, *mut u8)),)*]
        };
    }
    let cases = cases! {
        "prefetch": "prefetcht0 [rdi + rax]";
        "scaled": "mov ecx, [rdi + rax * 8 + 4]";
        "bit": "shl eax, 5", "bt [rdi], rax";
        "push": "sub rsp, 1024", "mov rcx, rsp", "lea rsp, [rsp + rax * 8]", "push rax", "mov rsp, rcx", "add rsp, \
        1024";
        "string": "lea rsi, [rdi + rax]", "lodsb";
        "repeated": "lea rsi, [rdi + 64]", "mov rcx, rax", "rep movsb";
        "xlat": "lea rbx, [rdi]", "xlatb";
        "masked" if "avx2": "vmovq xmm1, rax", "vpslld xmm1, xmm1, 31", "vpmaskmovd xmm0, xmm1, [rdi]";
        "gather" if "avx2": "vmovq xmm1, rax", "vpcmpeqd xmm2, xmm2, xmm2", "vpgatherdd xmm0, [rdi + xmm1 * 4 + 8], \
        xmm2";
        "gather by half" if "avx2": "vmovq xmm2, rax", "vpsllq xmm2, xmm2, 63", "vpxor xmm1, xmm1, xmm1",
            "vpgatherqq xmm0, [rdi + xmm1], xmm2";
        "mask" if "avx512bw": "kmovq k1, rax", "vmovdqu8 zmm0{{k1}}{{z}}, [rdi]";
        "compress" if "avx512f": "kmovw k1, eax", "vpcompressd [rdi]{{k1}}, zmm0";
        "scatter" if "avx512f": "vpbroadcastd zmm1, eax", "kxnorw k1, k1, k1", "vpscatterdd [rdi + zmm1]{{k1}}, zmm0";
        "high" if "avx512f": "vpbroadcastq zmm17, rax", "kxnorw k1, k1, k1", "vpgatherqq zmm16{{k1}}, [rdi + zmm17]";
    };
    let secrets: Vec<Vec<u8>> = (0..8).map(|index| vec![index * 7 + 1]).collect();
    for (name, possible, case) in cases {
        if !possible {
            crate::skipped(format_args!("{name}: not on this processor"));
            continue;
        }
        let mut memory = vec![0_u8; 4096];
        let mut trace = |public: Option<u64>| {
            trace::compare(&secrets, &mut |input| case(public.unwrap_or(input[0].into()), memory.as_mut_ptr()))
        };
        let found = trace(None);
        if ["masked", "mask", "compress"].contains(&name) {
            // A mask selects bytes at one address. The trace lists a masked access, but does not report it as a leak.
            assert!(found.equal && found.masked.iter().any(|access| access.secret), "{name}: {found:?}");
        } else {
            assert!(found.divergence.is_some() && found.skipped.is_none(), "{name}: {found:?}");
        }
        let found = trace(Some(3));
        assert!(found.equal && !found.masked.iter().any(|access| access.secret), "{name}: {found:?}");
    }
}

/// The decoder reads each register from the right field: the difference of two addresses is equal to the difference of
/// the two secrets.
#[test]
fn every_address_register_is_read() {
    macro_rules! registers {
        ($($register:literal),+) => {
            [$(($register, (|secret, memory| {
                // SAFETY: the code reads one of the 64 bytes that the caller owns, and restores the register.
                unsafe {
                    std::arch::asm!(
                        concat!("push ", $register), concat!("lea ", $register, ", [rdi + rsi]"),
                        concat!("cmp byte ptr [", $register, "], 1"), concat!("pop ", $register),
                        in("rsi") secret, in("rdi") memory,
                    );
                }
            }) as fn(u64, *const u8))),+]
        };
    }
    let cases = registers!(
        "rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"
    );
    for (name, case) in cases {
        let memory = [0; 64];
        let found = trace::compare(&[vec![3], vec![40]], &mut |input| case(input[0].into(), memory.as_ptr()));
        assert!(trace::leaks(&found).is_some_and(|text| text.ends_with(" 37 bytes apart")), "{name}: {found:?}");
    }
}

#[test]
fn instructions_with_512_bit_vectors_are_traced() {
    if !(is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("vaes")) {
        crate::skipped("no AVX-512 with VAES here");
        return;
    }
    let same: Vec<Vec<u8>> = inputs(128).into_iter().map(|half| [half.clone(), half].concat()).collect();
    let found = trace::compare(&same, &mut |input| sink(control::early_exit_512(input)));
    assert!(found.equal && found.instruction_sets.iter().any(|set| set == "AVX512BW"), "{found:?}");

    let mut target = Target::in_place("aes", 64, |input| {
        let _ = control::aes_512(input);
    })
    .class("random", |random, input| random.fill(input))
    .fixed("zeroes", &[0; 64]);
    let found = trace::assert_equal(&mut target, 3);
    assert!(found.equal && found.instruction_sets.iter().any(|set| set == "VAES"), "{found:?}");
    assert_eq!(found.secrets, 8);
}

#[test]
fn addresses_on_the_heap_are_no_divergence() {
    let work = |input: &mut [u8]| {
        let parts: Vec<Vec<u8>> = (1..9).map(|part| control::copy(&[&*input, &[0; 100][..part]].concat())).collect();
        black_box(parts);
    };
    let found = trace::compare(&inputs(3000), &mut { work });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}

#[test]
fn a_function_whose_traces_differ_for_one_input_is_skipped() {
    let found = trace::compare(&inputs(8), &mut |_| {
        // SAFETY: each x86-64 processor has a time-stamp counter.
        let time = unsafe { std::arch::x86_64::_rdtsc() };
        for part in [0, 4, 8, 12, 16, 20, 24] {
            black_box(control::lookup((time >> part) as u8));
        }
    });
    assert!(!found.equal && found.divergence.is_none(), "{found:?}");
    assert!(found.skipped.expect("a reason").starts_with("the same input gives traces that differ "));
    assert!(trace::leaks(&trace::compare(&inputs(8), &mut |_| ())).is_none());
}

/// Before each call, the heap must be restored. Without restoring the heap, an object such as a big number would have
/// another address in each call.
#[test]
fn each_call_starts_with_the_same_memory() {
    let (mut calls, mut kept) = (0_u8, Vec::new());
    let found = trace::compare(&inputs(8), &mut |input| {
        calls += 1;
        black_box(control::lookup(calls));
        kept.push(input[..usize::from(calls) % 7].to_vec());
        kept.push(control::copy(&[1; 700]));
    });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
    assert_eq!((calls, kept.len()), (0, 0), "the function runs in other processes only");
}

#[cfg(feature = "harness")]
const C: &str = r#"
#include <stddef.h>
#include <stdint.h>

static int steady(const uint8_t *a, const uint8_t *b, size_t n) {
    unsigned d = 0;
    for (size_t i = 0; i < n; i++) d |= a[i] ^ b[i];
    return 1 & ((d - 1) >> 8);
}

static int leaky(const uint8_t *a, const uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

#define DEADPAN_TRACE_START() __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 'l', 'a', 'b', '1'" ::: "memory")
#define DEADPAN_TRACE_STOP()  __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 'l', 'a', 'b', '2'" ::: "memory")

int plain(const uint8_t *a, const uint8_t *b, size_t n) { return steady(a, b, n); }

int marked(const uint8_t *a, const uint8_t *b, size_t n) {
    int before = leaky(a, b, n);
    DEADPAN_TRACE_START();
    int result = steady(a, b, n);
    DEADPAN_TRACE_STOP();
    return result + before + leaky(b, a, n);
}
"#;

#[cfg(feature = "harness")]
fn traced_c(level: &str, symbol: &str) -> deadpan_lab::record::Trace {
    let folder = std::env::temp_dir().join(format!("deadpan-lab-trace-{}-{symbol}-{level}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, library) = (folder.join("functions.c"), folder.join("libfunctions.so"));
    std::fs::write(&source, C).expect("a file");
    let mut compiler = std::process::Command::new("cc");
    let built = compiler.args([level, "-g", "-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(built.expect("a C compiler").success());
    let abi = "secret:400,secret:400,len:400->int".parse().expect("an ABI");
    // SAFETY: both C functions take the arguments that `abi` states.
    let target = unsafe { deadpan_lab::foreign::shared_library(&library, symbol, &abi, &[]) };
    let found = trace::target(&mut target.expect("a function"), 1);
    std::fs::remove_dir_all(&folder).expect("a folder");
    found
}

#[test]
#[cfg(feature = "harness")]
fn code_without_optimization_is_named() {
    let found = traced_c("-O0", "plain");
    assert!(found.equal, "{found:?}");
    assert!(found.warning().is_some_and(|text| text.starts_with("NOT OPTIMIZED: ")), "{found:?}");
    for level in ["-O1", "-O2", "-O3"] {
        let found = traced_c(level, "plain");
        assert!(found.equal && found.instructions > 100 && found.warning().is_none(), "{level}: {found:?}");
    }
    // A short loop that moves a value to the stack and back must not be regarded as a sign of missing optimization. The
    // loop uses no iterator, because the methods of an iterator would be compiled in another crate, at another level of
    // optimization.
    let mut run = |_: &mut [u8]| {
        let (mut sum, mut turn) = (0_u64, 0);
        while turn < 20_000 {
            sum = black_box(sum + turn);
            turn += 1;
        }
    };
    assert_eq!(trace::compare(&inputs(8), &mut run).warning(), None);
}

#[test]
#[cfg(feature = "harness")]
fn marks_in_c_limit_the_comparison() {
    for level in ["-O0", "-O2"] {
        // `DEADPAN_TRACE_START` and `DEADPAN_TRACE_STOP` exclude the calls of `leaky`.
        let found = traced_c(level, "marked");
        assert_eq!((found.equal, &found.skipped), (true, &None), "{level}: {found:?}");
        assert!(found.instructions > 100, "{level}: {found:?}");
    }
}

#[test]
fn a_function_that_waits_for_another_thread_is_skipped() {
    let (ask, asked) = std::sync::mpsc::channel::<u8>();
    let (answer, answers) = std::sync::mpsc::channel();
    std::thread::spawn(move || asked.iter().for_each(|byte| answer.send(byte).expect("a receiver")));
    let text = reason(|input| {
        ask.send(input[0]).expect("a thread");
        sink(answers.recv());
    });
    assert_eq!(text, "the function waited too long in the process in which it was traced, which has no other threads");
}

#[test]
fn a_function_that_makes_code_is_skipped() {
    // SAFETY: the call maps new memory, and no code writes to this memory.
    let text = reason(|_| unsafe {
        let access = libc::PROT_READ | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::munmap(libc::mmap(std::ptr::null_mut(), 4096, access, flags, -1, 0), 4096);
    });
    assert!(text.starts_with("the function makes memory executable"), "{text}");
}

#[test]
fn only_the_part_between_marks_is_compared() {
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
    let whole = trace::compare(&inputs(64), &mut |input| sink(control::equal(input)));
    assert!(found.instructions > 100 && found.instructions < whole.instructions, "{found:?} {whole:?}");

    let twice = |input: &mut [u8]| {
        trace::start();
        sink(control::equal(input));
        trace::stop();
        sink(control::early_exit(input));
        trace::start();
        sink(control::lookup(input[0]));
        trace::stop();
    };
    let text = trace::leaks(&trace::compare(&inputs(64), &mut { twice })).expect("a secret index");
    assert!(text.contains("lookup"), "{text}");
}

#[test]
fn an_assertion_fails_if_the_traces_were_not_compared() {
    let thread = || {
        Target::new("thread", 8, |input| {
            let first = input[0];
            std::thread::spawn(move || first).join().is_ok()
        })
        .class("random", |random, input| random.fill(input))
    };
    let text = |result: std::thread::Result<deadpan_lab::record::Trace>| {
        result.expect_err("a panic").downcast_ref::<String>().expect("a text").clone()
    };
    let panic = text(std::panic::catch_unwind(|| trace::assert_equal(&mut thread(), 1)));
    assert!(panic.starts_with("the traces of thread were not compared: the function starts a thread"), "{panic}");
    let panic = text(std::panic::catch_unwind(|| trace::assert_equal_or_skipped(&mut thread(), 1, &["another"])));
    assert!(panic.starts_with("the traces of thread were not compared"), "{panic}");
    let found = trace::assert_equal_or_skipped(&mut thread(), 1, &["another", "thread"]);
    assert!(found.skipped.is_some());

    let mut single = Target::new("single", 8, control::equal).fixed("zeros", &[0; 8]);
    let panic = text(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| trace::assert_equal(&mut single, 1))));
    assert_eq!(panic, "the traces of single were not compared: zeros has one input only");
    let mut both = Target::new("both", 8, control::equal)
        .class_with_outcome("zeros", "valid", |_, input| input.fill(0))
        .class_with_outcome("random", "invalid", |random, input| random.fill(input));
    let found = trace::assert_equal(&mut both, 1);
    assert_eq!(found.notes, ["zeros has one input only, which was not compared"]);
}

#[test]
fn only_inputs_with_the_same_outcome_are_compared() {
    let target = || Target::new("early exit", 32, control::early_exit);
    let equal = |random: &mut Random, input: &mut [u8]| {
        let (left, right) = input.split_at_mut(16);
        random.fill(left);
        right.copy_from_slice(left);
    };
    let first = |random: &mut Random, input: &mut [u8]| {
        random.fill(input);
        input[16] = !input[0];
    };
    let apart = target().class_with_outcome("equal", "same", equal).class_with_outcome("first", "different", first);
    let found = trace::assert_equal(&mut { apart }, 1);
    assert_eq!((found.equal, found.secrets), (true, 16));

    let together = trace::target(&mut target().class("equal", equal).class("first", first), 1);
    assert!(
        trace::leaks(&together).is_some_and(
            |text| text.starts_with("the traces of input 1 (equal) and input 2 (first) differ at instruction ")
        ),
        "{together:?}"
    );
}

#[test]
fn a_function_that_panics_or_dies_without_a_trace_is_skipped() {
    assert_eq!(reason(|_| panic!("on purpose")), "the function panicked: on purpose");
    assert_eq!(reason(|input| assert!(u32::from(input[0]) > 300, "{}", input.len())), "the function panicked: 8");
    for code in [0, 3] {
        let text = reason(|_| std::process::exit(code));
        assert_eq!(text, format!("the function ended the process in which it was traced, with exit code {code}"));
    }
    // SAFETY: the signal ends only the process of the trace.
    let text = reason(|_| sink(unsafe { libc::raise(libc::SIGKILL) }));
    assert_eq!(text, "the function was killed by signal 9 in the process in which it was traced");
    assert!(trace::compare(&inputs(8), &mut |input| sink(control::equal(input))).equal);
}

#[test]
fn a_function_that_leaves_a_thread_or_a_process_behind_is_skipped() {
    // Only the second thread does the work with the secret.
    let hand_over = |input: &mut [u8]| {
        static WORKER: OnceLock<Sender<Vec<u8>>> = OnceLock::new();
        let worker = WORKER.get_or_init(|| {
            let (sender, receiver) = std::sync::mpsc::channel::<Vec<u8>>();
            std::thread::spawn(move || receiver.iter().for_each(|work| sink(control::lookup(work[0]))));
            sender
        });
        worker.send(input.to_vec()).expect("a thread");
    };
    let text = reason(hand_over);
    assert_eq!(text, "the function has threads that run on between calls; a trace follows one thread only");
    let mut started = false;
    let text = reason(|_| {
        // SAFETY: the child only waits for a signal that ends it.
        unsafe {
            while !std::mem::replace(&mut started, true) && libc::fork() == 0 {
                started = libc::pause() == 0;
            }
        }
    });
    assert_eq!(text, "the function has processes that run on between calls; a trace follows one thread only");
    let mut once = false;
    let found = trace::compare(&inputs(8), &mut |input| {
        if !std::mem::replace(&mut once, true) {
            sink(std::thread::spawn(|| ()).join());
        }
        sink(control::equal(input));
    });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}

#[test]
fn flags_that_a_function_leaves_set_disturb_no_trace() {
    // SAFETY: the code violates the rules of the calling convention about the direction flag and the rounding mode.
    // This violation is intended, because the test checks its effect.
    let found = trace::compare(&inputs(64), &mut |input| unsafe {
        sink(control::equal(input));
        let round_up = 0x5f80_u32;
        std::arch::asm!("fldz", "fld1", "ldmxcsr [{}]", "std", in(reg) &raw const round_up);
    });
    assert_eq!((found.equal, &found.skipped), (true, &None), "{found:?}");
}

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does all the work of each call.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller obeys the contract of this method. The system's allocator has the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller obeys the contract of this method. The system's allocator has the same contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn recording_allocates_nothing_in_the_process_of_the_call() {
    let found = trace::compare(&inputs(64), &mut |input| {
        let before = ALLOCATIONS.get();
        sink((control::equal(input), control::lookup(3), control::gather(&[7; 8]), control::divide(&[5; 8])));
        assert_eq!(ALLOCATIONS.get(), before, "this panic would be the reason for which the function is skipped");
    });
    assert!(found.equal && found.instructions > 100 && found.skipped.is_none(), "{found:?}");
}

#[test]
fn a_trace_has_the_call_alone_without_the_preparation_and_the_drop_of_the_result() {
    use std::hint::black_box;

    struct Result(bool);

    impl Drop for Result {
        fn drop(&mut self) {
            if black_box(self.0) {
                black_box(vec![1_u8; 100]);
            }
        }
    }

    if trace::unavailable().is_some() {
        return;
    }
    // The number of iterations of the preparation depends on the secret.
    let prepare = |random: &mut Random, _: &str| {
        let (mut key, mut steps) = (vec![0_u8; 32], 0);
        while steps < 50 || key[0] > 100 {
            random.fill(&mut key);
            steps += 1;
        }
        key
    };
    let odd = |key: &Vec<u8>| Result(key.iter().fold(0, |all, byte| black_box(all ^ byte)) & 1 == 1);
    let trace = trace::assert_equal(&mut Target::prepared("parity", ["random"], prepare, odd), 1);
    assert!(trace.instructions > 50 && trace.instructions < 2000, "{}", trace.instructions);
    let mut bytes = Target::new("parity of bytes", 32, |input| {
        Result(input.iter().fold(0, |all, byte| black_box(all ^ byte)) & 1 == 1)
    })
    .class("random", |random, input| random.fill(input));
    trace::assert_equal(&mut bytes, 1);
    let first = |key: &mut Vec<u8>| key.iter().position(|&byte| black_box(byte) > 100);
    let trace = trace::target(&mut Target::prepared_in_place("first", ["random"], prepare, first), 1);
    assert!(trace::leaks(&trace).is_some(), "{trace:?}");
}
