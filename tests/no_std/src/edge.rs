//! The parts that std would provide: the entry point for C, and the panic handler.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int};
use core::panic::PanicInfo;

/// The exit status after a panic, which is not the status of any check.
const PANICKED: c_int = 101;

// SAFETY: `_exit` is the POSIX function. The C library contains `_exit`, and `main` below needs the C library anyway.
#[link(name = "c")]
unsafe extern "C" {
    safe fn _exit(status: c_int) -> !;
}

/// The entry point. The startup code of the C library calls the entry point.
// SAFETY: C requires this name and this signature, and no other function here has this name.
#[unsafe(no_mangle)]
extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    crate::run()
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    _exit(PANICKED)
}

/// The unwinding tables of the compiled `core` refer to this function. Since panics abort, the function is never
/// called. In a build without optimization, the linker still needs this function.
// SAFETY: no other library here defines this name, and the function may be called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
