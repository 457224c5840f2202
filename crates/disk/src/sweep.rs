//! Removing what killed runs left.

use std::ffi::OsStr;
use std::time::Duration;

use rustix::process::geteuid;

use crate::about::About;
use crate::cleanup;
use crate::clear::clear;
use crate::folder::Folder;
use crate::handle::{Handle, Locked};
use crate::names;

/// How old an empty draft folder is at most while its run may not have locked it yet.
const NEW: Duration = Duration::from_secs(5);

/// Removes the temporary files and folders that killed runs of this user left for the output `name`. A running program
/// locks its own, so they are kept. Those of other users are kept too: a deep folder would take long to remove. Drafts
/// without names need no other draft to be gone, so making one does not sweep.
pub fn sweep(folder: &Folder, name: &OsStr) {
    let mut swept = Vec::new();
    for (found, _) in folder.entries().into_iter().flatten().flatten() {
        if !names::is_of(&found, name) {
            continue;
        }
        let Ok((file, about)) = folder.file(&found) else { continue };
        let is_draft =
            about.is_file() || about.is_folder() && !is_new(folder, &found, &about) && is_draft_folder(folder, &found);
        let is_left = is_draft
            && about.owner == geteuid().as_raw()
            && matches!(file.lock_now(), Ok(Locked::Yes))
            // The run that made the draft may have completed or removed it in the meantime.
            && folder.has(&found, &file);
        let is_gone = is_left && if about.is_folder() { clear(folder, &found) } else { folder.remove(&found).is_ok() };
        if is_gone {
            swept.push(folder.path_of(&found));
        }
    }
    cleanup::swept(&swept);
}

/// Whether a folder holds nothing but a folder of the same name, as drafts do. Whoever may rename a folder of this user
/// cannot make it look so.
fn is_draft_folder(folder: &Folder, name: &OsStr) -> bool {
    let names = folder.enter_unmounted(name).and_then(|draft| draft.entries());
    names.is_ok_and(|mut names| names.all(|found| found.is_ok_and(|(found, _)| found == *name)))
}

/// Whether a folder may be so new that the run that made it has not locked it yet: it is empty, and its time is at most
/// [`NEW`] away.
fn is_new(folder: &Folder, name: &OsStr, about: &About) -> bool {
    let age = about.modified_at().elapsed().unwrap_or_else(|error| error.duration());
    let is_empty = || folder.enter(name).is_ok_and(|it| it.entries().is_ok_and(|mut entries| entries.next().is_none()));
    age < NEW && is_empty()
}
