//! Outputs that another user may have planted: links, and folders in a folder such as `/tmp`.
//!
//! In a sticky folder that others can write, another user can make a folder under the name of an output, or a link that
//! leads the output to any folder. Such an output is refused. In other folders, a folder of another user is accepted:
//! it can be the shared folder of a project.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::special::is_trusted;
use crate::failure::Failure;
use crate::shown::shown;

/// The mode bit of a folder in which each file can be removed only by its owner.
const STICKY: u32 = 0o1000;
/// The mode bits that let the group or everybody write.
const WRITABLE: u32 = 0o022;

/// Refuses an output that another user may have planted. With `force`, an output that the user named is accepted.
pub fn check(path: &Path, named: bool, force: bool) -> Result<(), Failure> {
    if named && force {
        return Ok(());
    }
    let message = match planter(path) {
        None => return Ok(()),
        Some(Planter::OfLink(user)) => format!("{} is a link of another user (number {user})", shown(path)),
        Some(Planter::OfFolder(user)) => {
            format!("{} is a folder of another user (number {user}), who could read the result", shown(path))
        }
    };
    let hint =
        if named { "name a folder of your own; --force uses it nevertheless" } else { "choose another name with -o" };
    Err(Failure::usage(message, hint))
}

/// The user who may have planted an output.
enum Planter {
    OfLink(u32),
    OfFolder(u32),
}

/// Returns the user who may have planted a link or a folder under this name.
fn planter(path: &Path) -> Option<Planter> {
    // With a slash at the end, the system would follow a link.
    let name: PathBuf = path.components().collect();
    let about = fs::symlink_metadata(&name).ok()?;
    if about.is_symlink() && !is_trusted(&about) {
        return Some(Planter::OfLink(about.uid()));
    }
    let real = fs::canonicalize(&name).ok()?;
    let about = fs::metadata(&real).ok()?;
    let above = fs::metadata(real.parent()?).ok()?;
    let is_open = above.mode() & STICKY != 0 && above.mode() & WRITABLE != 0;
    (is_open && about.is_dir() && !is_trusted(&about)).then(|| Planter::OfFolder(about.uid()))
}
