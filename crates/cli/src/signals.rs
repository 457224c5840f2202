//! Ctrl-C and its kin: what must not stay behind is taken away, then the program dies of the signal, as shells expect.
//!
//! Handlers are installed when there is something to take away for the first time. Until then, and for outputs that have no name before
//! they are complete, the system's own way of ending a program leaves nothing behind either.

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

type Cleanup = Box<dyn FnMut() + Send>;

static PENDING: Mutex<Vec<(u64, Cleanup)>> = Mutex::new(Vec::new());

fn pending() -> MutexGuard<'static, Vec<(u64, Cleanup)>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that a signal must not leave as it is. Dropping it cleans up as well.
#[must_use]
pub struct Guard(u64);

/// Has `cleanup` run when a signal ends the program, or when the guard is dropped.
pub fn guard(cleanup: impl FnMut() + Send + 'static) -> Guard {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(listen);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    pending().push((id, Box::new(cleanup)));
    Guard(id)
}

impl Guard {
    /// Does what makes cleaning up unnecessary. No signal comes between; if it fails, the guard still stands.
    pub fn settle<E>(&self, act: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let mut pending = pending();
        let result = act();
        if result.is_ok() {
            pending.retain(|(id, _)| *id != self.0);
        }
        drop(pending);
        result
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut pending = pending();
        if let Some(index) = pending.iter().position(|(id, _)| *id == self.0) {
            let (_, mut cleanup) = pending.swap_remove(index);
            cleanup();
        }
    }
}

fn listen() {
    let wanted: Vec<_> = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // Without handlers a signal still ends the program; what it leaves behind then says by its name what it is.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // The lock is kept to the end: nothing new comes into being, and no half-done output gets its name.
            let mut pending = pending();
            for (_, cleanup) in pending.iter_mut() {
                cleanup();
            }
            let _ = emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    });
}

/// Whether whoever started us wants us to outlive this signal, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (signal - 1) & 1 == 1
}

/// Ends the program the way that the writer of a pipe without a reader usually ends.
pub fn die_of_broken_pipe() {
    let _ = emulate_default_handler(SIGPIPE);
}
