//! Runs cleanups if the process ends early. The cleanups remove drafts that have temporary names, and run the functions
//! that the program registers.
//!
//! A library installs no signal handlers. The program installs its handlers when the hook of [`on_first`] is called,
//! before the first cleanup is registered. The handlers call [`run`]. Bindings call [`close`] when their interpreter
//! exits.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

/// How long a panicking thread waits for the cleanups of other threads.
const PATIENCE: Duration = Duration::from_secs(5);

type Cleanup = Box<dyn FnMut() + Send>;

#[derive(Default)]
struct Pending {
    next: u64,
    all: Vec<Entry>,
}

struct Entry {
    id: u64,
    /// The process that registered the cleanup. After a fork, the child process has a copy of the cleanup, and must not
    /// remove the files of its parent process.
    process: u32,
    cleanup: Cleanup,
}

static PENDING: Mutex<Pending> = Mutex::new(Pending { next: 0, all: Vec::new() });
/// Whether the process is ending. If the process is ending, no new file or folder is made.
static ENDING: AtomicBool = AtomicBool::new(false);
static ON_FIRST: OnceLock<fn()> = OnceLock::new();
static ON_SWEPT: OnceLock<fn(&[PathBuf])> = OnceLock::new();

fn pending() -> MutexGuard<'static, Pending> {
    PENDING.lock()
}

/// Sets a function that is called before each registration, so that the program can install its handlers. Only the
/// first call counts.
pub fn on_first(hook: fn()) {
    let _ = ON_FIRST.set(hook);
}

/// Sets a function that is called after drafts of killed runs were removed, with the paths of these drafts. Only the
/// first call counts.
pub fn on_swept(hook: fn(&[PathBuf])) {
    let _ = ON_SWEPT.set(hook);
}

pub(crate) fn swept(paths: &[PathBuf]) {
    if let Some(hook) = ON_SWEPT.get().filter(|_| !paths.is_empty()) {
        hook(paths);
    }
}

fn prepare() {
    if let Some(hook) = ON_FIRST.get() {
        hook();
    }
}

/// A registered cleanup. Dropping the guard of [`guard`] runs the cleanup. Dropping the guard of [`notice`] only
/// removes the registered function, and does not call it.
#[must_use]
#[derive(Debug)]
pub struct Guard {
    id: u64,
    runs_at_drop: bool,
}

/// Registers `cleanup`, which runs when the process ends early or when the guard is dropped.
pub fn guard(cleanup: impl FnMut() + Send + 'static) -> Guard {
    prepare();
    Guard { id: pending().add(Box::new(cleanup)), runs_at_drop: true }
}

/// Registers `act`, which runs only when the process ends early.
pub fn notice(act: impl FnMut() + Send + 'static) -> Guard {
    prepare();
    Guard { id: pending().add(Box::new(act)), runs_at_drop: false }
}

/// Whether the process is ending, because [`run`] or [`close`] was called.
#[must_use]
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Relaxed)
}

/// Fails if the process is ending. The cleanups are already running, so a file that is made now would not be removed.
pub(crate) fn check() -> io::Result<()> {
    if is_ending() { Err(io::Error::other("the program ends")) } else { Ok(()) }
}

/// Makes a file or folder, and registers the cleanup that removes it. The process cannot end between the making and the
/// registration.
pub(crate) fn make<T>(
    make: impl FnOnce() -> io::Result<T>,
    cleanup: impl FnMut() + Send + 'static,
) -> io::Result<(T, Guard)> {
    prepare();
    let mut pending = pending();
    check()?;
    let made = make()?;
    let id = pending.add(Box::new(cleanup));
    Ok((made, Guard { id, runs_at_drop: true }))
}

impl Pending {
    fn add(&mut self, cleanup: Cleanup) -> u64 {
        self.next += 1;
        self.all.push(Entry { id: self.next, process: std::process::id(), cleanup });
        self.next
    }

    fn run(&mut self) {
        let process = std::process::id();
        for entry in self.all.iter_mut().filter(|entry| entry.process == process) {
            (entry.cleanup)();
        }
    }
}

impl Guard {
    /// Runs `act` and removes the cleanup, so that the cleanup does not run later. The process cannot end after `act`
    /// and before the cleanup is removed. If `act` fails, the cleanup stays registered.
    ///
    /// # Errors
    /// The errors of `act`.
    pub fn settle<E>(&self, act: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let mut pending = pending();
        act()?;
        pending.all.retain(|entry| entry.id != self.id);
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut pending = pending();
        if let Some(index) = pending.all.iter().position(|entry| entry.id == self.id) {
            let mut entry = pending.all.swap_remove(index);
            if self.runs_at_drop {
                (entry.cleanup)();
            }
        }
    }
}

/// While this value exists, the end of the process is delayed.
#[derive(Debug)]
pub struct Held(MutexGuard<'static, Pending>);

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending").field("cleanups", &self.all.len()).finish_non_exhaustive()
    }
}

/// Runs `act`. The end of the process is delayed until `act` returns. `act` must neither register a cleanup nor drop a
/// [`Guard`].
pub fn hold<T>(act: impl FnOnce(&mut Held) -> T) -> T {
    prepare();
    act(&mut Held(pending()))
}

impl Held {
    /// Removes a cleanup that is not needed any more.
    pub fn forget(&mut self, guard: &Guard) {
        self.0.all.retain(|entry| entry.id != guard.id);
    }
}

/// Runs all cleanups. After this call, no new file or folder is made. Keep the returned value until the process ends:
/// while it exists, no output can get its final name.
pub fn run() -> Held {
    ENDING.store(true, Ordering::Relaxed);
    let mut held = Held(pending());
    held.0.run();
    held
}

/// Runs all cleanups after a panic, in a program that a panic ends at once. Does nothing if the panicking thread may be
/// inside a cleanup.
pub fn run_after_panic() {
    ENDING.store(true, Ordering::Relaxed);
    if let Some(mut pending) = PENDING.try_lock_for(PATIENCE) {
        pending.run();
        // Until the process ends, no output can get its final name.
        std::mem::forget(pending);
    }
}

/// Runs all cleanups, for a caller that continues to run after this call, such as a library whose interpreter exits.
/// After this call, no new file or folder is made.
pub fn close() {
    let mut held = run();
    held.0.all.clear();
}
