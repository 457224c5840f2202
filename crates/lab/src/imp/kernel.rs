//! What the kernel can do.

/// Returns whether the kernel knows the system call `ptrace`, which emulators of single programs lack. The call fails
/// in any case, because no process has the number 0.
#[cfg(target_os = "linux")]
pub(crate) fn traces() -> bool {
    // SAFETY: the call takes numbers only, and affects no process.
    let result = unsafe { libc::syscall(libc::SYS_ptrace, libc::PTRACE_CONT, 0, 0, 0) };
    result == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn traces() -> bool {
    true
}
