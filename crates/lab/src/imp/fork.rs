//! Helpers for processes that `fork` creates. A process that `fork` created has only one thread. It must end when its
//! parent ends.

/// On Linux, makes the kernel kill this process when its parent ends.
pub(super) fn end_with(parent: libc::pid_t) {
    // SAFETY: the calls take numbers only. The second call detects a parent that ended before the first call took
    // effect.
    unsafe {
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::_exit(2);
        }
    }
}

/// Returns the number of threads of this process, without the thread that waits for Ctrl-C. Returns 1 if the system
/// does not report the number.
pub(crate) fn threads() -> usize {
    let counts =
        |task: &std::fs::DirEntry| std::fs::read(task.path().join("comm")).is_ok_and(|name| name != b"ctrl-c\n");
    std::fs::read_dir("/proc/self/task").map_or(1, |tasks| tasks.flatten().filter(counts).count())
}
