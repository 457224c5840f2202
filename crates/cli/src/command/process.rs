//! Protects the memory of the process from other processes and from core dumps.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Turns off core dumps, and turns off tracing by other processes of the same user. If the system refuses this, the
/// program continues.
pub fn close() {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
