//! Starts child processes and reads their resource usage with `wait4`, which the standard library does not offer.

use std::io;
use std::process::{Child, Command, ExitStatus};

/// The resources that a child process used, including the resources of descendants for which the child has waited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Seconds of processor time in user mode.
    pub(crate) user: f64,
    /// Seconds of processor time in the kernel.
    pub(crate) system: f64,
    /// The largest resident set of a single process, in bytes.
    pub(crate) peak: u64,
}

#[cfg(unix)]
pub(crate) fn wait(child: &mut Child) -> io::Result<(ExitStatus, Usage)> {
    use std::os::unix::process::ExitStatusExt;
    drop(child.stdin.take());
    let (status, usage) = wait4(child.id() as libc::pid_t)?;
    Ok((ExitStatus::from_raw(status), usage))
}

#[cfg(not(unix))]
pub(crate) fn wait(child: &mut Child) -> io::Result<(ExitStatus, Usage)> {
    Ok((child.wait()?, Usage::default()))
}

/// Waits for a child like [`wait`]. The child must have been prepared with [`group`]. As soon as `patient` returns
/// false, the function kills all processes of the child's process group. On Linux, the function calls `patient` ten
/// times a second. On other systems, the function never calls `patient`.
pub(crate) fn wait_while(child: &mut Child, patient: &dyn Fn() -> bool) -> io::Result<(ExitStatus, Usage)> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
        // SAFETY: the system call takes two numbers.
        let found = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0) };
        // Kernels before Linux 5.3 do not have this system call.
        if found >= 0 {
            // SAFETY: the descriptor is new and belongs to nothing else.
            let descriptor = unsafe { OwnedFd::from_raw_fd(found as libc::c_int) };
            let mut poll = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: the structure is a live local variable.
            while unsafe { libc::poll(&raw mut poll, 1, 100) } <= 0 {
                if !patient() {
                    end_group(child.id());
                    break;
                }
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = patient;
    wait(child)
}

#[cfg(unix)]
fn wait4(pid: libc::pid_t) -> io::Result<(libc::c_int, Usage)> {
    let mut status = 0;
    // SAFETY: `rusage` consists of integers only, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers point to live, writable values of the types that `wait4` writes.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    // Linux reports this value in KiB, and Apple's systems report this value in bytes.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Ok((
        status,
        Usage {
            user: seconds(usage.ru_utime),
            system: seconds(usage.ru_stime),
            peak: usage.ru_maxrss.max(0) as u64 * unit,
        },
    ))
}

/// Makes the standard library start this command by `fork` instead of `vfork` or `posix_spawn`.
///
/// On Linux, the reported peak memory of a program includes the memory that its process had when the program was
/// loaded. After `vfork`, this memory is the *parent's* peak, including file mappings. After `fork`, this memory is at
/// most the copied pages.
pub(crate) fn by_fork(command: &mut Command) {
    #[cfg(unix)]
    // SAFETY: the closure does nothing, so it calls nothing that is forbidden between `fork` and `exec`.
    unsafe {
        use std::os::unix::process::CommandExt;
        command.pre_exec(|| Ok(()));
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Makes this command and its child processes run on one processor. The command is started by `fork`.
pub(crate) fn held(command: &mut Command, processor: usize) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        // SAFETY: `cpu_set_t` consists of integers only, for which zeros are valid.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // If the processor's number is not below the set's size, the machine has no such processor. If the machine has
        // no such processor, the set stays empty, so the system call fails and the program does not start.
        if processor < libc::CPU_SETSIZE as usize {
            // SAFETY: the set is a local variable, and the number is below its size.
            unsafe { libc::CPU_SET(processor, &mut set) };
        }
        // SAFETY: between `fork` and `exec`, the closure only makes a system call, with a set that the closure owns.
        unsafe {
            command.pre_exec(move || match libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = processor;
        by_fork(command);
    }
}

/// Makes this command and its child processes a process group, which [`end_group`] can end.
pub(crate) fn group(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Kills all processes in the process group of a child. [`group`] must have prepared the child. The caller must not
/// have waited for this child before, because another process could then have the same id.
pub(crate) fn end_group(id: u32) {
    #[cfg(unix)]
    if let Ok(id @ 2..) = libc::pid_t::try_from(id) {
        // SAFETY: `kill` accesses no memory of this process.
        unsafe {
            libc::kill(-id, libc::SIGKILL);
        }
    }
    #[cfg(not(unix))]
    let _ = id;
}

/// Returns the highest processor number that this process may use, because interrupts often run on the first
/// processors. Returns `None` on systems that cannot bind a process to a processor.
pub(crate) fn last_processor() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: `cpu_set_t` consists of integers only, for which zeros are valid.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is live and writable, and its own size is given.
        let result = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) };
        // SAFETY: all numbers are below the set's size.
        let allowed = |processor: &usize| unsafe { libc::CPU_ISSET(*processor, &set) };
        (result == 0).then(|| (0..libc::CPU_SETSIZE as usize).rev().find(allowed)).flatten()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns the free bytes of the file system that contains `folder`.
pub(crate) fn free(folder: &std::path::Path) -> Option<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let folder = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
        // SAFETY: `statvfs` consists of integers only, for which zeros are valid.
        let mut facts: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: the name ends with a zero byte, and the structure is live and writable.
        let result = unsafe { libc::statvfs(folder.as_ptr(), &raw mut facts) };
        #[allow(clippy::unnecessary_cast, reason = "the widths differ from system to system")]
        (result == 0).then(|| (facts.f_bavail as u64).saturating_mul(facts.f_frsize as u64))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Returns the peak memory of a child that does nothing, in bytes. The lab can measure the peak memory of another child
/// only if that child uses more memory than this value.
pub(crate) fn floor() -> io::Result<u64> {
    #[cfg(unix)]
    {
        // SAFETY: the child only calls `_exit`. `_exit` is allowed after `fork`, even if other threads held locks.
        let pid = unsafe {
            let pid = libc::fork();
            if pid == 0 {
                libc::_exit(0);
            }
            pid
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(wait4(pid)?.1.peak)
    }
    #[cfg(not(unix))]
    Ok(u64::MAX)
}

/// Asks the operating system to write its cached data to the disks.
pub(crate) fn sync() {
    #[cfg(unix)]
    // SAFETY: `sync` takes no arguments and returns nothing.
    unsafe {
        libc::sync();
    }
}
