//! Properties of the process, as far as Windows has them.

use std::fs::OpenOptions;
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_BACKUP_SEMANTICS, READ_CONTROL, SECURITY_IDENTIFICATION};

use super::imp::security;
use crate::about::About;

/// Whether users other than the user of this process, administrators and the system may read or change a file or
/// folder. Use the answer for warnings only, because the path is looked up for it.
///
/// # Errors
/// The system's errors.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    let file = OpenOptions::new()
        .access_mode(READ_CONTROL)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .security_qos_flags(SECURITY_IDENTIFICATION)
        .open(path)?;
    Ok(security::is_open_to_others(file.as_handle())?)
}

/// Returns the number of files that the process may have open at the same time. The system has a much higher limit,
/// which depends on its memory.
#[must_use]
pub fn most_open_files() -> usize {
    16 << 10
}

/// Does nothing, because the system has no limit for a process that could be raised.
pub fn allow_many_files() {}

/// Whether the user of this process has this number. On Windows, users have no numbers, and every number is zero. So
/// this says nothing about who made a file; [`is_own`](super::handle::is_own) does.
pub(crate) fn is_mine(_owner: u32) -> bool {
    true
}

/// Whether a folder can be a draft. The name, the lock and the contents of the folder say more.
pub(crate) fn is_draft(about: &About) -> bool {
    about.is_folder()
}

/// Whether the process may change the owner of files by number: never on Windows.
#[must_use]
pub fn is_root() -> bool {
    false
}

/// Returns the permission bits that new files do not get: none on Windows, where files take their access control list
/// from their folder.
#[must_use]
pub fn umask() -> u32 {
    0
}
