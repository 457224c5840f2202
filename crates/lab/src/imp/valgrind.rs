//! Requests to Valgrind's memcheck. A request to Valgrind is an instruction sequence that Valgrind recognizes. On a
//! real processor, the sequence has no effect.

/// The numbers of memcheck's requests, from its public header. The upper half is 'M' 'C'.
const MAKE_UNDEFINED: u64 = 0x4d43_0001;
const MAKE_DEFINED: u64 = 0x4d43_0002;
/// A request to Valgrind's core. The answer to this request is the number of nested Valgrind processes that run the
/// program.
const RUNNING: u64 = 0x1001;
/// A request to Valgrind's core. The answer to this request is the number of errors that Valgrind has reported so far.
const ERRORS: u64 = 0x1201;
/// A request to Valgrind's core: 1 stops the error reports of this thread, and −1 enables them again.
const DISABLE: u64 = 0x1801;

/// Marks the bytes as secret.
pub(crate) fn poison(bytes: &mut [u8]) {
    request(MAKE_UNDEFINED, bytes.as_ptr() as u64, bytes.len() as u64);
}

/// Marks the bytes as public.
pub(crate) fn declassify(bytes: &[u8]) {
    request(MAKE_DEFINED, bytes.as_ptr() as u64, bytes.len() as u64);
}

/// Marks a value as public and returns the value. The function writes the value to memory, because memcheck can mark
/// only memory.
#[inline(always)]
pub(crate) fn declassify_value<T: Copy>(mut value: T) -> T {
    request(MAKE_DEFINED, (&raw mut value) as u64, size_of::<T>() as u64);
    std::hint::black_box(value)
}

/// Returns whether the program runs under Valgrind: only then do requests to Valgrind have an effect.
pub(crate) fn running() -> bool {
    request(RUNNING, 0, 0) != 0
}

pub(crate) fn errors() -> u64 {
    request(ERRORS, 0, 0)
}

/// Runs `run` without error reports. Errors that occur during `run` do not increase the number of errors.
pub(crate) fn quietly<R>(run: impl FnOnce() -> R) -> R {
    request(DISABLE, 1, 0);
    let result = run();
    request(DISABLE, u64::MAX, 0);
    result
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
#[inline(always)]
fn request(code: u64, first: u64, second: u64) -> u64 {
    let arguments = [code, first, second, 0, 0, 0];
    let mut answer = 0_u64;
    // SAFETY: the four rotations add up to 128 bits, so the register keeps its
    // value, and the last instruction is a no-op. Under Valgrind, the tool reads the array at the given address and
    // writes the answer. The array exists until the statement ends. `nomem` is absent, because a request can mark
    // memory as public or secret.
    #[cfg(target_arch = "x86_64")]
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
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
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

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
fn request(_code: u64, _first: u64, _second: u64) -> u64 {
    0
}
