//! The process: nobody looks into its memory, neither alive nor dead.

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit};

/// Core dumps off, and no tracing by other processes of the same user. Where the system refuses, sealing goes on all the same.
pub fn close() {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// The mode bits that new files are not to have. It can only be asked by changing it, so ask before there are threads that make files.
pub fn umask() -> u32 {
    let mask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(mask);
    mask.bits()
}
