//! Single-stepping with `ptrace`: the process of a traced call starts another process, which runs the call, and stops
//! it before each instruction to read its registers. The recorder's memory is shared, so both processes see the
//! recording.
//!
//! The process that runs the call is a copy of the process that observes it, so an address of code means the same code
//! in both.

use std::mem::zeroed;
use std::ptr::null_mut;

use super::super::call::{Function, Stage, Start};
use super::super::process::{self, wait};
use super::super::shared::Shared;
use super::super::{Step, Stop};
use super::exclusive::Monitor;
use super::registers::{self, Registers, ptrace};
use crate::imp::fork::end_with;

/// What the two processes share.
#[derive(Clone, Copy, Default)]
struct TrapNotes {
    /// Whether the call has reached its return address.
    ended: bool,
}

/// The memory that single-stepping needs. This memory exists before the processes of calls start.
pub(crate) struct Trap {
    notes: Shared<TrapNotes>,
}

impl Trap {
    pub(crate) fn new() -> Option<Self> {
        Some(Self { notes: Shared::new(TrapNotes::default())? })
    }

    /// Calls the function in a new process, and calls `step` in this process with the registers before each
    /// instruction. This method returns in the new process only. This process ends in the same way as the new process.
    pub(crate) fn record(
        &mut self,
        step: &mut dyn Step,
        stage: &mut Stage,
        run: &mut Function<'_>,
        input: &mut [u8],
    ) -> Result<(), Stop> {
        *self.notes = TrapNotes::default();
        // SAFETY: `fork` has no precondition. Both processes have only this thread.
        let (parent, child) = unsafe { (libc::getpid(), libc::fork()) };
        match child {
            0 => {
                end_with(parent);
                if !ptrace(libc::PTRACE_TRACEME as _, 0, 0, 0) {
                    return Err(Stop::Refused);
                }
                let panic = stage.enter(run, input, Start::Trap, &mut 0);
                match (panic, self.notes.ended) {
                    (_, false) => Err(Stop::Escape),
                    (Some(_), true) => Err(Stop::Panic),
                    (None, true) => Ok(()),
                }
            }
            1.. => {
                let status = observe(child, step, &mut self.notes);
                end_like(status)
            }
            _ => Err(Stop::Refused),
        }
    }
}

/// Steps through the call in the process `child`. Returns the status with which the process has ended, or `None` if the
/// recording has ended early.
fn observe(child: libc::pid_t, step: &mut dyn Step, notes: &mut Shared<TrapNotes>) -> Option<libc::c_int> {
    // The first stop is the instruction before the call, and X21 is the address after the call.
    let status = wait(child)?;
    if !libc::WIFSTOPPED(status) {
        return Some(status);
    }
    let mut registers = (libc::WSTOPSIG(status) == libc::SIGTRAP).then(|| Registers::of(child)).flatten();
    // Where the kernel forbids reading the child's memory, exclusive loads and arguments of system calls would be lost.
    if !registers.as_ref().is_some_and(|now| registers::read(child, now.pc(), &mut [0; 4])) {
        step.stop(Stop::Refused);
        registers = None;
    }
    let end = registers.as_ref().map(|registers| registers.general(21));
    let (mut monitor, mut first) = (Monitor::default(), true);
    // If this process is killed, the kernel kills the child.
    ptrace(libc::PTRACE_SETOPTIONS as _, child, 0, libc::PTRACE_O_EXITKILL as usize);
    while let Some(now) = &mut registers {
        if first {
            now.set_pc(now.pc() + 4);
            first = !now.write();
        } else if Some(now.pc()) == end {
            notes.ended = true;
            return go_on(child, libc::PTRACE_CONT as _);
        } else {
            if !step.step(now) {
                break;
            }
            if !monitor.carry_out(code(now.pc()), now) {
                let status = go_on(child, libc::PTRACE_SINGLESTEP as _)?;
                if !libc::WIFSTOPPED(status) {
                    return Some(status);
                }
            }
        }
        registers = Registers::of(child);
    }
    // SAFETY: the process is a child, and this program has not waited for its end yet.
    unsafe { libc::kill(child, libc::SIGKILL) };
    wait(child);
    None
}

/// Lets the child run until the next stop for single-stepping, or until its end. A signal ends the child, because the
/// child blocks all signals that have a handler, and no signal of another kind stops it.
fn go_on(child: libc::pid_t, how: libc::c_long) -> Option<libc::c_int> {
    let mut signal = 0;
    loop {
        if !ptrace(how, child, 0, signal as usize) {
            // The child has been killed.
            return wait(child);
        }
        let status = wait(child)?;
        if !libc::WIFSTOPPED(status) {
            return Some(status);
        }
        signal = libc::WSTOPSIG(status);
        if signal == libc::SIGTRAP && how == libc::PTRACE_SINGLESTEP as libc::c_long {
            return Some(status);
        }
    }
}

/// Returns the instruction at `address`. The recorder has read the same instruction, so the address is mapped.
fn code(address: u64) -> u32 {
    // SAFETY: the recorder accepts only code that is mapped here, and aligned as the processor requires.
    unsafe { std::ptr::with_exposed_provenance::<u32>(address as usize).read_volatile() }
}

/// Ends this process as another process has ended, so that the reason is known.
fn end_like(status: Option<libc::c_int>) -> ! {
    match status {
        Some(status) if libc::WIFSIGNALED(status) => {
            let signal = libc::WTERMSIG(status);
            // SAFETY: a `sigaction` and a set of signals are integers only, for which zeros are valid. The pointers are
            // to local variables.
            unsafe {
                let action: libc::sigaction = zeroed();
                let mut set: libc::sigset_t = zeroed();
                libc::sigaction(signal, &raw const action, null_mut());
                libc::sigaddset(&raw mut set, signal);
                libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, null_mut());
                libc::raise(signal);
            }
        }
        // SAFETY: `_exit` only takes a number.
        Some(status) => unsafe { libc::_exit(libc::WEXITSTATUS(status)) },
        None => {}
    }
    process::end()
}
