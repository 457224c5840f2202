//! Tests that measure the whole process, so they run in a program of their own and one after the other.

#[path = "../it/archive/mod.rs"]
mod archive;
mod memory;
mod open_files;
#[path = "../it/tree/mod.rs"]
mod tree;

use parking_lot::{Mutex, MutexGuard};

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock()
}
