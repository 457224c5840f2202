//! What the standard library offers for Unix alone, for all systems: names as bytes, and reading and writing at a
//! position.

pub use deadpan_position::FileExt;
#[cfg(unix)]
pub use std::os::unix::ffi::{OsStrExt, OsStringExt};

#[cfg(windows)]
pub use crate::windows::portable::{OsStrExt, OsStringExt};
