//! What the tests of traces share, and tests that hold on every architecture that has traces.
#![cfg(all(feature = "trace", any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
#![allow(unsafe_code)]

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use deadpan_lab::Random;
use deadpan_lab::trace;

pub fn inputs(length: usize) -> Vec<Vec<u8>> {
    let mut random = Random::new(5);
    let mut inputs = vec![vec![0; length]; 8];
    inputs.iter_mut().for_each(|input| random.fill(input));
    inputs
}

pub fn sink<R>(result: R) {
    drop(black_box(result));
}

/// Returns whether this machine runs no traces, and prints the reason.
pub fn impossible() -> bool {
    let reason = trace::unavailable();
    reason.inspect(|reason| crate::skipped(reason)).is_some()
}

pub fn reason(run: impl FnMut(&mut [u8])) -> String {
    let found = trace::compare(&inputs(8), &mut { run });
    assert!(!found.equal && trace::leaks(&found).is_none(), "{found:?}");
    found.skipped.expect("a reason")
}

/// Returns true if this process runs a traced call, and false during the calls before the traced calls.
pub fn traced() -> bool {
    static FIRST: AtomicUsize = AtomicUsize::new(0);
    let process = std::process::id() as usize;
    FIRST.compare_exchange(0, process, Ordering::SeqCst, Ordering::SeqCst).is_err_and(|first| first != process)
}

#[test]
fn a_function_that_starts_a_thread_is_skipped() {
    if impossible() {
        return;
    }
    let text = reason(|input| {
        let first = input[0];
        sink(std::thread::spawn(move || first).join());
    });
    assert_eq!(text, "the function starts a thread; a trace follows one thread only");
}

#[test]
fn a_function_that_starts_a_process_is_skipped() {
    if impossible() {
        return;
    }
    // SAFETY: the child only ends.
    let text = reason(|_| unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(0);
        }
        libc::waitpid(child, std::ptr::null_mut(), 0);
    });
    assert_eq!(text, "the function starts a process; a trace follows one process only");
}

#[test]
fn a_function_that_dies_in_its_process_is_skipped() {
    if impossible() {
        return;
    }
    let text = reason(|_| {
        if traced() {
            std::process::exit(7);
        }
    });
    assert_eq!(text, "the function ended the process in which it was traced, with exit code 7");
    // SAFETY: address 64 is never mapped, so the read ends the process of the traced call.
    let text = reason(|_| sink(traced().then(|| unsafe { std::ptr::without_provenance::<u8>(64).read_volatile() })));
    let end =
        "the function was killed by signal 11 in the process in which it was traced, where no signal handlers run";
    assert_eq!(text, end);
    let text = reason(|_| {
        // This panic, which is caught, comes before the traced panic, because the first panic of a process prepares the
        // unwinder.
        sink(std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(1))).is_err());
        if traced() {
            std::panic::resume_unwind(Box::new(2));
        }
    });
    assert_eq!(text, "the function panicked in the process in which it was traced");
}
