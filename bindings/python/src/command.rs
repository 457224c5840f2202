//! The command line: `python -m deadpan`.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

use deadpan_lab::invocation::{self, Invocation};

/// Runs the command line with these arguments, and returns the exit code. `start` is the command line that starts this
/// program again, and `code` is the path of this module's file. The command owns the process and may end it.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, start: Vec<OsString>, code: PathBuf, arguments: Vec<OsString>) -> u8 {
    invocation::set(Invocation { start, code, arguments });
    py.detach(deadpan_command::run)
}
