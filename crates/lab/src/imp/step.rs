//! Single steps: the processor's trap flag raises SIGTRAP before each instruction of a call, and a handler looks at the registers.
//!
//! The call runs on a stack of its own, at the same depth each time, so that its addresses are the same from call to call. The handler
//! neither allocates nor locks; it calls [`Step::step`], for which the same holds.

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
/// `si_code` of a trap instruction (`int3`), which is not a step.
const SI_KERNEL: c_int = 0x80;
/// Room for the traced call, and above it for an unwinder that looks for a caller.
const STACK: usize = 8 << 20;
const SLACK: usize = 1 << 12;
/// Room for the handler; the processor's saved state alone is up to 12 KiB.
const HANDLER_STACK: usize = 256 << 10;

/// Sees the registers before each instruction.
pub(crate) trait Step {
    /// Whether to go on stepping. Runs in a signal handler: no allocation, no lock, no panic.
    fn step(&mut self, registers: &Registers<'_>) -> bool;
}

/// One at a time: the handler belongs to the process.
static TURN: Mutex<()> = Mutex::new(());
static CURRENT: AtomicPtr<Window<'static>> = AtomicPtr::new(std::ptr::null_mut());
/// The thread that steps, by its thread pointer; zero for none.
static THREAD: AtomicU64 = AtomicU64::new(0);
static OLD: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());

struct Window<'w> {
    step: &'w mut dyn Step,
    layout: registers::Layout,
    /// The address that the call returns to.
    end: u64,
}

/// The right to step on this thread: handler and stacks are set up until it is dropped.
pub(crate) struct Stepper {
    stack: Mapping,
    layout: registers::Layout,
    old_stack: libc::stack_t,
    old_action: *mut libc::sigaction,
    // The stack of the handler belongs to this thread. Both fall after `drop` has run.
    _handler_stack: Mapping,
    _turn: MutexGuard<'static, ()>,
    _thread: PhantomData<*mut ()>,
}

impl Stepper {
    /// Waits for its turn; none if the system refuses.
    pub(crate) fn new() -> Option<Self> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let stack = Mapping::new(STACK)?;
        let handler_stack = Mapping::new(HANDLER_STACK)?;
        // SAFETY: plain C structures, for which zeroes are a value.
        let (mut old_stack, mut old_action, mut action): (libc::stack_t, libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
        let new_stack = libc::stack_t { ss_sp: handler_stack.start().cast(), ss_flags: 0, ss_size: handler_stack.length() };
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: all pointers are to locals. The handler is async-signal-safe, and its stack is mapped until the old one is back.
        let refused = unsafe {
            libc::sigfillset(&mut action.sa_mask);
            libc::sigaltstack(&new_stack, &mut old_stack) != 0 || libc::sigaction(libc::SIGTRAP, std::ptr::null(), &mut old_action) != 0
        };
        if refused {
            return None;
        }
        let layout = registers::Layout::detect();
        let old_action = Box::into_raw(Box::new(old_action));
        OLD.store(old_action, Ordering::SeqCst);
        THREAD.store(layout.thread_pointer(), Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { libc::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut()) };
        Some(Self { stack, layout, old_stack, old_action, _handler_stack: handler_stack, _turn: turn, _thread: PhantomData })
    }

    /// Calls without stepping, but on the same stack.
    pub(crate) fn call(&mut self, run: &mut dyn FnMut(&mut [u8]), input: &mut [u8]) {
        self.enter(run, input, 0, &mut 0);
    }

    /// Calls, stepping.
    pub(crate) fn record(&mut self, step: &mut dyn Step, run: &mut dyn FnMut(&mut [u8]), input: &mut [u8]) {
        let mut window = Window { step, layout: self.layout, end: 0 };
        let end = &raw mut window.end;
        CURRENT.store((&raw mut window).cast(), Ordering::SeqCst);
        self.enter(run, input, TRAP, end);
    }

    fn enter(&mut self, run: &mut dyn FnMut(&mut [u8]), input: &mut [u8], flag: u64, end: *mut u64) {
        // The call's description lies at a fixed place too, not on the stack of whoever records: the trace shows where it is read.
        // SAFETY: both are inside the mapping, multiples of 16, and in no other use; the description has room above the stack.
        let (top, call) = unsafe { (self.stack.start().add(STACK - SLACK), self.stack.start().add(STACK - SLACK / 2).cast::<Call<'_>>()) };
        // SAFETY: `top` is the end of a mapped stack, `call` is written before it is read and moved out once, `end` is writable. If it
        // steps, the handler is installed and `CURRENT` points to the window, which lives in the caller.
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
        // SAFETY: what was there before; the handler is not running, as this thread is here. The box came from `new`.
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

/// No panic may cross [`switch`].
///
/// # Safety
/// `data` is a [`Call`] that nothing else uses meanwhile.
unsafe extern "C" fn enter_call(data: *mut c_void) {
    // SAFETY: the promise of the caller.
    let call = unsafe { &mut *data.cast::<Call<'_>>() };
    call.panic = catch_unwind(AssertUnwindSafe(|| (call.run)(call.input))).err();
}

/// Changes to the stack that ends at `top`, sets `flag`, calls [`enter_call`].
///
/// The handler takes the trap flag away at the address that is stored in `end`; for the case that somebody replaced the handler, it is
/// taken away once more behind.
///
/// # Safety
/// `top` is the aligned end of a stack in no other use, `data` is for [`enter_call`], `end` is writable. With the trap flag, the handler is
/// installed for this thread.
#[inline(never)]
unsafe fn switch(top: *mut u8, data: *mut c_void, flag: u64, end: *mut u64) {
    // SAFETY: `rsp` is back when the block ends, pushes and pops are balanced, `top` is aligned for a call, what a C function may change is
    // declared. No red zone is in use, as `nostack` is absent. Memory may change, as `nomem` is absent.
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
    // SAFETY: the kernel passes both pointers, valid while the handler runs.
    let (code, mut registers) = unsafe { ((*info).si_code, Registers::new(context)) };
    // The thread comes first: another one may not even look at the window.
    if registers::thread_pointer() != THREAD.load(Ordering::SeqCst) || window.is_null() || code == SI_KERNEL || !registers.stepping() {
        // SAFETY: what the kernel passed.
        unsafe { forward(signal, info, context) };
        return;
    }
    // SAFETY: `record` set it on this thread and waits for the call that was interrupted here; nothing else uses it meanwhile.
    let window = unsafe { &mut *window };
    registers.layout = window.layout;
    if registers.rip() == window.end || !window.step.step(&registers) {
        registers.stop_stepping();
    }
}

/// A trap that is somebody else's.
///
/// # Safety
/// The arguments are those of the handler, which is running.
unsafe fn forward(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let old = OLD.load(Ordering::SeqCst);
    // SAFETY: `old` is a live box while the handler is installed; its function has the signature that its flags say.
    unsafe {
        match old.as_ref() {
            Some(old) if old.sa_sigaction == libc::SIG_IGN => {}
            Some(old) if old.sa_sigaction != libc::SIG_DFL && old.sa_flags & libc::SA_SIGINFO != 0 => {
                let call: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = std::mem::transmute(old.sa_sigaction);
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
