//! Tests that measure the memory or the open files of the process. The tests of this program run one after the other.
#![cfg(unix)]

#[path = "../it/archive/mod.rs"]
mod archive;
mod memory;
mod open_files;
#[path = "../it/tree/mod.rs"]
mod tree;

use parking_lot::{Mutex, MutexGuard};

/// Lets only one test run at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock()
}
