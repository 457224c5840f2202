//! Protects the memory of the process from other processes and from core dumps.

/// Turns off core dumps, and turns off tracing by other processes of the same user. If the system refuses this, the
/// program continues.
#[cfg(unix)]
pub fn close() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Does nothing. Windows writes memory to the disk only where its owner has asked for that, and a process cannot keep
/// other processes of the same user from its memory.
#[cfg(not(unix))]
pub fn close() {}
