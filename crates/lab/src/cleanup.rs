//! Removes temporary folders and files when the program ends. The program may end because `main` returns, because its
//! output pipe is closed, or because of a signal.
//!
//! A [`Cleanup`] value removes one folder or file when it is dropped. Use [`exit`] instead of `std::process::exit`,
//! because `std::process::exit` runs no destructors.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io, thread};

/// The number of attempts to remove a folder. Several attempts are needed because an interrupted program may still
/// write to the folder.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// The cleanup actions that have not run yet, from the oldest to the newest.
static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());

struct Pending {
    number: u64,
    action: Box<dyn FnOnce() + Send>,
}

/// A guard that runs a cleanup action once: when the guard is dropped, or when [`exit`] ends the program.
#[derive(Debug)]
pub(crate) struct Cleanup {
    number: u64,
}

impl Cleanup {
    pub(crate) fn new(action: impl FnOnce() + Send + 'static) -> Self {
        let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        let number = pending.last().map_or(0, |last| last.number + 1);
        pending.push(Pending { number, action: Box::new(action) });
        Self { number }
    }

    /// Registers the removal of the file or folder at `path`. The file or folder need not exist yet.
    pub(crate) fn removing(path: &Path) -> Self {
        let path = path.to_owned();
        Self::new(move || remove(&path))
    }

    /// Removes the cleanup action of this guard without running the action.
    pub(crate) fn cancel(self) {
        let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        pending.retain(|one| one.number != self.number);
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        // The action runs while this thread holds the lock of the list of actions. If another thread runs the actions
        // in `exit`, `main` waits here for the lock. Therefore `main` cannot return too early.
        let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = pending.iter().position(|one| one.number == self.number) {
            (pending.remove(place).action)();
        }
    }
}

/// Runs all pending cleanup actions, from the newest to the oldest, and ends the program with `code`.
#[cfg(feature = "harness")]
pub(crate) fn exit(code: i32) -> ! {
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    while let Some(one) = pending.pop() {
        (one.action)();
    }
    // This thread still holds the lock, so `main` cannot return with another exit code in the meantime.
    #[cfg(unix)]
    crate::imp::supervise::leave_if_supervised(code);
    std::process::exit(code)
}

fn remove(path: &Path) {
    for _ in 0..TRIES {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(PAUSE),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn an_action_runs_once_when_its_guard_is_dropped() {
        let runs = Arc::new(AtomicU32::new(0));
        let guards = [0, 1].map(|_| {
            let runs = Arc::clone(&runs);
            Cleanup::new(move || {
                runs.fetch_add(1, Ordering::Relaxed);
            })
        });
        assert_eq!(runs.load(Ordering::Relaxed), 0);
        drop(guards);
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_folder_with_files_is_removed_and_a_missing_folder_is_no_error() {
        let folder = std::env::temp_dir().join(format!("deadpan-lab-cleanup-{}", std::process::id()));
        let missing = Cleanup::removing(&folder.join("missing"));
        let guard = Cleanup::removing(&folder);
        fs::create_dir_all(folder.join("inside")).unwrap();
        fs::write(folder.join("inside").join("file"), "x").unwrap();
        drop(missing);
        drop(guard);
        assert!(!folder.exists());
    }
}
