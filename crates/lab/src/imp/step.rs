//! Single-stepping: the processor's trap flag raises SIGTRAP before each instruction of a call, and a handler reads the
//! registers.
//!
//! The call runs on its own stack, always at the same depth, so that its addresses are the same in each call. The
//! handler neither allocates nor locks. [`Step::step`], which the handler calls, must not allocate or lock either.

mod memory;
mod registers;

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use memory::Mapping;
pub(crate) use memory::code;
pub(crate) use registers::Registers;

/// The trap flag in RFLAGS.
const TRAP: u64 = 1 << 8;
/// The `si_code` of a trap instruction (`int3`), which is not a step.
const SI_KERNEL: c_int = 0x80;
/// Size in bytes of the mapping for the traced call's stack.
const STACK: usize = 8 << 20;
/// Bytes above the traced call's first frame: room for the call's description, and for an unwinder that looks for a
/// caller.
const SLACK: usize = 1 << 12;
/// Size in bytes of the handler's stack. The processor's saved state alone takes up to 12 KiB.
const HANDLER_STACK: usize = 256 << 10;

/// Receives the registers before each instruction.
pub(crate) trait Step {
    /// Returns whether to continue stepping. Runs in a signal handler, so it must not allocate, lock or panic.
    fn step(&mut self, registers: &Registers<'_>) -> bool;
}

/// Lets one thread step at a time, because a signal handler belongs to the whole process.
static TURN: Mutex<()> = Mutex::new(());
static CURRENT: AtomicPtr<Window<'static>> = AtomicPtr::new(std::ptr::null_mut());
/// The thread pointer of the thread that steps; zero if no thread steps.
static THREAD: AtomicU64 = AtomicU64::new(0);
static OLD: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());

struct Window<'w> {
    step: &'w mut dyn Step,
    layout: registers::Layout,
    /// The address to which the call returns.
    end: u64,
}

/// The right to step on this thread. The handler and the stacks are installed until this is dropped.
pub(crate) struct Stepper {
    stack: Mapping,
    layout: registers::Layout,
    old_stack: libc::stack_t,
    old_action: *mut libc::sigaction,
    // The handler's stack belongs to this thread. These fields are dropped after `drop` has run.
    _handler_stack: Mapping,
    _turn: MutexGuard<'static, ()>,
    _thread: PhantomData<*mut ()>,
}

impl Stepper {
    /// Waits until no other thread steps, then installs the handler. Returns `None` if the system refuses.
    pub(crate) fn new() -> Option<Self> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let stack = Mapping::new(STACK)?;
        let handler_stack = Mapping::new(HANDLER_STACK)?;
        // SAFETY: these are plain C structures, for which zeros are valid.
        let (mut old_stack, mut old_action, mut action): (libc::stack_t, libc::sigaction, libc::sigaction) =
            unsafe { std::mem::zeroed() };
        let new_stack =
            libc::stack_t { ss_sp: handler_stack.start().cast(), ss_flags: 0, ss_size: handler_stack.length() };
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: all pointers are to locals. The handler is async-signal-safe, and its stack stays mapped until the
        // old one is restored.
        let refused = unsafe {
            libc::sigfillset(&mut action.sa_mask);
            libc::sigaltstack(&new_stack, &mut old_stack) != 0
                || libc::sigaction(libc::SIGTRAP, std::ptr::null(), &mut old_action) != 0
        };
        if refused {
            return None;
        }
        let layout = registers::Layout::detect();
        let old_action = Box::into_raw(Box::new(old_action));
        OLD.store(old_action, Ordering::SeqCst);
        THREAD.store(layout.thread_pointer(), Ordering::SeqCst);
        // SAFETY: both actions are valid structures, and the handler's stack stays mapped until the old action is
        // restored.
        unsafe { libc::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut()) };
        Some(Self {
            stack,
            layout,
            old_stack,
            old_action,
            _handler_stack: handler_stack,
            _turn: turn,
            _thread: PhantomData,
        })
    }

    /// Calls the function without stepping, on the stack of traced calls.
    pub(crate) fn call(&mut self, run: &mut dyn FnMut(&mut [u8]), input: &mut [u8]) {
        self.enter(run, input, 0, &mut 0);
    }

    /// Calls the function and passes the registers to `step` before each instruction.
    pub(crate) fn record(&mut self, step: &mut dyn Step, run: &mut dyn FnMut(&mut [u8]), input: &mut [u8]) {
        let mut window = Window { step, layout: self.layout, end: 0 };
        let end = &raw mut window.end;
        CURRENT.store((&raw mut window).cast(), Ordering::SeqCst);
        self.enter(run, input, TRAP, end);
    }

    fn enter(&mut self, run: &mut dyn FnMut(&mut [u8]), input: &mut [u8], flag: u64, end: *mut u64) {
        // The call's description also lies at a fixed address instead of on the caller's stack, because the trace
        // contains the address at which it is read. SAFETY: both pointers are inside the mapping, are multiples of 16
        // and have no other use. The description has room above the stack.
        let (top, call) = unsafe {
            (self.stack.start().add(STACK - SLACK), self.stack.start().add(STACK - SLACK / 2).cast::<Call<'_>>())
        };
        // SAFETY: `top` is the end of a mapped stack, `call` is written before it is read and moved out once, and `end`
        // is writable. With the trap flag, the handler is installed, and `CURRENT` points to the window, which lives in
        // the caller.
        let call = unsafe {
            call.write(Call { run, input, panic: None });
            switch(top, call.cast(), flag, end);
            call.read()
        };
        CURRENT.store(std::ptr::null_mut(), Ordering::SeqCst);
        if let Some(panic) = call.panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        THREAD.store(0, Ordering::SeqCst);
        // SAFETY: the old action and stack are valid. The handler is not running, because this thread runs this
        // function. The box came from `new`.
        unsafe {
            libc::sigaction(libc::SIGTRAP, self.old_action, std::ptr::null_mut());
            libc::sigaltstack(&self.old_stack, std::ptr::null_mut());
            OLD.store(std::ptr::null_mut(), Ordering::SeqCst);
            drop(Box::from_raw(self.old_action));
        }
    }
}

