//! Marks for Valgrind's memcheck, in the test configuration only. A secret is marked as "undefined memory". Memcheck
//! then reports every jump and every address that depends on the secret, in the compiled binary.
//!
//! A request is a sequence of instructions that Valgrind recognizes and that does nothing on a real CPU. It needs no
//! header and no dependency.

use std::hint::black_box;

/// Memcheck's request numbers, from its public header: 'M' 'C' in the upper half.
const MAKE_UNDEFINED: u64 = 0x4d43_0001;
const MAKE_DEFINED: u64 = 0x4d43_0002;
/// A request of Valgrind's core: how many Valgrinds run this program inside each other?
const RUNNING: u64 = 0x1001;
/// A request of Valgrind's core: how many errors have been reported so far?
const ERRORS: u64 = 0x1201;

/// Marks the bytes as secret.
pub fn poison(bytes: &mut [u8]) {
    request(MAKE_UNDEFINED, bytes.as_ptr() as u64, bytes.len() as u64);
}

/// Marks the bytes as public.
pub fn unpoison(bytes: &[u8]) {
    request(MAKE_DEFINED, bytes.as_ptr() as u64, bytes.len() as u64);
}

/// Marks the number as public.
#[inline(always)]
pub fn declassify(value: usize) -> usize {
    let mut value = value;
    request(MAKE_DEFINED, core::ptr::from_mut(&mut value) as u64, size_of::<usize>() as u64);
    black_box(value)
}

/// Returns whether the program runs under Valgrind. If it does not, marks have no effect.
#[must_use]
pub fn running() -> bool {
    request(RUNNING, 0, 0) != 0
}

/// Returns how many errors memcheck has reported in this process.
#[must_use]
pub fn errors() -> u64 {
    request(ERRORS, 0, 0)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn request(code: u64, first: u64, second: u64) -> u64 {
    let arguments = [code, first, second, 0, 0, 0];
    let mut answer = 0_u64;
    // SAFETY: the four rotations add up to 128 bits, so `rdi` keeps its value, and `xchg rbx, rbx` is a no-op. Under
    // Valgrind the tool reads the array that `rax` points to, which lives until after the statement, and writes `rdx`.
    // Memory may be marked, so no `nomem`.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
            inout("rdi") 0_u64 => _,
            options(nostack)
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_code: u64, _first: u64, _second: u64) -> u64 {
    0
}
