//! Marks for Valgrind's memcheck. The program marks memory for Valgrind only in the test configuration. The test marks
//! a secret as "undefined memory". Memcheck then reports every jump and every address that depends on the secret, in
//! the compiled binary.
//!
//! A request to Valgrind is a sequence of instructions that Valgrind recognizes. On a real CPU, the sequence does
//! nothing. A request needs neither Valgrind's header file nor another crate.

use std::hint::black_box;

/// Memcheck's request numbers, from its public header. The upper half of each number is 'M' 'C'.
const MAKE_UNDEFINED: u64 = 0x4d43_0001;
const MAKE_DEFINED: u64 = 0x4d43_0002;
/// A request to Valgrind's core. The request returns how many instances of Valgrind run this program, one inside
/// another.
const RUNNING: u64 = 0x1001;
/// A request to Valgrind's core. The request returns the number of errors that Valgrind has reported so far.
const ERRORS: u64 = 0x1201;

/// Marks `bytes` as secret.
pub fn poison(bytes: &mut [u8]) {
    request(MAKE_UNDEFINED, bytes.as_ptr() as u64, bytes.len() as u64);
}

/// Marks `bytes` as public.
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

/// Returns whether the program runs under Valgrind. Without Valgrind, marking memory has no effect.
#[must_use]
pub fn running() -> bool {
    request(RUNNING, 0, 0) != 0
}

/// Returns the number of errors that memcheck has reported in this process.
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
    // Valgrind, the tool reads the array at the address in `rax` and writes `rdx`. The array lives until after the
    // statement. The request may mark memory, so the option `nomem` is not set.
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

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn request(code: u64, first: u64, second: u64) -> u64 {
    let arguments = [code, first, second, 0, 0, 0];
    let mut answer = 0_u64;
    // SAFETY: the four rotations add up to 128 bits, so `x12` keeps its value, and `orr x10, x10, x10` is a no-op.
    // Under Valgrind, the tool reads the array at the address in `x4` and writes `x3`. The array lives until after the
    // statement. The request may mark memory, so the option `nomem` is not set.
    unsafe {
        core::arch::asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") arguments.as_ptr(),
            inout("x3") answer,
            inout("x12") 0_u64 => _,
            options(nostack)
        );
    }
    answer
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn request(_code: u64, _first: u64, _second: u64) -> u64 {
    0
}
