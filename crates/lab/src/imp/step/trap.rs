//! Single-stepping: the processor's trap flag raises SIGTRAP before each instruction of a call, and a handler reads the
//! registers. Single-stepping is the reference against which [`super::blocks`] is tested, and replaces
//! [`super::blocks`] on systems that refuse executable memory.
//!
//! The signal handler neither allocates memory nor takes a lock. [`Step::step`], which the handler calls, must not
//! allocate memory or take a lock either. This module runs only in the process of a traced call, so it does not restore
//! signal handlers at the end.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use iced_x86::{Decoder, DecoderOptions};

use super::call::{Function, Stage, Start};
use super::memory::{Mapping, code};
use super::process::end;
use super::registers::{Layout, Registers, thread_pointer};
use super::{Step, Stop};

/// The trap flag in RFLAGS.
pub(super) const FLAG: u64 = 1 << 8;
/// The value of `si_code` in a signal that a trap instruction (`int3`) causes. Single-stepping never causes a signal
/// with this value.
const SI_KERNEL: c_int = 0x80;
/// Size in bytes of the handler's stack. The processor's saved state alone takes up to 12 KiB.
const HANDLER_STACK: usize = 256 << 10;

static CURRENT: AtomicPtr<Window<'static>> = AtomicPtr::new(std::ptr::null_mut());
/// The thread pointer of the thread that is single-stepped, or zero if no thread is single-stepped.
static THREAD: AtomicU64 = AtomicU64::new(0);

struct Window<'w> {
    step: &'w mut dyn Step,
    layout: Layout,
    /// The return address of the call.
    end: u64,
    ended: bool,
    /// The address of the instruction that was recorded last.
    last: u64,
}

/// The memory that single-stepping needs. This memory exists before the processes of calls start.
pub(crate) struct Trap {
    stack: Mapping,
}

impl Trap {
    pub(crate) fn new() -> Option<Self> {
        Some(Self { stack: Mapping::new(HANDLER_STACK)? })
    }

    /// Calls the function, and calls `step` with the registers before each instruction. This method runs in the process
    /// of the traced call, and the process ends if the recording ends early.
    pub(crate) fn record(
        &mut self,
        step: &mut dyn Step,
        stage: &mut Stage,
        run: &mut Function<'_>,
        input: &mut [u8],
    ) -> Result<(), Stop> {
        let layout = Layout::detect();
        let mut window = Window { step, layout, end: 0, ended: false, last: 0 };
        let end = &raw mut window.end;
        // SAFETY: this is a plain C structure, for which zeros are valid.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let stack = libc::stack_t { ss_sp: self.stack.start().cast(), ss_flags: 0, ss_size: self.stack.length() };
        CURRENT.store((&raw mut window).cast(), Ordering::SeqCst);
        THREAD.store(layout.thread_pointer(), Ordering::SeqCst);
        // SAFETY: all pointers are to live values. The handler calls only async-signal-safe functions, and its stack
        // stays mapped.
        let refused = unsafe {
            libc::sigfillset(&mut action.sa_mask);
            libc::sigaltstack(&stack, std::ptr::null_mut()) != 0
                || libc::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut()) != 0
        };
        if refused {
            return Err(Stop::Escape);
        }
        let panic = stage.enter(run, input, Start::Trap, end);
        THREAD.store(0, Ordering::SeqCst);
        match (panic, window.ended) {
            (_, false) => Err(Stop::Escape),
            (Some(_), true) => Err(Stop::Panic),
            (None, true) => Ok(()),
        }
    }
}

extern "C" fn on_trap(_signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let window = CURRENT.load(Ordering::SeqCst);
    // SAFETY: the kernel passes both pointers, and both pointers are valid while the handler runs.
    let (code, mut registers) = unsafe { ((*info).si_code, Registers::of_signal(context)) };
    // The handler first checks the thread, because only the single-stepped thread may access `window`.
    if thread_pointer() != THREAD.load(Ordering::SeqCst) || window.is_null() {
        end();
    }
    // SAFETY: `record` has set this pointer in the same thread, and waits until the call that this signal interrupted
    // ends. No other code uses `window` during that time.
    let window = unsafe { &mut *window };
    registers.layout = window.layout;
    if code == SI_KERNEL || !registers.stepping() {
        // Single-stepping did not cause this trap signal, so the signal is for a signal handler of the program.
        window.step.stop(Stop::Signal);
        end();
    } else if registers.pc() == window.end {
        window.ended = true;
        registers.stop_stepping();
    } else if registers.pc() == window.last && is_gather(registers.pc()) {
        // An interrupt stopped a gather or scatter instruction between two elements, and the instruction now continues
        // with the remaining elements.
    } else {
        // After a system call, the processor raises the next trap one instruction too late, so single-stepping would
        // miss an instruction. The handler therefore makes the system call itself.
        while window.step.step(&registers) {
            window.last = registers.pc();
            if !registers.make_system_call() {
                return;
            }
        }
        end();
    }
}

/// Returns whether the instruction at this address is a gather or scatter instruction, which accesses several
/// addresses.
fn is_gather(address: u64) -> bool {
    let (bytes, length) = code(address, false);
    Decoder::with_ip(64, &bytes[..length], address, DecoderOptions::NONE).decode().is_vsib()
}
