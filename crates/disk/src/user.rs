//! The user of the process, and the permissions that new files do not get.

use std::sync::OnceLock;

/// Whether the process runs as root, who may give files away.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the permission bits that new files do not get. On Linux, the system's file about the process tells.
/// Elsewhere the only call that tells also changes them for a moment, so it is made once.
pub fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let read = mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok());
    read.unwrap_or_else(|| {
        static ASKED: OnceLock<u32> = OnceLock::new();
        *ASKED.get_or_init(|| {
            let mask = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
            rustix::process::umask(mask);
            mask.bits()
        })
    })
}
