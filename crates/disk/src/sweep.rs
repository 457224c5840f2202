//! Removes temporary files and folders that killed runs left.

use std::ffi::OsStr;
use std::time::Duration;

use crate::about::About;
use crate::cleanup;
use crate::clear::clear;
use crate::folder::Folder;
use crate::handle::sealed::Sealed;
use crate::handle::{Handle, Locked};
use crate::names;
use crate::system::handle;

/// An empty draft folder younger than this may belong to a run that has not locked the folder yet.
const NEW: Duration = Duration::from_secs(5);

/// Removes the temporary files and folders that killed runs of this user left for the output `name`. A running program
/// locks its temporary files and folders, so this function keeps them. Files and folders of other users are also kept,
/// because another user could make the removal of a deep folder take long. A draft without a name cannot collide with
/// old drafts, so this function is not called when such a draft is made.
pub fn sweep(folder: &Folder, name: &OsStr) {
    sweep_by(folder, name, clear);
}

/// A function that removes the folder with this name and everything in it. Returns whether the folder is gone.
pub(crate) type Remove = fn(&Folder, &OsStr) -> bool;

/// Does the same as [`sweep`], but removes folders with the function `remove_all`.
pub(crate) fn sweep_by(folder: &Folder, name: &OsStr, remove_all: Remove) {
    let mut swept = Vec::new();
    for (found, _) in folder.entries().into_iter().flatten().flatten() {
        if !names::is_of(&found, name) {
            continue;
        }
        let Ok((file, about)) = folder.file(&found) else { continue };
        let draft = about.is_folder().then(|| draft_folder(folder, &found, &about)).flatten();
        let is_left = (about.is_file() || draft.is_some())
            && handle::is_own(file.descriptor(), &about)
            && matches!(file.lock_now(), Ok(Locked::Yes))
            // In the meantime, the run that made the draft may have given it its final name, or may have removed it.
            && folder.has(&found, &file);
        let is_gone = is_left
            && match &draft {
                Some(draft) => remove_all(draft, &found) && folder.remove_folder(&found).is_ok(),
                None => folder.remove(&found).is_ok(),
            };
        if is_gone {
            swept.push(folder.path_of(&found));
        }
    }
    cleanup::swept(&swept);
}

/// Opens a folder if it is a draft: only this user may use it, and it contains only a folder of the same name. Another
/// user may be able to rename a folder of this user, but cannot make the folder look like a draft.
fn draft_folder(folder: &Folder, name: &OsStr, about: &About) -> Option<Folder> {
    let draft = folder.enter_unmounted(name).ok().filter(|draft| draft.about().is_ok_and(|it| it.id == about.id))?;
    let mut names = draft.entries().ok()?.map(|found| found.is_ok_and(|(found, _)| found == *name));
    let first = names.next();
    let is_so = match first {
        // An empty draft may be so new that its run has not locked it yet.
        None => age(about) >= NEW,
        Some(is_same) => is_same && names.next().is_none(),
    };
    drop(names);
    (is_so && draft.is_draft().is_ok_and(|is_draft| is_draft)).then_some(draft)
}

fn age(about: &About) -> Duration {
    about.modified_at().elapsed().unwrap_or_else(|error| error.duration())
}
