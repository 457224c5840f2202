//! Signals. Before a signal such as Ctrl-C ends the program, temporary files are removed and the terminal is restored.
//! The program then ends by the same signal, as shells expect. If another signal comes a moment later, the program ends
//! immediately. Ctrl-Z restores the terminal while the program is stopped.
//!
//! Handlers of these signals are installed when the first cleanup is registered, or when signals have to wait for the
//! first time. If no cleanup is registered, there is nothing to remove, and the system's default action is enough.
//! Temporary outputs that have no name need no cleanup.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use self::unix::listen;
#[cfg(windows)]
use self::windows::listen;
use crate::tell::console::say;
use crate::tell::shown::shown;
use deadpan_disk::cleanup;

#[cfg(unix)]
pub use self::unix::{Diversion, around_stop, die_of_broken_pipe, divert, end, survive_large_files};
#[cfg(windows)]
pub use self::windows::{die_of_broken_pipe, survive_large_files};
pub use deadpan_disk::cleanup::{Guard, guard, hold, notice};

/// Whether a signal arrived that ends the program.
static ARRIVED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Sets up the cleanup of outputs: signals remove unfinished outputs, and a note names old unfinished outputs that were
/// removed.
pub fn attach() {
    cleanup::on_first(|| {
        static HANDLERS: Once = Once::new();
        HANDLERS.call_once(listen);
    });
    cleanup::on_swept(tell);
}

/// Makes a panic remove unfinished outputs and restore the terminal before it ends the program. In a program that
/// unwinds, this happens by itself.
#[cfg(panic = "abort")]
pub fn clean_up_after_panic() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        cleanup::run_after_panic();
    }));
}

fn tell(swept: &[PathBuf]) {
    match swept {
        [] => {}
        [path] => say(&format!("note: removed {}, which an earlier run left", shown(path))),
        [path, ..] => {
            let (count, path) = (swept.len(), shown(path));
            say(&format!("note: removed {count} drafts like {path}, which an earlier run left"));
        }
    }
}

/// If a signal is ending this program, waits until the program ends. A program that Deadpan started often gets the same
/// Ctrl-C, and its end by Ctrl-C must not be reported as a failure.
pub fn give_way() {
    while ARRIVED.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(10));
    }
}
