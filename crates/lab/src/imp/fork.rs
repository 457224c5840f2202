//! What processes need that are copied by `fork`: the copy has one thread, and must not outlive its parent.

/// Makes the kernel kill this process when its parent ends, on Linux.
pub(super) fn end_with(parent: libc::pid_t) {
    // SAFETY: the calls take numbers only. If the parent ended before the first call, the second one tells.
    unsafe {
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::_exit(2);
        }
    }
}

/// Returns the number of threads of this process, where the system tells. The thread that waits for Ctrl-C does not
/// count.
pub(crate) fn threads() -> usize {
    let counts =
        |task: &std::fs::DirEntry| std::fs::read(task.path().join("comm")).is_ok_and(|name| name != b"ctrl-c\n");
    std::fs::read_dir("/proc/self/task").map_or(1, |tasks| tasks.flatten().filter(counts).count())
}
