//! Calls a function on a separate stack. The stack pointer at the start is always the same, so that the addresses on
//! the stack are the same in each call.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::memory::Mapping;

/// The function to trace.
pub(crate) type Function<'f> = dyn FnMut(&mut [u8]) + 'f;

/// Size in bytes of the mapping for the traced call's stack.
const STACK: usize = 8 << 20;
/// The number of bytes above the first stack frame of the traced call. These bytes contain the arguments for
/// [`enter_call`]. An unwinder that searches for a caller may also read these bytes.
const SLACK: usize = 1 << 12;

/// A mask that clears the trap flag, the direction flag and the alignment check. At the start and at the end of a
/// function, these three flags are clear.
pub(super) const CLEAR: i32 = !(1 << 8 | 1 << 10 | 1 << 18);

/// How a call begins.
#[derive(Clone, Copy)]
pub(super) enum Start {
    Plain,
    /// The trap flag is set at the start of the call.
    Trap,
    /// The call runs in the copy of the code that [`super::blocks`] makes.
    Copy,
}

/// The stack of traced calls.
pub(crate) struct Stage {
    stack: Mapping,
}

struct Call<'c> {
    run: &'c mut Function<'c>,
    input: &'c mut [u8],
    panic: Option<Box<dyn Any + Send>>,
}

impl Stage {
    pub(crate) fn new() -> Option<Self> {
        Mapping::new(STACK).map(|stack| Self { stack })
    }

    /// Calls the function without a trace.
    pub(crate) fn call(&mut self, run: &mut Function<'_>, input: &mut [u8]) {
        if let Some(panic) = self.enter(run, input, Start::Plain, &mut 0) {
            std::panic::resume_unwind(panic);
        }
    }

    /// Calls the function, and stores the return address of the call at `end`. If the function panics, returns the
    /// payload of the panic.
    pub(super) fn enter(
        &mut self,
        run: &mut Function<'_>,
        input: &mut [u8],
        start: Start,
        end: *mut u64,
    ) -> Option<Box<dyn Any + Send>> {
        // The [`Call`] value is at a fixed address instead of on the caller's stack, because a trace records the
        // address of each read, including reads of this value. SAFETY: both pointers are inside the mapping, are
        // multiples of 16 and have no other use. The bytes above the first stack frame have room for the description.
        let (top, call) = unsafe {
            (self.stack.start().add(STACK - SLACK), self.stack.start().add(STACK - SLACK / 2).cast::<Call<'_>>())
        };
        // SAFETY: the cast changes only the lifetime, and the code does not use the function after this call.
        let run = unsafe { std::mem::transmute::<&mut Function<'_>, &mut Function<'_>>(run) };
        // SAFETY: `top` is the end of a mapped stack. `call` is written before it is read, and is moved out only once.
        // `end` is writable. The caller has made all preparations for this value of `start`.
        unsafe {
            call.write(Call { run, input, panic: None });
            let float = Float::get();
            match start {
                Start::Plain => switch(top, call.cast(), 0, end),
                Start::Trap => switch(top, call.cast(), super::trap::FLAG, end),
                Start::Copy => super::blocks::run::switch(top, call.cast(), end),
            }
            float.set();
            call.read().panic
        }
    }
}

/// The floating-point settings of the processor: the rounding mode, and the exceptions that cause a signal. Every
/// function must restore these settings, but a faulty function may leave them changed.
struct Float {
    sse: u32,
    x87: u16,
}

impl Float {
    fn get() -> Self {
        let mut float = Self { sse: 0, x87: 0 };
        // SAFETY: both instructions store a register to a local variable.
        unsafe {
            core::arch::asm!("stmxcsr [{}]", "fnstcw [{}]", in(reg) &raw mut float.sse, in(reg) &raw mut float.x87);
        }
        float
    }

    fn set(&self) {
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

/// Runs the call and catches its panic, because no panic may unwind through [`switch`].
///
/// # Safety
/// `data` must point to a [`Call`] that no other code uses during this function.
pub(super) unsafe extern "C" fn enter_call(data: *mut c_void) {
    // SAFETY: the caller guarantees that `data` points to a `Call` that no other code uses.
    let call = unsafe { &mut *data.cast::<Call<'_>>() };
    call.panic = catch_unwind(AssertUnwindSafe(|| (call.run)(call.input))).err();
}

/// Switches to the stack that ends at `top`, sets the processor flags in `flag`, and calls [`enter_call`].
///
/// When the call reaches the address in `end`, the trap handler clears the trap flag. The code after the call clears
/// the trap flag again, because the program may have replaced the trap handler. The code after the call also clears the
/// flags that a function must not leave set ([`CLEAR`]).
///
/// # Safety
/// `top` must be the aligned end of an unused stack. `data` must meet the requirements of [`enter_call`]. `end` must be
/// writable. If `flag` is the trap flag, this thread must have the trap handler.
#[inline(never)]
unsafe fn switch(top: *mut u8, data: *mut c_void, flag: u64, end: *mut u64) {
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
