//! What the standard library offers for Unix alone, for all systems: names as bytes, and reading and writing at a
//! position.

#[cfg(unix)]
pub use std::os::unix::ffi::{OsStrExt, OsStringExt};
#[cfg(unix)]
pub use std::os::unix::fs::FileExt;

#[cfg(windows)]
pub use crate::windows::portable::{FileExt, OsStrExt, OsStringExt};
