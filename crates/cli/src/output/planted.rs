//! Outputs that another user may have planted: links, and folders in a folder such as `/tmp`.
//!
//! In a sticky folder that others can write, another user can make a folder under the name of an output, or a link that
//! leads the output to any folder. Such an output is refused. In other folders, a folder of another user is accepted:
//! it can be the shared folder of a project.

use std::path::Path;

use crate::failure::Failure;
use crate::shown::shown;
use deadpan_disk::{Planter, planter};

/// Refuses an output that another user may have planted. With `force`, an output that the user named is accepted.
pub fn check(path: &Path, named: bool, force: bool) -> Result<(), Failure> {
    match planter(path).filter(|_| !(named && force)) {
        None => Ok(()),
        Some(planter) => Err(refused(path, planter, named)),
    }
}

/// Returns the refusal of an output that another user may have planted.
pub fn refused(path: &Path, planter: Planter, named: bool) -> Failure {
    let message = match planter {
        Planter::OfLink(user) => format!("{} is a link of another user (number {user})", shown(path)),
        Planter::OfFolder(user) => {
            format!("{} is a folder of another user (number {user}), who could read the result", shown(path))
        }
    };
    let hint =
        if named { "name a folder of your own; --force uses it nevertheless" } else { "choose another name with -o" };
    Failure::usage(message, hint)
}
