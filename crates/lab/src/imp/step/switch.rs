//! Enters a call on another stack, and keeps the floating-point settings.

use std::ffi::c_void;

use super::call::enter_call;
use super::trap::FLAG;

/// A mask that clears the trap flag, the direction flag and the alignment check. At the start and at the end of a
/// function, these three flags are clear.
pub(super) const CLEAR: i32 = !(1 << 8 | 1 << 10 | 1 << 18);

/// The floating-point settings of the processor: the rounding mode, and the exceptions that cause a signal. Every
/// function must restore these settings, but a faulty function may leave them changed.
pub(super) struct Float {
    sse: u32,
    x87: u16,
}

impl Float {
    pub(super) fn get() -> Self {
        let mut float = Self { sse: 0, x87: 0 };
        // SAFETY: both instructions store a register to a local variable.
        unsafe {
            core::arch::asm!("stmxcsr [{}]", "fnstcw [{}]", in(reg) &raw mut float.sse, in(reg) &raw mut float.x87);
        }
        float
    }

    pub(super) fn set(&self) {
        // SAFETY: the values come from the same registers. `fninit` empties the x87 registers, which are always empty
        // at the start and at the end of a function.
        unsafe {
            core::arch::asm!(
                "ldmxcsr [{}]", "fninit", "fldcw [{}]",
                in(reg) &raw const self.sse, in(reg) &raw const self.x87, clobber_abi("C"),
            );
        }
    }
}

/// Switches to the stack that ends at `top`, sets the trap flag if `traced` is true, and calls [`enter_call`].
///
/// When the call reaches the address in `end`, the trap handler clears the trap flag. The code after the call clears
/// the trap flag again, because the program may have replaced the trap handler. The code after the call also clears the
/// flags that a function must not leave set ([`CLEAR`]).
///
/// # Safety
/// `top` must be the aligned end of an unused stack. `data` must meet the requirements of [`enter_call`]. `end` must be
/// writable. If `traced` is true, this thread must have the trap handler.
#[inline(never)]
pub(super) unsafe fn switch(top: *mut u8, data: *mut c_void, traced: bool, end: *mut u64) {
    let flag = if traced { FLAG } else { 0 };
    // SAFETY: `rsp` is restored before the block ends, pushes and pops are balanced, and `top` is aligned for a call.
    // The `asm!` block declares all registers that a C function may change. The compiler uses no red zone because
    // `nostack` is absent, and it expects changes of memory because `nomem` is absent.
    unsafe {
        core::arch::asm!(
            "lea rax, [rip + 2f]",
            "mov [rcx], rax",
            "mov r12, rsp",
            "mov rsp, rdx",
            "pushfq",
            "or qword ptr [rsp], rsi",
            "popfq",
            "call {function}",
            "2:",
            "mov rsp, r12",
            "pushfq",
            "and qword ptr [rsp], {clear}",
            "popfq",
            clear = const CLEAR,
            function = sym enter_call,
            inout("rdi") data => _,
            inout("rsi") flag => _,
            inout("rdx") top => _,
            inout("rcx") end => _,
            out("rax") _,
            out("r12") _,
            clobber_abi("C"),
        );
    }
}
