//! The folder in which the lab keeps calibrations and baselines between runs.

use std::env;
use std::path::PathBuf;

/// Returns `$DEADPAN_LAB_STATE`, or `deadpan/lab` in the user's folder for state.
pub(super) fn folder() -> PathBuf {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("DEADPAN_LAB_STATE").unwrap_or_else(|| {
        absolute("XDG_STATE_HOME")
            .or_else(|| absolute("LOCALAPPDATA"))
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
            .unwrap_or_else(env::temp_dir)
            .join("deadpan")
            .join("lab")
    })
}
