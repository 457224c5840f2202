//! The events of the console. Windows has neither signals nor a stop of a program by Ctrl-Z.

use std::io::stderr;
use std::os::windows::io::AsHandle;
use std::sync::atomic::Ordering;

use super::ARRIVED;
use crate::tell::imp;
use deadpan_disk::cleanup;

/// The exit code of a program that Ctrl-C ended (`STATUS_CONTROL_C_EXIT`).
const CONTROL_C: u32 = 0xc000_013a;

pub(super) fn listen() {
    imp::on_control(end);
}

/// Removes what is not complete, and ends the program. A second event while this function runs ends the program at
/// once.
extern "system" fn end(_event: u32) -> i32 {
    if !ARRIVED.swap(true, Ordering::Relaxed) {
        // While `_held` exists, no output is created or renamed.
        let _held = cleanup::run();
        std::process::exit(CONTROL_C.cast_signed());
    }
    0
}

/// Prepares the console: it understands the sequences of the progress display.
pub fn survive_large_files() {
    imp::show_colors(stderr().as_handle());
}

/// Ends the program with the exit code that shells give to a writer whose pipe has no reader left.
pub fn die_of_broken_pipe() {
    std::process::exit(141);
}