struct Call<'c> {
    run: &'c mut dyn FnMut(&mut [u8]),
    input: &'c mut [u8],
    panic: Option<Box<dyn Any + Send>>,
}

/// Runs the call and catches a panic, because no panic may cross [`switch`].
///
/// # Safety
/// `data` must point to a [`Call`] that has no other user during this function.
unsafe extern "C" fn enter_call(data: *mut c_void) {
    // SAFETY: the caller guarantees that `data` is a call without another user.
    let call = unsafe { &mut *data.cast::<Call<'_>>() };
    call.panic = catch_unwind(AssertUnwindSafe(|| (call.run)(call.input))).err();
}

/// Switches to the stack that ends at `top`, sets `flag` and calls [`enter_call`].
///
/// The handler clears the trap flag at the address that is stored in `end`. The code after the call clears it again, in
/// case other code replaced the handler.
///
/// # Safety
/// `top` must be the aligned end of a stack that is not in use, `data` must suit [`enter_call`], and `end` must be
/// writable. If `flag` is the trap flag, the handler must be installed for this thread.
#[inline(never)]
unsafe fn switch(top: *mut u8, data: *mut c_void, flag: u64, end: *mut u64) {
    // SAFETY: `rsp` is restored before the block ends, pushes and pops are balanced, and `top` is aligned for a call.
    // All registers that a C function may change are declared. The compiler uses no red zone because `nostack` is
    // absent, and it expects changes of memory because `nomem` is absent.
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
            "and qword ptr [rsp], -257",
            "popfq",
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

extern "C" fn on_trap(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let window = CURRENT.load(Ordering::SeqCst);
    // SAFETY: the kernel passes both pointers, and they are valid while the handler runs.
    let (code, mut registers) = unsafe { ((*info).si_code, Registers::new(context)) };
    // The thread is checked first, because another thread must not access the window.
    if registers::thread_pointer() != THREAD.load(Ordering::SeqCst)
        || window.is_null()
        || code == SI_KERNEL
        || !registers.stepping()
    {
        // SAFETY: the arguments are those that the kernel passed.
        unsafe { forward(signal, info, context) };
        return;
    }
    // SAFETY: `record` set the pointer on this thread, and waits for the call that this signal interrupted. The window
    // has no other user during that time.
    let window = unsafe { &mut *window };
    registers.layout = window.layout;
    if registers.rip() == window.end || !window.step.step(&registers) {
        registers.stop_stepping();
    }
}

/// Passes a trap that is not a step to the handler that was installed before.
///
/// # Safety
/// The arguments must be those of the handler, which must still run.
unsafe fn forward(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let old = OLD.load(Ordering::SeqCst);
    // SAFETY: `old` is a live box while the handler is installed, and its function has the signature that its flags
    // declare.
    unsafe {
        match old.as_ref() {
            Some(old) if old.sa_sigaction == libc::SIG_IGN => {}
            Some(old) if old.sa_sigaction != libc::SIG_DFL && old.sa_flags & libc::SA_SIGINFO != 0 => {
                let call: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(old.sa_sigaction);
                call(signal, info, context);
            }
            Some(old) if old.sa_sigaction != libc::SIG_DFL => {
                let call: extern "C" fn(c_int) = std::mem::transmute(old.sa_sigaction);
                call(signal);
            }
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
    }
}
