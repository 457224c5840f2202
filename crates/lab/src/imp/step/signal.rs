//! Signals during a traced call. The process of a traced call blocks all signals, because a signal handler would run
//! outside of the trace.

use std::os::raw::c_ulong;

/// The signals that the C library uses internally.
const INTERNAL: u64 = bit(32) | bit(33);
/// The signals that a process cannot block.
const NEVER: u64 = bit(libc::SIGKILL) | bit(libc::SIGSTOP);
/// The signals that are ignored by default.
const QUIET: u64 = bit(libc::SIGCHLD) | bit(libc::SIGCONT) | bit(libc::SIGURG) | bit(libc::SIGWINCH);

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Blocks all signals in this process, which exists only for one traced call. If `traps` is true, the signal SIGTRAP
/// stays unblocked, because single-stepping needs this signal.
pub(crate) fn block(traps: bool) {
    let kept = if traps { INTERNAL | bit(libc::SIGTRAP) } else { INTERNAL };
    let mask: u64 = !kept;
    // SAFETY: the mask has the eight bytes that the kernel reads.
    unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const mask, 0_usize, size_of::<u64>());
    }
}

/// Returns whether a system call would unblock signals. `how` is the first argument of the system call, and `set` is
/// the set of signals to which the second argument points.
pub(crate) fn unblocks(how: u64, set: u64) -> bool {
    match how as i32 {
        libc::SIG_BLOCK => false,
        libc::SIG_UNBLOCK => set & !(INTERNAL | NEVER) != 0,
        _ => !set & !(INTERNAL | NEVER | bit(libc::SIGTRAP)) != 0,
    }
}

/// Returns whether a pending signal would have started a handler or ended the process if signals were not blocked.
pub(crate) fn waits() -> bool {
    let mut pending = 0_u64;
    // SAFETY: the kernel writes eight bytes to the local variable.
    let known = unsafe { libc::syscall(libc::SYS_rt_sigpending, &raw mut pending, size_of::<u64>() as c_ulong) } == 0;
    !known || (1..=64).any(|signal| pending & bit(signal) != 0 && acts(signal))
}

fn acts(signal: i32) -> bool {
    // SAFETY: this is a plain C structure, for which zeros are valid, and the call only writes to it.
    let action = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action.sa_sigaction
    };
    match action {
        libc::SIG_IGN => false,
        libc::SIG_DFL => bit(signal) & QUIET == 0,
        _ => true,
    }
}
