//! Enters a call on another stack, and keeps the floating-point settings.

use std::ffi::c_void;

use super::super::call::enter_call;

/// The floating-point settings of the processor: the rounding mode, and the exceptions that cause a signal. Every
/// function must restore these settings, but a faulty function may leave them changed.
pub(in super::super) struct Float(u64);

impl Float {
    pub(in super::super) fn get() -> Self {
        let settings;
        // SAFETY: the instruction only reads a register that every program may read.
        unsafe { core::arch::asm!("mrs {}, fpcr", out(reg) settings, options(nomem, nostack, preserves_flags)) };
        Self(settings)
    }

    pub(in super::super) fn set(&self) {
        // SAFETY: the value comes from the same register.
        unsafe { core::arch::asm!("msr fpcr, {}", in(reg) self.0, options(nostack, preserves_flags)) };
    }
}

/// Switches to the stack that ends at `top`, and calls [`enter_call`]. If `traced` is true, the process stops at a
/// breakpoint before the call, with the return address of the call in X21.
///
/// # Safety
/// `top` must be the aligned end of an unused stack. `data` must meet the requirements of [`enter_call`]. `end` must be
/// writable. If `traced` is true, another process must trace this process.
#[inline(never)]
pub(in super::super) unsafe fn switch(top: *mut u8, data: *mut c_void, traced: bool, end: *mut u64) {
    // SAFETY: the stack pointer is restored before the block ends, and `top` is aligned for a call. The `asm!` block
    // declares all registers that a C function may change. The compiler uses no memory below the stack pointer because
    // `nostack` is absent, and it expects changes of memory because `nomem` is absent.
    unsafe {
        core::arch::asm!(
            "adr x21, 2f",
            "str x21, [x3]",
            "mov x20, sp",
            "mov sp, x2",
            "cbz w1, 1f",
            "brk #0",
            "1:",
            "bl {function}",
            "2:",
            "mov sp, x20",
            function = sym enter_call,
            inout("x0") data => _,
            inout("x1") u64::from(traced) => _,
            inout("x2") top => _,
            inout("x3") end => _,
            out("x20") _,
            out("x21") _,
            clobber_abi("C"),
        );
    }
}
