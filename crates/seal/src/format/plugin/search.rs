//! Finds the program of a plugin.

use std::path::PathBuf;

use rustix::fs::{Access, access};

use super::Client;
use crate::key::plugin::PluginName;

/// Returns the first program of this plugin in the folders of `PATH`. Skips empty and relative folders, so that a file
/// in the current folder is never started.
pub(super) fn find(name: &PluginName, client: &Client) -> Option<PathBuf> {
    let path = client.path.clone().or_else(|| std::env::var_os("PATH"))?;
    let program = name.program();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&program))
        .find(|path| path.is_file() && access(path, Access::EXEC_OK).is_ok())
}
