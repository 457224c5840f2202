//! What std would bring: the way in from C, and what happens on a panic.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int};
use core::panic::PanicInfo;

/// The status of a program that panicked, which is none of a check.
const PANICKED: c_int = 101;

// SAFETY: `_exit` is the function of POSIX, and the C library that `main` below needs anyway has it.
#[link(name = "c")]
unsafe extern "C" {
    safe fn _exit(status: c_int) -> !;
}

/// The start files of the C library call this.
// SAFETY: the name is C's, the signature is too, and no other function here has it.
#[unsafe(no_mangle)]
extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    crate::run()
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    _exit(PANICKED)
}

/// The compiled `core` could unwind, and its tables name this function. As panics abort, nothing calls it; without optimisation, the linker
/// asks for it nevertheless.
// SAFETY: no other library here brings the name, and whatever reads it finds a function that can be called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
