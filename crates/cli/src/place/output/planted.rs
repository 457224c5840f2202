//! Outputs that another user may have planted: links, and folders in a folder such as `/tmp`.
//!
//! In a sticky folder that others can write to, another user can make a folder with the name of an output. Another user
//! can also make a link that leads the output to any folder. Such an output is refused. In folders that are not sticky,
//! a folder of another user is accepted: it can be the shared folder of a project.

use std::path::Path;

use crate::place::held;
use crate::tell::failure::Failure;
use crate::tell::shown::planted_by;
use deadpan_disk::{Error, Planted, parent, trimmed};

/// Advice if `--force` does not help: `--force` only accepts a file or folder that existed when the command began and
/// that the user named.
pub const APPEARED: &str = "choose a folder of your own, or see who can change names there";

/// Refuses an output that another user may have planted. With `force`, accepts an output that the user named and that
/// existed when the command began.
pub fn check(path: &Path, named: bool, force: bool) -> Result<(), Failure> {
    let found = match named {
        true if force && !held::was_missing(path) => None,
        true => held::planted(path),
        false => at_end(&trimmed(path)),
    };
    let Some(planted) = found else { return Ok(()) };
    let failure = refused(&planted, named);
    Err(Failure { hint: if force { Some(APPEARED.into()) } else { failure.hint }, ..failure })
}

/// Returns the link or folder that another user may have planted at the end of a path. Does not check the other folders
/// in the path.
fn at_end(path: &Path) -> Option<Planted> {
    let way = held::way(parent(path)).ok()?;
    match way.folder().enter_unplanted(path.file_name()?) {
        Err(Error::Planted(planted)) => Some(planted),
        _ => None,
    }
}

pub fn refused(planted: &Planted, named: bool) -> Failure {
    let hint =
        if named { "name a folder of your own; --force uses it nevertheless" } else { "choose another name with -o" };
    let more = if planted.is_link { "" } else { ", who could read or replace the result" };
    Failure::usage(format!("{}{more}", planted_by(planted)), hint)
}
