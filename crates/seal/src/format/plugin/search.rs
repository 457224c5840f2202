//! Finds the program of a plugin.

use std::path::{Path, PathBuf};

use super::Client;
use crate::key::plugin::PluginName;

/// Returns the first program of this plugin in the folders of `PATH`. Skips empty and relative folders, so that a file
/// in the current folder is never started.
pub(super) fn find(name: &PluginName, client: &Client) -> Option<PathBuf> {
    let path = client.path.clone().or_else(|| std::env::var_os("PATH"))?;
    let program = name.program();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
        .find(|path| path.is_file() && is_executable(path))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(path, Access::EXEC_OK).is_ok()
}

/// On Windows, the end of a name says whether the file is a program.
#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}
